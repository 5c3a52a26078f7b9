"""Summaries as tables: what people read, and under it the rule by which it was made."""

import statistics

from bench import settings, summary
from bench.settings import FAMILIES, PRECISIONS, QUANTITIES
from bench.summary import Difference, Ratio, Summary
from orchard.report.tables import Table

MET = {True: "✓", False: "✗", None: ""}


def figures_table(summaries: list[Summary], machine: dict) -> Table:
    """Every engine on every data set."""
    rows, records = [], []
    for one in summaries:
        start = [one.dataset, one.configuration.title, FAMILIES[one.configuration.family]]
        if not one.ok:
            rows.append([*start, "0", *[""] * (len(QUANTITIES) + 3), f"failed: {one.reason}"])
            records.append([*start, 0, *[""] * (3 * len(QUANTITIES) + 7), one.reason])
            continue
        figures = [(one.figures[quantity.key], quantity.scale) for quantity in QUANTITIES]
        cells = [f"{short(figure.median * scale)} ±{100 * figure.spread:.0f} %" for figure, scale in figures]
        rows.append(
            [*start, str(one.n), *cells, *(f"{one.precision[key]:.2f}" for key in PRECISIONS), _remark(one, summaries)]
        )
        values = [v * scale for figure, scale in figures for v in (figure.median, figure.low, figure.high)]
        others = [one.figures[key].median for key in ("read_s", "save_s", "load_s")]
        before = one.figures["memory_before_bytes"].median * 1e-6
        records.append([*start, one.n, *values, *others, before, *one.precision.values(), _remark(one, summaries)])
    header = [f"{quantity.title}, {quantity.unit}" for quantity in QUANTITIES]
    machine_text = ", ".join(f"{key} {value}" for key, value in machine.items())
    return Table(
        title="Cost and accuracy",
        header=["data", "engine", "settings", "n", *header, *PRECISIONS, "remark"],
        rows=rows,
        notes=[
            f"{settings.THREADS} threads; median of n repetitions, ± half of the range. Every repetition is a process "
            "(training) and another one (loading, prediction); the repetitions of all engines are interleaved and "
            "differ in their seeds; P@k, in per cent, is their mean. Leaf 100, beam 10, C = 1, weights below 0.1 "
            "dropped.",
            "Training is embeddings, tree and solver, without reading (fastText: with it). Batch is the whole test "
            "set, best 5, per sample. A single query goes through the public API of each engine. Peak memory is that "
            "of the whole process, interpreter and data included; the CSV file has what it was before training.",
            f"Machine: {machine_text}. {load_note(summaries)}",
        ],
        record_header=[
            "dataset", "engine", "settings", "n",
            *(f"{quantity.key.removesuffix('_bytes')}{'_mb' if quantity.unit == 'MB' else ''}{end}"
              for quantity in QUANTITIES for end in ("", "_min", "_max")),
            "read_s", "save_s", "load_s", "memory_before_mb", *PRECISIONS, "remark",
        ],
        records=records,
    )  # fmt: skip


def load_note(summaries: list[Summary]) -> str:
    load = max((one.load_average for one in summaries), default=0.0)
    return (
        f"The largest load average at the start of a measurement was {load:.1f}; the bench's own measurements before "
        f"make up to {settings.THREADS} of that, what is above came from others."
    )


def apart_note(summaries: list[Summary]) -> str | None:
    """What has to be said under a comparison, if anything."""
    datasets = summary.measured_apart(summaries)
    if not datasets:
        return None
    return (
        f"On {', '.join(datasets)} Orchard and its peers were not measured in the same run, so not interleaved: what "
        "the machine did besides may differ."
    )


def _remark(one: Summary, summaries: list[Summary]) -> str:
    if one.configuration.is_orchard:
        return ""
    is_comparable = one in summary.comparable(summary.rivals(one, summaries))
    return "" if is_comparable else "not comparable: less accurate"


