"""By how many per cent one method's micro-F1 is above another's (otseq2set, Tables 4 and 5).

Rows are named as in the paper's Table 3, and the first of `metrics` is micro-F1. Per cents are those of means over the
seeds; who is ahead is judged seed by seed (`orchard.report.differences`), and on real data only.
"""

from dataclasses import dataclass

from orchard.errors import ConfigError
from orchard.report.differences import FAILS, HOLDS, BySeed, Difference
from orchard.report.published import PublishedValue, read_published
from orchard.report.rows import run_of
from orchard.report.scores import MISSING, Measured, measured_row, metrics_by_seed, signed
from orchard.report.scores_table import notes_on_runs
from orchard.report.tables import Table

BASELINES = ("Seq2Seq", "MLC2Seq", "SGM")
SCHEMES = ALL, FIRST = "BM_all", "BM_first-n"
PARTS = ("", " + OT", " + OT + LC")
IMPROVEMENT, DIFFERENCE, F1 = "relative improvement of micro-F1", "relative difference", "micro-F1"
SHARE = "samples with at most the average label count"
VALIDATION = "validation F1"  # as score.json has it
RECORD_HEADER = ["data set", "method", "source", "run", "column", "value", "spread"]
AHEAD_NOTE = (
    "Ahead: by differences of runs with the same seed, in points of micro-F1 ± their standard deviation; "
    "inconclusive where the 95 % confidence interval of the mean (t distribution) has 0 in it."
)
SENTENCES = (
    "Section 3.6 has BM_first-n ahead where less than half of the samples have fewer labels than the average (its "
    "first sentence), and BM_all where more than half have more (its second): the same condition twice. Where it is "
    "not met, only the converse of a sentence says anything. Which one fits, by the label counts of our training data:"
)


@dataclass(frozen=True)
class Runs:
    """The runs of a row on a data set: their means, and each of them."""

    row: dict
    measured: Measured
    by_seed: BySeed


@dataclass(frozen=True)
class Comparison:
    """The runs of one row against those of another one."""

    one: Runs
    other: Runs
    metric: str

    @property
    def source(self) -> str:
        return self.one.measured.source

    @property
    def gain(self) -> float | None:
        """By how many per cent one mean is above the other one; None above nothing (a model that predicts no label)."""
        one, other = (runs.measured.values[self.metric] for runs in (self.one, self.other))
        return 100 * (one / other - 1) if other else None

    @property
    def gap(self) -> Difference | None:
        return Difference.between(self.one.by_seed, self.other.by_seed, self.metric)

    @property
    def ahead(self) -> str:
        """The row that is ahead, or why that is not said."""
        if self.one.measured.simulated or not self.gap:
            return MISSING
        names = {HOLDS: self.one.row["row"], FAILS: self.other.row["row"]}
        return names.get(self.gap.verdict, self.gap.verdict)

    def status(self, printed: PublishedValue | None) -> str:
        """The last cell of a measured line: what is to be thought of it beside the paper's."""
        if self.one.measured.simulated:
            return "simulated"
        if not printed:
            return "not in the paper"
        return MISSING if self.gain is None else f"{signed(self.gain - printed.number)} points"

    def cells(self, printed: PublishedValue | None) -> list[str]:
        """Who is ahead, by how much, and the status."""
        told = self.ahead if self.ahead == MISSING else f"{self.ahead} ({self.gap})"
        return [told, self.status(printed)]


