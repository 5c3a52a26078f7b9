"""The measurements of hierarchical softmax as a table, with their bars. It measures nothing."""

from dataclasses import replace

from bench import job_points, settings
from bench.settings import PRECISIONS
from bench.softmax import PROGRAMS, Job
from bench.tables import MET, short
from orchard.report.tables import Table

TITLES = {"orchard": "its own", "orchard-alike": "fastText's"}  # Orchard's tree, and how its vectors begin
PEER = "fasttext"
_COSTS = ("train_s", "train_cpu_s", "features_s", "predict_ms")


def points(records: list[dict], current: str) -> tuple[list[job_points.Point], bool]:
    """The measurements of the softmax to show, and whether they are of an older engine."""
    ours = [record for record in records if "program" in record]
    return job_points.points(ours, current, Job, [*_COSTS, *PRECISIONS])


def make(found: list[job_points.Point], is_old: bool) -> dict[str, Table]:
    """{file name: table}."""
    return {"softmax": softmax_table(found, job_points.notes(found, is_old))} if found else {}


def softmax_table(found: list[job_points.Point], said: list[str]) -> Table:
    """Orchard beside fastText, a line for each data set, number of epochs, and tree and start."""
    by_job = {one.job: one for one in found}
    rows, records = [], []
    for own in sorted(found, key=lambda one: (one.job.dataset, one.job.epochs, PROGRAMS.index(one.job.program))):
        peer = by_job.get(replace(own.job, program=PEER))
        if own.job.program == PEER or peer is None:
            continue
        start = [own.job.dataset, TITLES[own.job.program], str(own.job.epochs), str(min(own.n, peer.n))]
        if not (own.ok and peer.ok):
            rows.append([*start, *[""] * 9, f"failed: {own.reason or peer.reason}"])
            continue
        ours, theirs = ({key: figure.median for key, figure in one.figures.items()} for one in (own, peer))
        times = [one.figures["train_s"] for one in (own, peer)]
        difference = ours["P@1"] - theirs["P@1"]
        ratios = [ours[key] / theirs[key] for key in ("train_s", "train_cpu_s")]
        rows.append([
            *start,
            *("/".join(f"{values[key]:.2f}" for key in PRECISIONS) for values in (ours, theirs)),
            f"{difference:+.2f} {MET[abs(difference) <= settings.SOFTMAX_PRECISION_BAR]}",
            *(f"{short(time.median)} ±{100 * time.spread:.0f} %" for time in times),
            *(f"{ratio:.3f} {MET[ratio <= settings.SOFTMAX_TIME_BAR]}" for ratio in ratios),
            *(f"{values['predict_ms']:.3f}" for values in (ours, theirs)), "",
        ])  # fmt: skip
        costs = [values.get(key, "") for values in (ours, theirs) for key in (*PRECISIONS, *_COSTS)]
        records.append([*start, *costs, difference, *ratios])
    return Table(
        title="Hierarchical softmax beside fastText",
        header=[
            "data", "tree and start", "epochs", "n", "Orchard P@1/3/5", "fastText P@1/3/5", "ΔP@1",
            "Orchard training, s", "fastText training, s", "time ratio", "CPU ratio", "Orchard ms", "fastText ms",
            "remark",
        ],
        rows=rows,
        notes=[
            f"{', '.join(f'{key} {value:g}' for key, value in settings.SOFTMAX.items())}; Huffman trees. One thread "
            "each, the programs in turn; median of n repetitions, which differ in their seeds, ± half of the range. "
            f"The bars: P@1 within {settings.SOFTMAX_PRECISION_BAR} points, a time ratio of at most "
            f"{settings.SOFTMAX_TIME_BAR:g}. ✓ the bar is met, ✗ it is not.",
            "fastText 0.9.2 with one thread gives random values to the first tenth of its input vectors only (its "
            "threads fill a tenth each), Orchard to all; and the two Huffman trees differ in the order of labels that "
            "are equally frequent. The lines with fastText's tree and start do as it does: what is left there is the "
            "training's, the n-grams' and the seeds'.",
            "Training is from the text in a file to the model: fastText reads inside its training, so Orchard's time "
            "has reading, n-grams and the tree in it too. Milliseconds are those of a prediction of the best "
            f"{settings.K}, per sample of the test set, from text. Where data have no text, each feature is a word, "
            "and there are no n-grams.",
            *said,
        ],
        record_header=["dataset", "tree_and_start", "epochs", "n"]
        + [f"{program}_{key}" for program in ("orchard", PEER) for key in (*PRECISIONS, *_COSTS)]
        + ["p1_difference", "time_ratio", "cpu_ratio"],
        records=records,
    )  # fmt: skip