def ratios_table(ratios: list[Ratio]) -> Table:
    """Orchard over the best comparable peer; the CSV file names that peer."""
    lines, records = {}, []
    for ratio in ratios:
        one, quantity = ratio.orchard, ratio.quantity
        start = (one.dataset, one.configuration.title, FAMILIES[one.configuration.family])
        lines.setdefault(start, []).append(f"{ratio.value:.3g} {MET[ratio.met]}".strip())
        medians = [side.figures[quantity.key].median * quantity.scale for side in (one, ratio.peer)]
        met = "" if ratio.met is None else ratio.met
        peer = f"{ratio.peer.configuration.title} ({ratio.peer.configuration.family})"
        bar = "" if quantity.bar is None else quantity.bar
        records.append([*start, quantity.title, quantity.unit, *medians, peer, ratio.value, bar, met])
    bars = [f"{one.title}{f' (≤ {one.bar:g})' if one.bar else ''}" for one in QUANTITIES]
    return Table(
        title="Orchard as a multiple of the best peer",
        header=["data", "engine", "settings", *bars],
        rows=[[*start, *cells] for start, cells in lines.items()],
        notes=[
            "✓ the bar in the column's head is met, ✗ it is not. The best peer is chosen column by column among the "
            "peers with as many trees, of any arity, that are comparable: their mean P@1/3/5 on the data set is at "
            f"most {settings.COMPARABLE_POINTS:g} points below that of the most accurate peer. ratios.csv names it."
        ],
        record_header=[
            "dataset", "engine", "settings", "quantity", "unit", "orchard", "best_peer_value", "best_peer", "ratio",
            "bar", "met",
        ],
        records=records,
    )  # fmt: skip


def accuracy_table(differences: list[Difference]) -> Table:
    rows, records = [], []
    for one in differences:
        start = [one.orchard.dataset, one.orchard.configuration.title, FAMILIES[one.orchard.configuration.family]]
        rows.append([*start, one.other, *(f"{points:+.2f}" for points in one.points), f"{one.bar:g}", one.verdict])
        records.append([*start, one.other, *one.points, one.bar, one.verdict])
    return Table(
        title="Orchard's accuracy minus that of others with the same settings, in points",
        header=["data", "engine", "settings", "minus", *PRECISIONS, "bar", "verdict"],
        rows=rows,
        notes=[
            "`below`: at least one of the three is further below than the bar; `above`: none is, but one is above it."
        ],
        record_header=["dataset", "engine", "settings", "minus", *PRECISIONS, "bar", "verdict"],
        records=records,
    )


def same_trees_table(measured: dict | None, editions: dict[str, str]) -> Table:
    """PECOS, Orchard on the same trees, Orchard on its own; means over the seeds.

    editions : {configuration: what it is today}.
    """
    groups, rows, records = {}, [], []
    pairs = [(dataset, peer, own) for dataset in settings.PEER_DATASETS for peer, own in settings.SAME_TREES]
    is_old = False
    for one in (measured or {}).get("lines", []):
        pair = one["dataset"], one["peer"], one["orchard"]
        if pair in pairs:
            groups.setdefault(pair, []).append(one)
            is_old |= one["editions"] != [editions[name] for name in pair[1:]]
    families = {configuration.name: FAMILIES[configuration.family] for configuration in settings.CONFIGURATIONS}
    for (dataset, _, own), lines in sorted(groups.items(), key=lambda group: pairs.index(group[0])):
        good = [line for line in lines if "reason" not in line]
        failed = [line["reason"] for line in lines if "reason" in line]
        remark = f"{len(failed)} failed: {failed[0]}" if failed else ""
        start = [dataset, families[own], str(len(good))]
        if not good:
            rows.append([*start, *[""] * 7, remark])
            continue
        pecos = [f"{statistics.fmean(line['pecos'][k] for line in good):.2f}" for k in range(3)]
        points = [
            [mean_and_error([line[key][k] - line["pecos"][k] for line in good]) for k in range(3)]
            for key in ("same", "own")
        ]
        rows.append([*start, " / ".join(pecos), *points[0], *points[1], remark])
        records += [[dataset, families[own], one["seed"], *one["pecos"], *one["same"], *one["own"]] for one in good]
    notes = [
        "Points of P@k, mean over the seeds ± its standard error. On PECOS's own trees only the solver and the search "
        "differ; own trees differ in the random start of 2-means, too, and in all that follows from it."
    ]
    if is_old:
        notes.append("Some of it was measured before the last edit of the engine's sources or of the bench.")
    header = ["data", "settings", "seeds", "PECOS, P@1 / P@3 / P@5"]
    header += [f"{trees}, {key}" for trees in ("on its trees", "on own trees") for key in PRECISIONS] + ["remark"]
    sides = ("PECOS", "Orchard on its tree", "Orchard on its own tree")
    record_header = ["dataset", "settings", "seed", *(f"{side}, {key}" for side in sides for key in PRECISIONS)]
    title = "Orchard minus PECOS, on PECOS's trees and on its own"
    return Table(title, header, rows, notes, record_header, records)