def improvements_table(artefact: dict, scores: list[dict], published_csv) -> Table:
    """Table 4: BM, BM + OT and BM + OT + LC over the best of the three baselines, which the paper calls second best.

    On every data set BM is the scheme that `chosen_scheme` chooses; the baseline is the one with the highest F1 on the
    test set, as in the paper.
    """
    table = _new_table(artefact, ["data set", "method", "source", IMPROVEMENT, "of", "ahead (BM − baseline)"])
    rows, metric = artefact["rows"], artefact["metrics"][0]
    published, in_paper, at_hand = _data_sets(published_csv, scores)
    shown, choices = [], []
    for dataset in dict.fromkeys([*in_paper, *at_hand]):
        runs = _runs_on(dataset, rows, scores, metric)
        scheme, told = chosen_scheme(dataset, runs)
        choices += [told] if told else []
        baselines = (runs[name] for name in BASELINES if name in runs)
        best = max(baselines, key=lambda one: one.measured.values[metric], default=None)
        for part in PARTS:
            method, own = f"BM{part}", runs.get(f"{scheme}{part}")
            printed = published.get((dataset, method, IMPROVEMENT))
            if printed:
                table.rows.append([dataset, method, "published", printed.value, "", "", _not_run(rows, dataset)])
                table.records.append([dataset, method, "published", "", IMPROVEMENT, printed.number, ""])
            if own and best:
                compared = Comparison(own, best, metric)
                both = " over ".join(f"{one.row['row']} {one.measured.printed(metric)}" for one in (own, best))
                table.rows.append(
                    [dataset, method, compared.source, _per_cent(compared.gain), both, *compared.cells(printed)]
                )
                run = f"{own.row['method']} over {best.row['method']}"
                table.records.append([dataset, method, compared.source, run, IMPROVEMENT, _number(compared.gain), ""])
                shown += [own.measured, best.measured]
    if choices:
        table.notes.append(f"BM is the scheme with the higher {VALIDATION} without OT and LC: {'; '.join(choices)}.")
    table.notes += notes_on_runs(rows, shown, in_paper, at_hand, scores)
    table.notes += [AHEAD_NOTE] if any(not one.simulated for one in shown) else []
    return table


def chosen_scheme(dataset: str, runs: dict[str, Runs]) -> tuple[str | None, str]:
    """BM_all or BM_first-n, whichever has the higher validation F1 (mean over the seeds), and the choice in words.

    The paper prints one of them for every data set, and does not say how it was chosen.
    """
    found = {name: runs[name].measured.values for name in SCHEMES if name in runs}
    if len(found) < 2:
        return next(iter(found), None), ""
    if without := [name for name, values in found.items() if VALIDATION not in values]:
        raise ConfigError(
            f"results/runs/{dataset}/clean/{runs[without[0]].row['method']}: a score.json has no {VALIDATION!r}, which "
            "BM_all or BM_first-n is chosen by; delete the folder and run again"
        )
    best, other = sorted(found, key=lambda name: -found[name][VALIDATION])
    return best, f"{best} on {dataset} ({found[best][VALIDATION]:.2f}; {other} {found[other][VALIDATION]:.2f})"


