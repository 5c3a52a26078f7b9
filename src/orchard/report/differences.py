"""Differences between two methods seed by seed: what seeds have in common, such as their groups, cancels out."""

from dataclasses import dataclass
from itertools import pairwise
from math import nan, sqrt
from statistics import mean, stdev

from orchard.errors import ConfigError
from orchard.report.published import PublishedValue
from orchard.report.scores import metrics_by_seed, signed

HOLDS, FAILS, OPEN, ONE_SEED = "holds", "does not hold", "inconclusive", "one seed, no verdict"

BySeed = dict[int, dict[str, float]]  # {seed: metrics}, the runs of one method
Printed = dict[tuple[str, str, str], dict[str, PublishedValue]]  # {(data set, setting, row): {metric: value}}


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
    def margin(self) -> float:
        """Half the 95 % confidence interval of the mean, by the t distribution; for two seeds or more."""
        from scipy.stats import t

        return float(t.ppf(0.975, self.n_seeds - 1)) * self.spread / sqrt(self.n_seeds)

    @property
    def verdict(self) -> str:
        """Whether the first one is better: the mean difference is more than its margin above 0."""
        if self.n_seeds == 1:
            return ONE_SEED
        return HOLDS if self.mean > self.margin else FAILS if self.mean < -self.margin else OPEN

    def __str__(self) -> str:
        return signed(self.mean) + (f" ± {self.spread:.2f}" if self.n_seeds > 1 else "")


def claimed_order(artefact: dict, datasets: list[str], scores: list[dict], published: Printed) -> list[str]:
    """A note that judges the artefact's `order` (rows, best first), if it has one: every two neighbours in it.

    `order` may also be a list of such orders. Rows are compared on every data set and in every setting where both were
    measured, in the `order_metric` or, without one, in the first of the metrics; what simulated data says about the
    order is not asked.
    """
    if "order" not in artefact:
        return []
    orders, metric = _orders(artefact)
    real = [score for score in scores if not score["simulated"]]
    rows = {(row.get("setting", ""), row["row"]): row for row in artefact["rows"]}
    verdicts = []
    for dataset in datasets:
        for setting in dict.fromkeys(setting for setting, _ in rows):
            mine = {name: row for (of, name), row in rows.items() if of == setting}
            runs = {name: metrics_by_seed(row, dataset, real) for name, row in mine.items()}
            for better, worse in (pair for order in orders for pair in pairwise(order)):
                if gap := Difference.between([(runs.get(better, {}), runs.get(worse, {}))], metric):
                    place = ", ".join(filter(None, (dataset, setting)))
                    told = f"{gap.n_seeds} seed{'s' if gap.n_seeds > 1 else ''}"
                    values = [published.get((dataset, setting, name), {}).get(metric) for name in (better, worse)]
                    told += _published_gap(*values)
                    verdicts.append(f"- {better} − {worse} on {place}: {gap} ({told}): {gap.verdict}")
    if not verdicts:
        return []
    claimed, several = "; ".join(", ".join(order) for order in orders), len(orders) > 1
    rule = (
        f"The paper's order{'s' if several else ''}, best first: {claimed}. Differences in {metric} are those of runs "
        f"with the same seed, ± their standard deviation over the seeds. {'One' if several else 'It'} '{HOLDS}' where "
        f"the mean difference is above 0 (two-sided 95 % confidence, t distribution), '{FAILS}' where it is below 0, "
        f"'{OPEN}' in between."
    )
    return ["\n".join([rule, "", *verdicts])]


def _orders(artefact: dict) -> tuple[list[list[str]], str]:
    """The orders that the artefact claims, a single one among them, and the metric; of rows and metrics that it has."""
    order, metrics = artefact["order"], artefact["metrics"]
    orders = [order] if isinstance(order[0], str) else order
    if unknown := sorted({name for one in orders for name in one} - {row["row"] for row in artefact["rows"]}):
        raise ConfigError(f"order: the artefact has no row {', '.join(unknown)}")
    metric = artefact.get("order_metric", metrics[0])
    if metric not in metrics:
        raise ConfigError(f"order_metric: the artefact has no metric {metric} (its metrics: {', '.join(metrics)})")
    return orders, metric


def _published_gap(one: PublishedValue | None, other: PublishedValue | None) -> str:
    """`; published +0.12`, one − other; nothing where the paper does not print both as numbers."""
    gap = one.number - other.number if one and other else nan
    return f"; published {signed(gap)}" if gap == gap else ""