def mean_and_error(values: list[float]) -> str:
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):+.2f}{error}"


def threads_table(summaries: list[Summary]) -> Table:
    """One thread and two: time, and whether the model is the same."""
    found = {(one.dataset, one.configuration.name, one.threads): one for one in summaries if one.ok}
    rows, records = [], []
    for (dataset, name, threads), two in found.items():
        one = found.get((dataset, name, 1))
        if threads != settings.THREADS or one is None:
            continue
        is_large = dataset in settings.LARGER_DATASETS
        cells, values = [], []
        for key in ("train_s", "batch_ms"):
            before, after = one.figures[key].median, two.figures[key].median
            met = before / after >= settings.SPEED_UP_BAR if is_large else None
            cells += [short(before), short(after), f"{before / after:.2f} {MET[met]}".strip()]
            values += [before, after, before / after]
        n_models, same = summary.same_models(one, two)
        same_text = f"{'yes' if same else 'NO'}, {n_models} models"
        rows.append([dataset, two.configuration.title, *cells, same_text, f"{one.n} / {two.n}"])
        records.append([dataset, two.configuration.title, *values, n_models, same, one.n, two.n])
    return Table(
        title="One thread and two",
        header=[
            "data", "engine", "training, 1 thread, s", "2 threads, s", "speed-up", "batch, 1 thread, ms",
            "2 threads, ms", "speed-up", "same model", "n",
        ],
        rows=rows,
        notes=[
            f"Bar on the larger sets ({', '.join(settings.LARGER_DATASETS)}): a speed-up of {settings.SPEED_UP_BAR}. "
            "Same model: the saved files of one seed have the same SHA-256 with one thread, with two, and in a second "
            "run. n: repetitions with one thread and with two. " + load_note(summaries),
        ],
        record_header=[
            "dataset", "engine", "train_s_1", "train_s_2", "train_speed_up", "batch_ms_1", "batch_ms_2",
            "batch_speed_up", "n_models", "same_model", "n_1", "n_2",
        ],
        records=records,
    )  # fmt: skip


def labels_table(summaries: list[Summary]) -> Table:
    """Cost against the number of labels, with the fits as notes."""
    rows, records, notes = [], [], []
    for points in summary.curve(summaries).values():
        title = points[0].configuration.title
        for one in points:
            n_labels = settings.CURVE_DATASETS[one.dataset]
            keys = ("train_s", "train_cpu_s", "batch_ms", "single_median_ms")
            values = [one.figures[key].median for key in keys]
            memory = [one.figures[key].median for key in ("train_peak_bytes", "predict_peak_bytes", "model_bytes")]
            records.append([title, one.dataset, n_labels, one.n, *values, *memory, *one.precision.values()])
            cells = [*map(short, values), *(short(value * 1e-6) for value in memory)]
            precisions = (f"{one.precision[key]:.2f}" for key in PRECISIONS)
            rows.append([title, one.dataset, f"{n_labels:,}", str(one.n), *cells, *precisions])
        notes.append(f"{title}: {_describe_fits(points)} {_describe_memory(points)}")
    notes.append(
        "The curve's data sets differ in their labels and rows alike (rows / labels = 0.73) and have the same "
        f"features. {load_note(summaries)}"
    )
    return Table(
        title="Cost against the number of labels (simulated data)",
        header=[
            "engine", "data", "labels", "n", "training, s", "training CPU, s", "batch, ms", "single query, ms",
            "peak memory, training, MB", "peak memory, prediction, MB", "model, MB", *PRECISIONS,
        ],
        rows=rows,
        notes=notes,
        record_header=[
            "engine", "dataset", "n_labels", "n", "train_s", "train_cpu_s", "batch_ms", "single_median_ms",
            "train_peak_bytes", "predict_peak_bytes", "model_bytes", *PRECISIONS,
        ],
        records=records,
    )  # fmt: skip


