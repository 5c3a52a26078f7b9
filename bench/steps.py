"""A training step of OTSeq2Set beside those of its baselines, and with its losses one sample after the other.

Methods and their sizes are those of config/methods; methods take turns on the same batches (`orchard.neural.seq2set.
step_times`). Needs PyTorch.
"""

import os
from importlib.util import find_spec

from bench import data, records, settings
from bench.tables import MET, short
from orchard.config import load_folder, with_likes
from orchard.data.store import load_dataset
from orchard.data.word_vectors import load_word_vectors
from orchard.files import read_json, write_json
from orchard.methods import make_estimator
from orchard.provenance import source_hash
from orchard.report.tables import Table
from orchard.report.training_table import OVER_PLAIN, OWN, STEP, STEP_WORDS, of_step

FILE = records.FOLDER / "steps.json"
BESIDE = {"sgm": "seq2seq", "bm-all-ot": "seq2seq", "bm-all-ot-lc": "seq2seq-lc"}  # the teacher-forced one


def plan(only) -> list[dict]:
    """The sizes that are measured: of settings.STEP_SIZES those on data sets that are asked for."""
    if find_spec("torch") is None:
        print("steps: left out, PyTorch is not installed", flush=True)
        return []
    return [one for one in settings.STEP_SIZES if only is None or one["dataset"] in only]


def measure(sizes: list[dict], fresh: bool) -> None:
    """Write results/bench/steps.json. What is there is kept, and not measured twice."""
    known = {one["size"]: one for one in (read_json(FILE) if FILE.is_file() else [])}
    for one in sizes:
        if fresh or known.get(one["size"], {}).get("edition") != edition(one):
            print(f"steps: {one['size']}", flush=True)
            known[one["size"]] = {"edition": edition(one)} | measure_size(**one)
            write_json(FILE, list(known.values()))


def edition(size: dict) -> str:
    """The networks, their settings, and how they are measured; a record of another edition is not one of this."""
    networks = source_hash(records.ROOT / "src/orchard/neural/seq2set/step_times.py")[:12]
    estimators = estimators_of(size["dataset"], size["parameters"])
    measuring = records.digest_of_code([records.ROOT / "bench/steps.py"])
    return records.edition_of_settings(size | {"estimators": estimators}, networks, measuring)


def current_editions() -> dict[str, str]:
    """{size: the edition that would be measured today}."""
    return {one["size"]: edition(one) for one in settings.STEP_SIZES}


def estimators_of(dataset: str, parameters: dict) -> dict[str, tuple[str, dict]]:
    """{method: its estimator's name, its parameters on the data set}, the given ones before those of config/methods."""
    folder = records.ROOT / "config"
    methods = with_likes(load_folder(folder / "methods", folder / "schemas/method.schema.yaml"))
    found = {}
    for name in settings.STEP_METHODS:
        own = methods[name].get("parameters", {}) | methods[name]["per_dataset"].get(dataset, {}) | parameters
        found[name] = methods[name]["estimator"], own
    return found


def measure_size(size: str, dataset: str, steps: int, parameters: dict, vectors: str | None) -> dict:
    from orchard.neural.seq2set.step_times import measure_steps, steppers_of

    steppers = []
    for name, (estimator_name, own) in estimators_of(dataset, parameters).items():
        estimator, _ = make_estimator(estimator_name, own, seed=0, threads=1)
        steppers += steppers_of(name, estimator)
    if vectors:
        data.make(f"results/word-vectors/{vectors}")
    words = load_word_vectors(records.ROOT / "results/word-vectors" / vectors) if vectors else None
    load = os.getloadavg()[0]
    found = measure_steps(load_dataset(data.PREPARED / dataset), steppers, words, steps)
    return {"size": size, "dataset": dataset, "load_average": load, "steps": found}


def table(measured: list[dict] | None, current: dict[str, str]) -> Table:
    """Milliseconds of a step, and the ratios with their bars.

    measured : what results/bench/steps.json holds.  current : {size: the edition that would be measured today}.
    """
    parts = ("matching", "transport")
    made = Table(
        title="A training step of OTSeq2Set, one thread",
        header=["size", "method", "loss", STEP, *(f"{part} (ms)" for part in parts), *settings.STEP_BARS],
        rows=[],
        record_header=["size", "method", "loss", "step_ms", *(f"{part}_ms" for part in parts), *settings.STEP_BARS],
    )
    for one in measured or []:
        timed = {(step["method"], step["loss"]): step for step in one["steps"]}
        for (method, loss), step in timed.items():
            values = of_step(timed, method, loss, BESIDE.get(method))
            took = [step[f"{part}_ms"] for part in parts]
            is_judged = loss == OWN and OVER_PLAIN in values  # OTSeq2Set's own loss
            bars = settings.STEP_BARS if is_judged else dict.fromkeys(settings.STEP_BARS)
            cells = [_cell(values.get(column), bar) for column, bar in bars.items()]
            start = [one["size"], method, loss]
            made.rows.append([*start, short(values[STEP]), *(short(ms) if ms else "" for ms in took), *cells])
            made.records.append(
                [*start, values[STEP], *took, *(values.get(column, "") for column in settings.STEP_BARS)]
            )
    if made.rows:
        busiest = max(one["load_average"] for one in measured)
        told = ", ".join(f"{column} ≤ {bar:g}" for column, bar in settings.STEP_BARS.items())
        made.notes = [
            "Medians over the steps after some to warm up; methods take turns on the same batches. Loss 'sample by "
            "sample' is the authors' way: an assignment by SciPy and a transport plan by numpy, one sample after "
            f"the other. {STEP_WORDS} Bars: {told}. Load average at most {busiest:.1f}."
        ]
        if old := [one["size"] for one in measured if one.get("edition") != current.get(one["size"])]:
            made.notes.append(f"Measured before the last edit of the networks or of the bench: {'; '.join(old)}.")
    return made


def _cell(value: float | None, bar: float | None) -> str:
    """bar : None for what is not held to it."""
    return "" if value is None else f"{value:.3g} {MET[value <= bar] if bar else ''}".strip()
