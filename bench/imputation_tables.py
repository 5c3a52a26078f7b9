"""The measurements of the imputation as tables: cost, ratios with their bars, growth, memory. It measures nothing."""

from dataclasses import replace

from bench import job_points, settings, summary
from bench.imputation import Job
from bench.tables import MET, short
from orchard.report.tables import Table

_COSTS = (("seconds", "time, s"), ("cpu_s", "CPU, s"))


class Point(job_points.Point):
    """A job over its repetitions."""

    @property
    def group_size(self) -> float:
        """ḡ; the last group may be smaller."""
        return self.record["n"] / self.record["n_groups"]


def points(records: list[dict], current: str) -> tuple[list[Point], bool]:
    """The measurements of the imputation to show, and whether they are of an older engine."""
    ours = [record for record in records if "what" in record]
    return job_points.points(ours, current, Job, [*(key for key, _ in _COSTS), "growth_bytes"], Point)


# ---- Beside training, and beside scipy ----


def cost_table(found: list[Point], said: list[str]) -> Table:
    """Imputation, the training that follows it, the scipy implementation."""
    rows, records = [], []
    for one in _main_points(found):
        start = [one.job.dataset, title(one.job), str(one.job.threads), str(one.n)]
        if not one.ok:
            rows.append([*start, "", "", f"failed: {one.reason}"])
            continue
        figures = [one.figures[key] for key, _ in _COSTS]
        cells = [f"{short(figure.median)} ±{100 * figure.spread:.0f} %" for figure in figures]
        rows.append([*start, *cells, _remark(one)])
        records.append([*start, *(v for one in figures for v in (one.median, one.low, one.high)), _remark(one)])
    return Table(
        title=f"Imputation of labels in random groups of {settings.GROUP_SIZE}",
        header=["data", "what", "threads", "n", *(cost for _, cost in _COSTS), "remark"],
        rows=rows,
        notes=[
            "Median of n repetitions, ± half of the range; every one is a process of its own, compilation excluded, "
            "repetitions interleaved. T: iterations of Algorithm 1. Parabel is trained on the imputed labels, with its "
            "defaults but for the number of trees. scipy: Algorithms 1 and 2 line by line (tests/plain_eagle.py).",
            *said,
        ],
        record_header=["dataset", "what", "threads", "n"]
        + [f"{key}{end}" for key, _ in _COSTS for end in ("", "_min", "_max")]
        + ["remark"],
        records=records,
    )


def ratios_table(found: list[Point], said: list[str]) -> Table:
    """Imputation over training, scipy over imputation, one thread over two; with the bars."""
    rows, records = [], []

    def add(above, below, bar="", is_met=lambda ratio: None):
        if not (above and below):
            return
        ratios = [above.figures[key].median / below.figures[key].median for key, _ in _COSTS]
        name = f"{title(above.job)} / {title(below.job)}"
        threads = " / ".join(dict.fromkeys([str(above.job.threads), str(below.job.threads)]))
        cells = [f"{ratio:.3g} {MET[is_met(ratio)]}".strip() for ratio in ratios]
        rows.append([name, threads, *cells, bar])
        met = ["" if is_met(ratio) is None else is_met(ratio) for ratio in ratios]
        records.append([name, threads, *ratios, bar, *met])

    ok = {one.job: one for one in _main_points(found) if one.ok}
    base = Job("impute", settings.IMPUTATION_DATASET)
    default = settings.IMPUTATION_TREES[0]
    for T in (settings.IMPUTATION_ITERATIONS, 0):
        for n_trees in settings.IMPUTATION_TREES:
            for threads in (1, settings.THREADS):
                above = ok.get(replace(base, iterations=T, threads=threads))
                below = ok.get(replace(base, what="parabel", n_trees=n_trees, threads=threads))
                if n_trees == default:
                    bar = f"≤ {settings.IMPUTATION_BAR:g}"
                    add(above, below, bar, lambda ratio: ratio <= settings.IMPUTATION_BAR)
                else:
                    add(above, below)
    one_thread = ok.get(replace(base, threads=1))
    plain = next((one for one in ok.values() if one.job.what == "plain"), None)
    add(plain, one_thread, f"≥ {settings.PLAIN_BAR}", lambda ratio: ratio >= settings.PLAIN_BAR)
    add(one_thread, ok.get(base))
    return Table(
        title="Imputation: ratios",
        header=["what", "threads", "time", "CPU", "bar"],
        rows=rows,
        notes=[
            f"{settings.IMPUTATION_DATASET}, random groups of {settings.GROUP_SIZE}; medians over medians. ✓ the bar "
            "is met, ✗ it is not. The bar of training is for Parabel as it is by default, three trees.",
            *([_describe_plain(plain)] if plain else []),
            *said,
        ],
        record_header=["what", "threads", "time", "cpu", "bar", "time_met", "cpu_met"],
        records=records,
    )


def _main_points(found):
    """Those of IMPUTATION_DATASET in groups of GROUP_SIZE, in order; scipy on a sample only where there is no whole."""
    here = [
        one
        for one in found
        if (one.job.dataset, one.job.group_size, one.job.rows)
        == (settings.IMPUTATION_DATASET, settings.GROUP_SIZE, 1.0)
    ]
    whole = any(one.ok and one.job.what == "plain" and one.job.n_labels is None for one in here)
    here = [one for one in here if not (whole and one.job.n_labels)]
    order = {"impute": 0, "parabel": 1, "plain": 2}
    return sorted(
        here, key=lambda one: (order[one.job.what], -one.job.iterations, -(one.job.n_trees or 0), one.job.threads)
    )


def title(job: Job) -> str:
    if job.what == "impute":
        return f"imputation, T = {job.iterations}"
    if job.what == "parabel":
        return f"training Parabel, {job.n_trees} tree{'s' if job.n_trees > 1 else ''}"
    return f"scipy, T = {job.iterations}"