def _describe_memory(points):
    """The verdict on the limit, which is for the largest data set of all, not for the largest that was measured."""
    limit = f"limit of {settings.MEMORY_LIMIT / 1e9:g} GB"
    largest = max(settings.CURVE_DATASETS, key=settings.CURVE_DATASETS.get)
    one = next((one for one in points if one.dataset == largest), None)
    if one is None:
        return f"Memory on {largest} was not measured ({limit})."
    peak = max(one.figures[key].high for key in ("train_peak_bytes", "predict_peak_bytes"))
    verdict = "met ✓" if peak <= settings.MEMORY_LIMIT else "missed ✗"
    return f"Memory on {largest}: at most {peak / 1e9:.1f} GB; {limit} {verdict}."


def _describe_fits(points):
    labels = [settings.CURVE_DATASETS[one.dataset] for one in points]
    sentences = []
    for key, what in (("train_s", "training"), ("train_cpu_s", "training CPU")):
        costs = [one.figures[key].median for one in points]
        exponent = summary.fit_exponent(labels, costs)
        reference = summary.fit_exponent(labels, [summary.l_log_l(n) for n in labels])
        factor, worst = summary.fit_l_log_l(labels, costs)
        verdict = "not faster than L log L" if exponent <= reference else "faster than L log L"
        sentences.append(
            f"{what} grows like L^{exponent:.2f} (L log L: L^{reference:.2f} over the same range; {verdict}), "
            f"{factor * 1e6:.2f} µs · L log2 L within a factor of {worst:.2f}"
        )
    return "; ".join(sentences) + "."


def jit_table(measured: dict | None) -> Table:
    """What the just-in-time compiler costs, which is in no other table."""
    rows = [
        [one["what"], one["cache"], *(short(one[key]) for key in ("import_s", "work_s", "process_s")), one["verdict"]]
        for one in (measured or {}).get("lines", [])
    ]
    return Table(
        title="Compilation",
        header=["what", "cache", "import, s", "then, s", "whole process, s", "bar"],
        rows=rows,
        notes=[
            "A cold cache is an empty NUMBA_CACHE_DIR; a warm one is what the first process has left there. Each line "
            f"is a process of its own, the warm ones the median of {settings.REPEATS}. The whole process is timed from "
            "outside, from its start to its end: the interpreter, numpy and scipy are in it. The bar is for that."
        ],
        record_header=["what", "cache", "import_s", "then_s", "process_s", "bar"],
        records=rows,
    )


def limits_table(measured: dict | None) -> Table:
    """How far the hot kernels are from what one core of the machine can do."""
    rows = []
    for one in (measured or {}).get("lines", []):
        copy, dot, gather = (
            f"{100 * one[key]:.0f} %" if key in one else "" for key in ("of_copy", "of_dot", "of_gather")
        )
        rates = short(one["gb_per_s"]), short(one["gmadd_per_s"])
        rows.append([one["name"], rates[0], copy, rates[1], dot, gather, one["note"]])
    return Table(
        title="The machine's limits, one core",
        header=[
            "kernel", "GB/s", "of the copy", "10⁹ multiply-adds/s", "of the dot product", "of the indexed one",
            "remark",
        ],
        rows=rows,
        notes=[
            "The first lines are the limits, measured in the same run as the kernels below them. A kernel whose "
            "working set fits a cache may move more bytes than the copy, which fits none."
        ],
        record_header=["kernel", "gb_per_s", "of_copy", "gmadd_per_s", "of_dot", "of_gather", "remark"],
        records=rows,
    )  # fmt: skip


def short(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"
