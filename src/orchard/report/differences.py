"""Differences between two methods seed by seed: what seeds have in common, such as their groups, cancels out."""

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import mean, stdev

from orchard.errors import ConfigError
from orchard.report.scores import metrics_by_seed, signed

HOLDS, FAILS, OPEN, ONE_SEED = "holds", "does not hold", "inconclusive", "one seed, no verdict"
CLEAR = 2  # standard errors that a mean difference must be away from 0

BySeed = dict[int, dict[str, float]]  # {seed: metrics}, the runs of one method


@dataclass(frozen=True)
class Difference:
    """The mean of differences over the seeds and their standard deviation, 0 for a single seed."""

    mean: float
    spread: float
    n_seeds: int

    @classmethod
    def between(cls, pairs: list[tuple[BySeed, BySeed]], metric: str) -> "Difference | None":
        """(one, other): one − other, the mean over the pairs for every seed that all of them have; None without any."""
        runs = [side for pair in pairs for side in pair]
        seeds = sorted(seed for seed in runs[0] if all(metric in side.get(seed, {}) for side in runs))
        gaps = [mean(one[seed][metric] - other[seed][metric] for one, other in pairs) for seed in seeds]
        return cls(mean(gaps), stdev(gaps) if len(gaps) > 1 else 0.0, len(gaps)) if gaps else None

    @property
    def verdict(self) -> str:
        """Whether the first one is better: by more than CLEAR standard errors of the mean difference."""
        if self.n_seeds == 1:
            return ONE_SEED
        margin = CLEAR * self.spread / sqrt(self.n_seeds)
        return HOLDS if self.mean > margin else FAILS if self.mean < -margin else OPEN

    def __str__(self) -> str:
        return signed(self.mean) + (f" ± {self.spread:.2f}" if self.n_seeds > 1 else "")


def claimed_order(artefact: dict, datasets: list[str], scores: list[dict]) -> list[str]:
    """A note that judges the artefact's `order` (rows, best first), if it has one: every two neighbours in it.

    They are compared on every data set and in every setting, in `order_metric` or else the first of the metrics, where
    both were measured; what simulated data says about the order is not asked.
    """
    if "order" not in artefact:
        return []
    order, metric = artefact["order"], artefact.get("order_metric", artefact["metrics"][0])
    if unknown := sorted(set(order) - {row["row"] for row in artefact["rows"]}):
        raise ConfigError(f"order: the artefact has no row {', '.join(unknown)}")
    if metric not in artefact["metrics"]:
        raise ConfigError(f"order_metric: {metric!r} is none of the artefact's metrics")
    real = [score for score in scores if not score["simulated"]]
    rows = {(row.get("setting", ""), row["row"]): row for row in artefact["rows"]}
    verdicts = []
    for dataset in datasets:
        for setting in dict.fromkeys(setting for setting, _ in rows):
            mine = {name: row for (of, name), row in rows.items() if of == setting}
            runs = {name: metrics_by_seed(row, dataset, real) for name, row in mine.items()}
            for better, worse in pairwise(order):
                if gap := Difference.between([(runs.get(better, {}), runs.get(worse, {}))], metric):
                    place = ", ".join(filter(None, (dataset, setting)))
                    seeds = f"{gap.n_seeds} seed{'s' if gap.n_seeds > 1 else ''}"
                    verdicts.append(f"- {better} − {worse} on {place}: {gap} ({seeds}): {gap.verdict}")
    if not verdicts:
        return []
    rule = (
        f"The paper's order, best first: {', '.join(order)}. Differences in {metric} are those of runs with the same "
        f"seed, ± their standard deviation over the seeds. It '{HOLDS}' where the mean difference is more than {CLEAR} "
        f"standard errors of the mean above 0, '{FAILS}' where it is more than {CLEAR} below, '{OPEN}' in between."
    )
    return ["\n".join([rule, "", *verdicts])]
