"""Where the values of a claim come from: the runs behind an artefact seed by seed, its CSV file, or the paper.

An operand that names a row of the artefact and a metric of its runs is measured by them; every other one stands in the
CSV file of the artefact (`orchard.report.claim_records`). A row may have several lines, one for every setting, and in
figures for every `at`; a line is chosen by what the operand fixes, and then by the place. A row without settings is
the same in all of them, and so is one that stands alone beside them (`orchard.report.rows`), the oracle on clean
labels. Any other row with one setting only must be named with it where the place has another.
"""

from dataclasses import dataclass, field

from orchard.report.claim_expressions import Operand, Place
from orchard.report.claim_records import NotMeasured, Records, Value, same
from orchard.report.published import PublishedValue
from orchard.report.rows import SCALES, resolve_rows
from orchard.report.scores import scores_of_row

PRINTED_AS = {"F1": "micro-F1"}  # {metric of our runs: what a paper may call it in print}
LINE_KEYS = ("setting", "axis", "at")
AS_IN_THE_PAPER = "simulated, as in the paper"  # stands for the data set of an artefact that is a simulation

Line = tuple[str, ...]  # what a line is known by: its row, setting, axis and at, as text


def all_lines(artefact: dict, datasets: list[str]) -> dict[Line, dict[str, dict]]:
    """{line: {scale: the resolved row}}, over all scales: sweeps have other values at each."""
    lines: dict[Line, dict[str, dict]] = {}
    if "rows" in artefact:
        for scale in SCALES:
            for row in resolve_rows(artefact, scale, datasets):
                key = (row["row"], *(str(row.get(key, "")) for key in LINE_KEYS))
                lines.setdefault(key, {})[scale] = row
    return lines


def lines_at(values: "ArtefactValues", operand: Operand, place: Place) -> list[Line]:
    """The lines of the operand's row that fit; one, if the operand can be told."""
    mine = [line for line in values.lines if line[0] == operand.row]
    for i, key in enumerate(LINE_KEYS, start=1):
        if key in operand.place:
            mine = [line for line in mine if same(line[i], operand.place[key])]
        elif key in place and not values.stands_alone(operand.row):
            mine = [line for line in mine if not line[i] or same(line[i], place[key])]
    return mine


def metric_of(artefact: dict, operand: Operand, place: Place) -> str | None:
    """The metric that an operand is about: its own, the place's, or the artefact's only one."""
    metrics = artefact.get("metrics", [])
    return operand.place.get("metric") or place.get("metric") or (metrics[0] if len(metrics) == 1 else None)


def printed_of(printed: list[PublishedValue], operand: Operand, artefact: dict) -> list[PublishedValue]:
    """The published values of an operand's row: of a method, or of a metric where methods are not told apart.

    Where the paper prints one quantity of one method only, the artefact's own name of the metric means it, too.
    """
    if mine := [value for value in printed if value.method == operand.row]:
        return mine
    if mine := [value for value in printed if value.metric == operand.row]:
        return mine
    alone = len({(value.method, value.metric) for value in printed}) == 1
    return printed if alone and operand.row in artefact.get("metrics", []) else []


def _stands_at(setting: str, points: Place) -> bool:
    """Whether a printed setting such as `bs = 32, lr = 0.1` has these parts."""
    parts = dict(part.split(" = ", 1) for part in setting.split(", ") if " = " in part)
    return all(key in parts and same(parts[key], value) for key, value in points.items())


