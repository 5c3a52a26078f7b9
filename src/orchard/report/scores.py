"""The scores of runs as tables want them: which runs belong to a row, their mean over the seeds, what is published."""

from dataclasses import dataclass
from statistics import mean, stdev

from orchard.report.published import PublishedValue
from orchard.report.rows import run_of
from orchard.report.tables import OVERSIZED

MISSING = "–"
# Printed without decimals, also at a k.
COUNTS = ("fused labels", "scored", "scored nodes", "scored labels", "largest cluster", "µs", "p99", "batch")


@dataclass(frozen=True)
class Measured:
    """What the runs of one row on one data set gave: {metric: mean}, {metric: spread}, both over the seeds.

    oversized : some run was stopped because its model grew beyond its limit; then there are no values.
    """

    simulated: bool
    seeds: tuple[int, ...]
    values: dict[str, float]
    spreads: dict[str, float]
    oversized: bool = False

    @classmethod
    def of(cls, scores: list[dict]) -> "Measured":
        """scores : of the same run, with different seeds."""
        metrics = [name for name in scores[0]["metrics"] if all(name in score["metrics"] for score in scores)]
        values = {name: [score["metrics"][name] for score in scores] for name in metrics}
        return cls(
            simulated=scores[0]["simulated"],
            seeds=tuple(score["seed"] for score in scores),
            values={name: mean(numbers) for name, numbers in values.items()},
            spreads={name: stdev(numbers) for name, numbers in values.items() if len(scores) > 1},
            oversized=any(score.get("oversized", False) for score in scores),
        )

    @property
    def source(self) -> str:
        return "simulated" if self.simulated else "measured"

    def printed(self, metric: str) -> str:
        """`81.65`, or `81.65 ± 0.12` (standard deviation) where there are several seeds."""
        if metric not in self.values:
            return OVERSIZED if self.oversized else MISSING
        decimals = 0 if metric.partition("@")[0] in COUNTS else 2
        spread = f" ± {self.spreads[metric]:.{decimals}f}" if metric in self.spreads else ""
        return f"{self.values[metric]:.{decimals}f}{spread}"


def scores_of_row(row: dict, dataset: str, scores: list[dict]) -> list[dict]:
    """The runs of a row (its `method`, its `variant` or clean) on a data set, among all scores, by seed."""
    if not (run := run_of(row, dataset)):
        return []
    mine = [score for score in scores if (score["dataset"], score["variant"], score["method"]) == (dataset, *run)]
    return sorted(mine, key=lambda score: score["seed"])


def list_of_scores(contents) -> list[dict]:
    """The scores in files that hold one, or a list of them."""
    return [score for content in contents for score in (content if isinstance(content, list) else [content])]


def merged(scores: list[dict]) -> list[dict]:
    """Scores of the same run from several files as one, with all of their metrics."""
    by_run = {}
    for score in scores:
        run = tuple(score[key] for key in ("dataset", "variant", "method", "seed"))
        known = by_run.setdefault(run, score | {"metrics": {}})
        by_run[run] = known | {"metrics": known["metrics"] | score["metrics"]}
    return list(by_run.values())


def measured_row(row: dict, dataset: str, scores: list[dict]) -> Measured | None:
    """What `scores_of_row` gave, or None without any."""
    mine = scores_of_row(row, dataset, scores)
    return Measured.of(mine) if mine else None


def metrics_by_seed(row: dict, dataset: str, scores: list[dict]) -> dict[int, dict[str, float]]:
    """The same run by run."""
    return {score["seed"]: score["metrics"] for score in scores_of_row(row, dataset, scores)}


def difference(measured: Measured, published: dict[str, PublishedValue], metrics: list[str]) -> str:
    """`P@1 −0.61, P@3 +0.08`: measured minus published, for what is both; nothing for simulated data."""
    if measured.simulated:
        return ""
    gaps = {
        metric: measured.values[metric] - published[metric].number
        for metric in metrics
        if metric in measured.values and metric in published
    }
    return ", ".join(f"{metric} {signed(gap)}" for metric, gap in gaps.items() if gap == gap)  # NaN: printed as `-`


def signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")


def seeds_told(scores: list[dict]) -> str:
    """Which seeds stand behind the points of a figure."""
    seeds = sorted({score["seed"] for score in scores})
    several = f"Means over up to {len(seeds)} seeds ± their standard deviation."
    return f"Seed {seeds[0]}." if len(seeds) == 1 else several


def seeds_note(measured: list[Measured]) -> str:
    """Which seeds stand behind the measured numbers."""
    seeds = sorted({one.seeds for one in measured})
    if all(len(some) == 1 for some in seeds):
        return f"Scores are of seed {', '.join(str(some[0]) for some in seeds)}."
    told = " or ".join(", ".join(map(str, some)) for some in seeds)
    return f"Scores are means over the seeds {told}, ± their standard deviation."


def not_run_notes(rows: list[dict], datasets: list[str]) -> list[str]:
    """Which resolved rows wait for a larger scale, and which are not run and why; datasets : those that are shown."""
    later, run_now = {}, {row.get("setting") for row in rows if "method" in row}
    by_reason = {}
    for row in rows:
        setting = row.get("setting")
        if "from" in row:
            name = setting if setting and setting not in run_now else name_of(row)
            later.setdefault(row["from"], {})[name] = None
        if "not_run" in row:
            everywhere = all(one.get("not_run") == row["not_run"] for one in rows if one["row"] == row["row"])
            by_reason.setdefault(row["not_run"], {})[row["row"] if everywhere else name_of(row)] = None
        for dataset, reason in row.get("not_run_on", {}).items():
            if dataset in datasets:
                mates = [one.get("not_run_on", {}) for one in rows if one.get("setting") == setting]
                name = setting if setting and all(mate.get(dataset) == reason for mate in mates) else name_of(row)
                by_reason.setdefault(reason, {})[f"{name} on {dataset}"] = None
    return [
        *(f"Run from the scale `{scale}` on: {'; '.join(names)}." for scale, names in later.items()),
        *(f"Not run: {'; '.join(names)}: {reason}." for reason, names in by_reason.items()),
    ]


def name_of(row: dict) -> str:
    return f"{row['row']} ({row['setting']})" if row.get("setting") else row["row"]


def simulated_note(names: list[str]) -> str:
    return f"**Simulated data, generated by Orchard; it reproduces no published number:** {', '.join(names)}."
