"""The measurements of overlapping clusters as tables: steps, what they add, solvers, agreement. It measures nothing."""

import statistics

from bench import job_points, records, settings
from bench.job_points import Point
from bench.overlap import MODELS, STEPS, Job
from bench.tables import MET, mean_and_error, short
from orchard.report.published import read_published
from orchard.report.tables import Table

PUBLISHED = records.ROOT / "config/papers/disentangle/published/table5.csv"
_ADDED = STEPS[1:]  # to the backbone
_COSTS = (("_s", ""), ("_cpu_s", " CPU"))
_UNITS = {"match": ("ms", 1e3), "counts": ("ms", 1e3), "choosing": ("ms", 1e3)}  # the others in seconds
_PREDICTIONS = (("batch_ms", "batch"), ("single_median_ms", "single query"))
_TRAINING, _INFERENCE = "extra training", "extra inference, batch"
_BASELINE = next(iter(settings.SOLVERS))
_SOLVER_COSTS = (("seconds", "time"), ("cpu_s", "CPU"))
_THREADS = (1, settings.THREADS)


# ---- From records to figures ----


def points(records: list[dict], current: str) -> tuple[list[Point], bool]:
    """The measurements of the overlap to show, and whether they are of an older engine."""
    ours = [record | derived(record) for record in records if "measures" in record]
    keys = dict.fromkeys(key for record in ours for key, value in record.items() if isinstance(value, int | float))
    return job_points.points(ours, current, Job, keys)


def derived(record: dict) -> dict:
    """Ratios of what one process has measured: multiples of the backbone, or of the projection."""
    if record["status"] != "ok":
        return {}
    if record["measures"] == "solvers":
        return _solver_ratios(record)
    found = {}
    for end, _ in _COSTS:
        found |= {f"{step}_of{end}": record[step + end] / record[f"backbone{end}"] for step in _ADDED}
        found[f"extra_training{end}"] = sum(found[f"{step}_of{end}"] for step in _ADDED)
    for key, _ in _PREDICTIONS:
        before, after = (record[f"{model}_{key}"] for model in MODELS)
        found[f"extra_{key}"] = after / before - 1
    return found


def _solver_ratios(record):
    found = {f"reached by {name}": 100 * share for name, share in record["reached"].items()}
    baseline = {one["threads"]: one for one in record["solvers"] if one["solver"] == _BASELINE}
    for one in record["solvers"]:
        for key, _ in _SOLVER_COSTS:
            name = _solver_key(one["solver"], one["threads"], key)
            found |= {name: one[key], f"{name} ratio": one[key] / baseline[one["threads"]][key]}
    return found


def _solver_key(solver, threads, key):
    return f"{solver}, {threads}, {key}"


# ---- The steps, and what they add ----


def steps_table(found: list[Point], said: list[str]) -> Table:
    """The time of every step, a line for each λ."""
    rows, lines, keys = [], [], [step + end for step in STEPS for end, _ in _COSTS]
    units = [(step, what, *_UNITS.get(step, ("s", 1))) for step in STEPS for _, what in _COSTS]
    for one in _of_kind(found, "steps"):
        start = [one.job.dataset, str(one.job.copies), str(one.n)]
        if not one.ok:
            rows.append([*start, *[""] * len(keys), f"failed: {one.reason}"])
            continue
        figures = [one.figures[key] for key in keys]
        cells = [_cell(figure, scale) for figure, (*_, scale) in zip(figures, units, strict=True)]
        rows.append([*start, *cells, ""])
        lines.append([*start, *_values(figures)])
    return Table(
        title="Overlapping clusters: the steps of Algorithm 1",
        header=["data", "λ", "n", *(f"{step}{what}, {unit}" for step, what, unit, _ in units), "remark"],
        rows=rows,
        notes=[
            f"XR-Linear with {settings.OVERLAP_BACKBONE['n_splits']} children, leaf "
            f"{settings.OVERLAP_BACKBONE['max_leaf']}, beam {settings.OVERLAP_BACKBONE['beam']}, {settings.THREADS} "
            "threads; projection (Eq. 10). Backbone: its tree and its classifiers. Match: M on the training samples. "
            "Counts: YᵀM. Refit: all classifiers, over the new clusters. Median of n repetitions, ± half of the range; "
            "every one is a process of its own, compilation excluded; they are interleaved and differ in their seeds.",
            *said,
        ],
        record_header=["dataset", "copies", "n", *_names_of_values(keys)],
        records=lines,
    )