def _remark(one):
    if one.job.what != "plain" or one.job.n_labels is None:
        return ""
    return f"{one.job.n_labels} labels at random, scaled up by {1 / one.record['share']:.1f}"


def _describe_plain(one):
    equal, given = one.record["n_equal"], one.record["n_given"]
    sample = f" The time of scipy is that of {_remark(one)} (all pairs of label and group over theirs)."
    return (
        f"Both give the same labels to the same samples in {equal:,} of {given:,} cases ({100 * equal / given:.3f} %)."
        f"{sample if one.job.n_labels else ''}"
    )


# ---- Against the size of the groups and the number of samples ----


def group_curve(found: list[Point]) -> list[Point]:
    """The points that differ in the size of their groups only, in order; none where there are fewer than two."""
    base = Job("impute", settings.IMPUTATION_DATASET)
    here = [one for one in found if one.ok and replace(one.job, group_size=base.group_size) == base]
    return sorted(here, key=lambda one: one.group_size) if len(here) > 1 else []


def row_curves(found: list[Point]) -> dict[str, list[Point]]:
    """{data set: the points that differ in the number of rows only, in order}, for those with at least two."""
    curves = {}
    for dataset in settings.PEER_DATASETS:
        base = Job("impute", dataset)
        here = [one for one in found if one.ok and replace(one.job, rows=1.0) == base]
        if len(here) > 1:
            curves[dataset] = sorted(here, key=lambda one: one.record["n"])
    return curves


def exponent(curve: list[Point], of, key: str = "cpu_s") -> float:
    """The slope of log cost over log `of`(point): 1 is proportional."""
    return summary.fit_exponent([of(one) for one in curve], [one.figures[key].median for one in curve])


def curve_table(found: list[Point], said: list[str]) -> Table:
    """Cost against ḡ, then against n, each with its multiple of what proportion to the first point would give."""
    rows, records, fits = [], [], []
    curves = [(settings.IMPUTATION_DATASET, "ḡ", group_curve(found), lambda one: one.group_size)]
    curves += [(name, "n", curve, lambda one: one.record["n"]) for name, curve in row_curves(found).items()]
    for dataset, letter, curve, of in curves:
        if not curve:
            continue
        fits.append(f"{dataset}: {letter}^{exponent(curve, of):.2f}")
        first = curve[0]
        for one in curve:
            costs = [one.figures[key].median for key, _ in _COSTS]
            line = costs[1] / first.figures["cpu_s"].median * of(first) / of(one)
            numbers = [one.group_size, one.record["n"], one.record["n_pairs"], one.n]
            cells = [f"{numbers[0]:.1f}", f"{numbers[1]:,}", f"{numbers[2]:,}", str(numbers[3])]
            rows.append([dataset, letter, *cells, *map(short, costs), f"{line:.2f}"])
            records.append([dataset, letter, *numbers, *costs, line])
    return Table(
        title="Imputation: cost against the size of the groups and the number of samples",
        header=["data", "against", "ḡ", "n samples", "pairs", "n", *(cost for _, cost in _COSTS), "CPU / proportion"],
        rows=rows,
        notes=[
            f"T = {settings.IMPUTATION_ITERATIONS}, {settings.THREADS} threads, random groups; samples are drawn at "
            "random. Pairs: of a label and a group that has it. The paper says O(n d̄ ḡ log l): the last column is the "
            f"CPU time over the line of proportion through the first point. CPU time grows like {'; '.join(fits)}.",
            *said,
        ],
        record_header=["dataset", "against", "group_size", "n_samples", "n_pairs", "n", "seconds", "cpu_s", "of_line"],
        records=records,
    )


# ---- Memory ----


def memory_table(found: list[Point], said: list[str]) -> Table:
    """What the process grew by, beside the data it holds and a scratch vector; on whole data sets."""
    rows, records = [], []
    whole = [
        one for one in found if one.ok and replace(one.job, threads=settings.THREADS) == Job("impute", one.job.dataset)
    ]
    for one in sorted(whole, key=lambda one: (one.record["data_bytes"], one.job.threads)):
        if "growth_bytes" not in one.figures:
            continue
        bytes_ = [one.record["data_bytes"], one.record["result_bytes"], 8 * one.record["n_features"]]
        growth = one.figures["growth_bytes"].median
        start = [one.job.dataset, str(one.job.threads), str(one.n)]
        rows.append([*start, *(short(value / 1e6) for value in (*bytes_, growth)), f"{growth / bytes_[0]:.2f}"])
        records.append([*start, *bytes_, growth, growth / bytes_[0]])
    return Table(
        title="Imputation: memory",
        header=[
            "data", "threads", "n", "X, Y1 and Y2, MB", "result, MB", "vector of d numbers, MB", "growth, MB",
            "growth / data",
        ],
        rows=rows,
        notes=[
            "Growth is the largest resident memory during `impute_labels` minus that before, when X, Y1 and Y2 are "
            "there already: unit rows, the groups and labels the other way round, scratch, the result.",
            *said,
        ],
        record_header=[
            "dataset", "threads", "n", "data_bytes", "result_bytes", "vector_bytes", "growth_bytes", "growth_of_data",
        ],
        records=records,
    )  # fmt: skip


def make(found: list[Point], is_old: bool) -> dict[str, Table]:
    """{file name: table}; tables without rows included."""
    if not found:
        return {}
    said = job_points.notes(found, is_old)
    return {
        "imputation": cost_table(found, said),
        "imputation_ratios": ratios_table(found, said),
        "imputation_curve": curve_table(found, said),
        "imputation_memory": memory_table(found, said),
    }
