"""What compilation costs: first fit and first prediction in a fresh process, with an empty and with a filled cache.

`python -m bench.jit fit|predict <folder>` is one such process. `measure` starts them, and times them from outside too:
what a user waits for begins with the interpreter. Nothing of the engine is imported before the inner clock runs.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import settings

_LIMIT = 900  # seconds; compiling everything took 32 in the trials
_PARTS = ("import_s", "work_s", "process_s")


def measure() -> None:
    """Write results/bench/jit.json; a process that fails is a line with its reason."""
    from bench import records
    from bench.measure import environment, run_limited
    from orchard.files import write_json

    lines = []
    with tempfile.TemporaryDirectory(prefix="orchard-jit-") as folder:
        for action, what in (("fit", "import, fit a small problem, predict"), ("predict", "import, load, first query")):
            cache = Path(folder, f"cache-{action}")
            for state, repeats in (("cold", 1), ("warm", settings.REPEATS)):
                print(f"jit: {what}, {state} cache", flush=True)
                found, reason = [], ""
                for _ in range(repeats):
                    command = [sys.executable, "-m", "bench.jit", action, folder]
                    variables = environment(settings.THREADS) | {"NUMBA_CACHE_DIR": str(cache)}
                    started = time.perf_counter()
                    code, reason = run_limited(command, _LIMIT, env=variables)
                    process_s = time.perf_counter() - started
                    if code != 0:
                        break
                    found.append(json.loads(Path(folder, f"{action}.json").read_text()) | {"process_s": process_s})
                lines.append(_line(what, state, found, reason, has_bar=(action, state) == ("predict", "warm")))
    write_json(records.FOLDER / "jit.json", {"lines": lines})


def _line(what, state, found, reason, has_bar):
    """Medians over the processes; the bar is for the whole process."""
    start = {"what": what, "cache": state}
    if not found:
        return start | dict.fromkeys(_PARTS, 0) | {"verdict": f"failed: {reason}"}
    medians = {key: statistics.median(one[key] for one in found) for key in _PARTS}
    met = "met" if medians["process_s"] < settings.WARM_START_BAR else "missed"
    return start | medians | {"verdict": f"{met}: {settings.WARM_START_BAR:g} s" if has_bar else ""}


def run_process(action: str, folder: str) -> None:
    started = time.perf_counter()
    from orchard import XRLinear  # noqa: F401  (this import, with all it brings, is what is timed)

    imported = time.perf_counter()
    from bench.engines import make_engine
    from bench.engines.orchard import small_problem

    wide = next(one for one in settings.CONFIGURATIONS if one.name == "orchard-16-ary")
    engine = make_engine("orchard", wide.settings, settings.THREADS, seed=0)
    X, Y = small_problem()
    model_folder = Path(folder, "model")
    ready = time.perf_counter()
    if action == "fit":
        model = engine.train((X, Y), model_folder)
        engine.predict(model, X, settings.K)
    else:
        engine.ask(engine.load(model_folder), X[0], settings.K)
    result = {"import_s": imported - started, "work_s": time.perf_counter() - ready}
    if action == "fit" and not model_folder.exists():
        engine.save(model, model_folder)
    Path(folder, f"{action}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    run_process(*sys.argv[1:])