def extra_table(found: list[Point], said: list[str]) -> Table:
    """Multiples of the backbone; the published ones have lines of their own, under the names of their own data."""
    rows, lines = [], []
    extra = [f"extra_training{end}" for end, _ in _COSTS] + [f"extra_{key}" for key, _ in _PREDICTIONS]
    steps, cpu_steps = ([f"{step}_of{end}" for step in _ADDED] for end, _ in _COSTS)
    times = [f"{model}_{key}" for key, _ in _PREDICTIONS for model in MODELS]
    for one in _of_kind(found, "steps"):
        if one.ok:
            start = [one.job.dataset, _source(one.job.dataset), str(one.job.copies), str(one.n)]
            multiples = [_multiple(one.figures[key]) for key in (*extra, *steps)]
            cells = [" → ".join(_cell(one.figures[key]) for key in pair) for pair in (times[:2], times[2:])]
            sizes = [one.figures[key].median for key in ("mean_copies", "largest_before", "largest")]
            rows.append([*start, *multiples, *cells, f"{sizes[0]:.2f}", f"{sizes[1]:.0f} → {sizes[2]:.0f}"])
            figures = [one.figures[key] for key in (*extra, *steps, *cpu_steps, *times)]
            lines.append([*start, *_values(figures), *sizes])
    header = ["data", "source", "λ", "n", _TRAINING, f"{_TRAINING} CPU", _INFERENCE, "extra inference, single query"]
    header += [*_ADDED, *(f"{what}, ms" for _, what in _PREDICTIONS), "copies per label", "largest cluster"]
    return Table(
        title="Overlapping clusters: what they add to the backbone",
        header=header,
        rows=rows + _published_rows(header) if rows else [],
        notes=[
            "Match, counts, choosing and refit as multiples of the training of the backbone; extra training is their "
            "sum. Extra inference is the time with overlap over that without, minus one. A multiple is of two times "
            "of the same process; median of n, ± half of the range. Times and the largest cluster: before → after.",
            "Published: Table 5 of the paper, by its authors' program on their machine and their data. It is here for "
            "the order of magnitude, and no line above is a reproduction of it. It counts ms per point, and does not "
            "say whether in a batch.",
            *said,
        ],
        record_header=[
            "dataset", "source", "copies", "n", *_names_of_values([*extra, *steps, *cpu_steps, *times]), "mean_copies",
            "largest_before", "largest",
        ],
        records=lines,
    )  # fmt: skip


def _source(dataset):
    return "measured, simulated data" if dataset.endswith("-sim") else "measured"


def _published_rows(header):
    """Table 5, extra inference in the column of the batch."""
    lines = {}
    for one in read_published(PUBLISHED):
        if one.setting:
            start = {"data": one.dataset, "source": "published", "λ": one.setting.removeprefix("λ = ")}
            line = lines.setdefault((one.dataset, one.setting), dict.fromkeys(header, "") | start)
            line[{"Extra training time": _TRAINING, "Extra inference time": _INFERENCE}[one.metric]] = one.value
    return [list(line.values()) for line in lines.values()]


# ---- The solvers ----


def solvers_table(found: list[Point], said: list[str]) -> Table:
    """A line for every solver; the ratios to the first of them are for one thread and for several."""
    rows, lines, before = [], [], []
    for one in _of_kind(found, "solvers"):
        if not one.ok:
            rows.append([one.job.dataset, f"failed: {one.reason}", str(one.n), *[""] * 7])
            continue
        before.append(f"{one.job.dataset} {one.figures['reached by backbone'].median:.2f}")
        for solver in settings.SOLVERS:
            start, cells, values = [one.job.dataset, solver, str(one.n)], [], []
            for threads in _THREADS:
                names = [_solver_key(solver, threads, key) for key, _ in _SOLVER_COSTS]
                figures, ratios = ([one.figures[name + end] for name in names] for end in ("", " ratio"))
                cells.append(_cell(figures[0], scale=1e3))
                cells += [f"{ratio.median:.2f} {MET[_is_met(solver, ratio.median)]}".strip() for ratio in ratios]
                values += _values([*figures, *ratios])
            reached = one.figures[f"reached by {solver}"].median
            rows.append([*start, *cells, f"{reached:.2f}"])
            lines.append([*start, *values, reached])
    columns = ["time, ms", *(f"{what} / {_BASELINE}" for _, what in _SOLVER_COSTS)]
    columns = [f"{threads} thread{'s' * (threads > 1)}: {column}" for threads in _THREADS for column in columns]
    names = [f"{key}{end}_{n}" for n in _THREADS for end in ("", "_ratio") for key, _ in _SOLVER_COSTS]
    limits = ", ".join(f"{key} = {value:g}" for key, value in settings.SOLVERS["projection with limits"].items())
    return Table(
        title=f"Overlapping clusters: the solvers, λ = {settings.SOLVER_COPIES}",
        header=["data", "solver", "n", *columns, "true labels reached, %"],
        rows=rows,
        notes=[
            "From Y and M of the training samples to the clusters, YᵀM included where a solver needs it. Bar of "
            f"coverage: {settings.COVERAGE_BAR:g} times the projection; ✓ it is met, ✗ it is not. A measurement is the "
            f"median of {settings.SOLVER_CALLS} calls in turn, a ratio one of the same process; median of n, ± half of "
            f"the range. Limits: {limits} (`Overlap`). With limits, what follows the first choice of every label uses "
            "one thread.",
            "True labels reached: the objective of Problem 7 over all true labels of the training samples; without "
            f"overlap it is {', '.join(before)}.",
            *said,
        ],
        record_header=["dataset", "solver", "n", *_names_of_values(names), "reached"],
        records=lines,
    )