def schemes_table(artefact: dict, scores: list[dict], statistics: list[dict], published_csv) -> Table:
    """Table 5: BM_first-n against BM_all, and the label counts by which section 3.6 explains who is ahead.

    statistics : the stats.json of each data set at hand.
    """
    table = _new_table(artefact, ["data set", "source", ALL, FIRST, DIFFERENCE, SHARE, f"ahead ({FIRST} − {ALL})"])
    rows, metric = artefact["rows"], artefact["metrics"][0]
    published, in_paper, at_hand = _data_sets(published_csv, scores)
    from orchard.report.label_counts import share_above_average  # brings matplotlib along, which the other table spares

    shares = {one["name"]: 1 - share_above_average(one["label_count_histogram"]["train"]) for one in statistics}
    shown, fitting = [], []
    for dataset in dict.fromkeys([*in_paper, *at_hand]):
        runs = _runs_on(dataset, rows, scores, metric)
        printed = published.get((dataset, FIRST, DIFFERENCE))
        leaders = {}
        if printed:
            values = [published[dataset, name, F1] for name in SCHEMES]
            leaders["published"] = FIRST if printed.number > 0 else ALL
            cells = [*(value.value for value in values), printed.value, MISSING, leaders["published"]]
            table.rows.append([dataset, "published", *cells, _not_run(rows, dataset)])
            for value in (*values, printed):
                table.records.append([dataset, value.method, "published", "", value.metric, value.number, ""])
        if all(name in runs for name in SCHEMES):
            compared = Comparison(runs[FIRST], runs[ALL], metric)
            leaders[compared.source] = compared.ahead
            cells = [*(runs[name].measured.printed(metric) for name in SCHEMES), _per_cent(compared.gain)]
            table.rows.append([dataset, compared.source, *cells, f"{shares[dataset]:.1%}", *compared.cells(printed)])
            table.records += _records(dataset, compared, shares[dataset])
            shown += [runs[name].measured for name in SCHEMES]
        if dataset in shares and "simulated" not in leaders:
            fitting += [
                f"- {dataset}, {source}: {shares[dataset]:.1%} have at most the average, ahead: {ahead}; "
                f"{fitting_sentence(shares[dataset], ahead)}"
                for source, ahead in leaders.items()
            ]
    table.notes += notes_on_runs(rows, shown, in_paper, at_hand, scores)
    table.notes += [AHEAD_NOTE] if any(not one.simulated for one in shown) else []
    table.notes += ["\n".join([SENTENCES, "", *fitting])] if fitting else []
    return table


def fitting_sentence(share: float, ahead: str) -> str:
    """Which of the two sentences of section 3.6 fits.

    share : of the samples that have at most the average number of labels.  Both sentences are about data sets where it
        is below a half: the first gives them to BM_first-n, the second to BM_all.
    """
    if ahead not in SCHEMES:
        return "neither is decided"
    condition_met = share < 0.5
    fits = "the first fits" if (ahead == FIRST) == condition_met else "the second fits"
    return fits if condition_met else f"{fits}, by its converse"


def _records(dataset: str, compared: Comparison, share: float) -> list[list]:
    source, metric = compared.source, compared.metric
    of_runs = [
        [dataset, runs.row["row"], source, runs.row["method"], F1, runs.measured.values[metric],
         runs.measured.spreads.get(metric, "")]
        for runs in (compared.other, compared.one)
    ]  # fmt: skip
    return [
        *of_runs,
        [dataset, compared.one.row["row"], source, "", DIFFERENCE, _number(compared.gain), ""],
        [dataset, "", source, "", SHARE, share, ""],
    ]


def _new_table(artefact: dict, lead: list[str]) -> Table:
    notes = list(artefact.get("notes", []))
    return Table(artefact["title"], [*lead, "measured − published"], [], notes, record_header=RECORD_HEADER)


def _data_sets(published_csv, scores: list[dict]) -> tuple[dict[tuple, PublishedValue], list[str], list[str]]:
    """{(data set, method, metric): what is printed}, the data sets of the paper, and those that were run."""
    published = {(value.dataset, value.method, value.metric): value for value in read_published(published_csv)}
    in_paper, at_hand = dict.fromkeys(key[0] for key in published), dict.fromkeys(score["dataset"] for score in scores)
    return published, list(in_paper), list(at_hand)


def _runs_on(dataset: str, rows: list[dict], scores: list[dict], metric: str) -> dict[str, Runs]:
    """{row: its runs}, of the rows that have any."""
    measured = ((row, measured_row(row, dataset, scores)) for row in rows)
    return {
        row["row"]: Runs(row, one, metrics_by_seed(row, dataset, scores))
        for row, one in measured
        if one and metric in one.values
    }


def _not_run(rows: list[dict], dataset: str) -> str:
    return "" if any(run_of(row, dataset) for row in rows) else "not run"


def _per_cent(gain: float | None) -> str:
    return MISSING if gain is None else f"{signed(gain)}%"


def _number(gain: float | None) -> float | str:
    return "" if gain is None else gain