@dataclass
class ArtefactValues:
    """The values of an artefact at a scale.

    scores : those of its rule, None if it has none.  records : its CSV file, where a claim needs it.
    score_metrics : the metrics that runs may have.  datasets : those that it shows at this scale.
    """

    name: str
    artefact: dict
    scale: str
    datasets: list[str]
    score_metrics: set[str]
    scores: list[dict] | None = None
    records: Records | None = None
    lines: dict[Line, dict[str, dict]] = field(init=False)

    def __post_init__(self):
        self.lines = all_lines(self.artefact, self.datasets)

    def stands_alone(self, row: str) -> bool:
        """Whether a row is beside the settings, with a variant of its own."""
        return "settings" in self.artefact and any(
            one["row"] == row and "variant" in one for one in self.artefact["rows"]
        )

    def is_scored(self, operand: Operand, place: Place) -> bool:
        """Whether runs measure it, seed by seed."""
        known = {*LINE_KEYS, "metric"}
        return (
            self.scores is not None
            and any(line[0] == operand.row for line in self.lines)
            and known >= {*operand.place, *place}
            and metric_of(self.artefact, operand, place) in self.score_metrics
        )

    def told_metric(self, operand: Operand, place: Place) -> str | None:
        """The metric that a measured value is of, as far as one is named: a file has other quantities, too."""
        if self.is_scored(operand, place):
            return metric_of(self.artefact, operand, place)
        of_row = operand.row if operand.row in self.artefact.get("metrics", []) else None
        return operand.place.get("metric") or place.get("metric") or of_row

    def measured(self, operand: Operand, place: Place, dataset: str) -> Value:
        """The value of an operand at a place; NotMeasured if there is none."""
        if self.is_scored(operand, place):
            return self._scored(operand, place, dataset)
        self._refuse_unrun_row(operand, place)
        if self.records is None:
            raise NotMeasured(f"{self.name} has no such value as {operand}")
        of_dataset = None if dataset == AS_IN_THE_PAPER else dataset
        return self.records.value(operand, place, of_dataset)

    def _scored(self, operand: Operand, place: Place, dataset: str) -> Value:
        row = self._resolved(operand, place)
        if dataset in row.get("not_run_on", {}):
            raise NotMeasured(f"{operand.row} on {dataset}: {row['not_run_on'][dataset]}")
        if not (mine := scores_of_row(row, dataset, self.scores)):
            raise NotMeasured(f"no run of {operand.row} on {dataset}")
        metric = metric_of(self.artefact, operand, place)
        by_seed = {score["seed"]: score["metrics"][metric] for score in mine if metric in score["metrics"]}
        if not by_seed:
            oversized = any(score.get("oversized") for score in mine)
            raise NotMeasured(f"{operand.row} {'outgrew its limit' if oversized else f'has no {metric}'} on {dataset}")
        return Value(by_seed=by_seed)

    def _resolved(self, operand: Operand, place: Place) -> dict:
        """The row behind an operand as it is at this scale; NotMeasured if it is not run."""
        line = lines_at(self, operand, place)[0]
        by_scale = self.lines[line]
        row = by_scale.get(self.scale, {})
        if "method" in row:
            return row
        several = len([other for other in self.lines if other[0] == operand.row]) > 1
        name = f"{operand.row} ({line[1] or line[3]})" if several and (line[1] or line[3]) else operand.row
        if "not_run" in row:
            raise NotMeasured(f"{name}: {row['not_run']}")
        first = next((scale for scale in SCALES if "method" in by_scale.get(scale, {})), None)
        raise NotMeasured(f"{name} is run from the scale `{first}` on" if first else f"{name} is run at no scale")

    def _refuse_unrun_row(self, operand: Operand, place: Place) -> None:
        """A row whose lines are all left for a larger scale is told as such, not as a line that a file lacks."""
        mine = [by_scale for line, by_scale in self.lines.items() if line[0] == operand.row]
        at_hand = any({"method", "counted"} & by_scale.get(self.scale, {}).keys() for by_scale in mine)
        if not at_hand and lines_at(self, operand, place):
            self._resolved(operand, place)

    def published(self, operand: Operand, place: Place, dataset: str, printed: list[PublishedValue]) -> float | None:
        """The number that the paper prints for an operand, None if it prints none (or several that fit)."""
        mine = printed_of(printed, operand, self.artefact)
        metric, names = metric_of(self.artefact, operand, place), {value.metric for value in mine}
        # Where there is but one, here and in print, the paper may have another name for it.
        if len(names) > 1 or (metric and len(self.artefact.get("metrics", [])) > 1):
            mine = [value for value in mine if value.metric in (metric, PRINTED_AS.get(metric), operand.row)]
        mine = [value for value in mine if value.dataset in (dataset, "")]
        if points := {key: part for key, part in (place | operand.place).items() if key not in (*LINE_KEYS, "metric")}:
            mine = [value for value in mine if _stands_at(value.setting, points)]
            return mine[0].number if len(mine) == 1 and mine[0].number == mine[0].number else None
        if setting := self._printed_setting(operand, place):
            mine = [value for value in mine if value.setting in (setting, "")]
        elif len([line for line in self.lines if line[0] == operand.row]) > 1:
            return None  # points of a curve, of which the paper prints none
        return mine[0].number if len(mine) == 1 and mine[0].number == mine[0].number else None

    def _printed_setting(self, operand: Operand, place: Place) -> str:
        """The setting in which the paper prints the line: its own, or the one that a figure is set beside."""
        lines = lines_at(self, operand, place)
        if len(lines) == 1:
            row = next(iter(self.lines[lines[0]].values()))
            return row.get("published", row.get("setting", ""))
        return str(operand.place.get("setting", place.get("setting", "")))