def _is_met(solver, ratio):
    return ratio <= settings.COVERAGE_BAR if "coverage" in solver else None


# ---- Agreement with PECOS ----


def agreement_table(measured: dict | None, editions: list[str]) -> Table:
    """P@k of both engines over the same trees, means over the seeds.

    measured : what results/bench/overlap_pecos.json holds.  editions : what would be compared today.
    """
    lines = (measured or {}).get("lines", [])
    good, failed = ([line for line in lines if ("reason" in line) == is_failed] for is_failed in (False, True))
    rows, values = [], []
    for name, title in zip(MODELS, ("the backbone's", f"overlapping, λ = {settings.AGREEMENT_COPIES}"), strict=True):
        remark = f"{len(failed)} failed: {failed[0]['reason']}" if failed else ""
        start = [settings.AGREEMENT_DATASET, title, str(len(good))]
        if not good:
            rows += [[*start, *[""] * 5, remark]] if failed else []
            continue
        means = [
            " / ".join(f"{statistics.fmean(line[name][engine][k] for line in good):.2f}" for k in range(3))
            for engine in ("pecos", "orchard")
        ]
        cells = []
        for k in range(3):
            points = [line[name]["orchard"][k] - line[name]["pecos"][k] for line in good]
            is_met = abs(statistics.fmean(points)) <= settings.AGREEMENT_BAR
            cells.append(f"{mean_and_error(points)} {MET[is_met]}")
        rows.append([*start, *means, *cells, remark])
        values += [
            [settings.AGREEMENT_DATASET, name, line["seed"], *line[name]["pecos"], *line[name]["orchard"]]
            for line in good
        ]
    notes = [
        "Both over the same tree, which is Orchard's, with the same settings as in the tables of overlapping clusters. "
        "For PECOS every copy is a label of its own with all positives of its label; it predicts the best "
        f"{settings.AGREEMENT_BEST}, and the copies of a label that are among them count with the mean of their "
        "scores; for Orchard all copies in the beam do. Points: Orchard minus PECOS, mean over the seeds ± its "
        f"standard error; ✓ the mean is within {settings.AGREEMENT_BAR:g} points, ✗ it is not."
    ]
    if any(line["editions"] != editions for line in lines):
        notes.append("Some of it was compared before the last edit of the engine's sources or of the bench.")
    return Table(
        title="Overlapping clusters: Orchard and PECOS over the same trees",
        header=[
            "data", "tree", "seeds", "PECOS, P@1 / P@3 / P@5", "Orchard, P@1 / P@3 / P@5",
            *(f"{key}, points" for key in settings.PRECISIONS), "remark",
        ],
        rows=rows,
        notes=notes,
        record_header=[
            "dataset", "tree", "seed",
            *(f"{engine}_{key}" for engine in ("pecos", "orchard") for key in settings.PRECISIONS),
        ],
        records=values,
    )  # fmt: skip


# ---- All of it ----


def make(found: list[Point], is_old: bool, agreement: Table) -> dict[str, Table]:
    """{file name: table}; tables without rows included."""
    said = job_points.notes(found, is_old) if found else []
    makers = {"overlap": steps_table, "overlap_extra": extra_table, "overlap_solvers": solvers_table}
    made = {name: make_one(found, said) for name, make_one in makers.items()}
    return made | {"overlap_pecos": agreement}


def _of_kind(found, measures):
    here = [one for one in found if one.job.measures == measures and one.job.dataset in settings.PEER_DATASETS]
    return sorted(here, key=lambda one: (settings.PEER_DATASETS.index(one.job.dataset), one.job.copies))


def _cell(figure, scale=1.0):
    return f"{short(scale * figure.median)} ±{100 * figure.spread:.0f} %"


def _multiple(figure):
    if 0 < figure.median < 0.005:
        return "< 0.01×"
    return f"{figure.median:.2f}× ±{(figure.high - figure.low) / 2:.2f}"


def _values(figures):
    return [value for one in figures for value in (one.median, one.low, one.high)]


def _names_of_values(names):
    return [f"{name}{end}" for name in names for end in ("", "_min", "_max")]
