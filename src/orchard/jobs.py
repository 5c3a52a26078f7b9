"""Around a job: its threads, its log, its record. A user's mistake is told in a sentence, not in a traceback."""

import atexit
import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orchard.errors import OrchardError
from orchard.job_records import Stopwatch, record_path, write_record

logger = logging.getLogger("orchard")
NEW_OBJECTS_PER_COLLECTION = 50_000


@contextmanager
def job(task, threads: int | None = None) -> Iterator[logging.Logger]:
    """Log to a file and the screen; on an error end with status 1, its message or its traceback in the log.

    task : what the workflow hands a script: rule, wildcards, params, input, output, log, threads. When all went well,
        its record is written (`orchard.job_records`).
    threads : for libraries that compute, where that is not all that the job claims.
    Import the libraries that compute inside this context: they read their thread counts when they are loaded.
    """
    for library in ("NUMBA", "OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = str(threads or task.threads)
    # numba's or PyTorch's import makes 100,000 objects and more, which all stay: to look for garbage among them every
    # 700, and once more when the process ends, takes a quarter of the import's time.
    gc.set_threshold(NEW_OBJECTS_PER_COLLECTION)
    atexit.register(gc.freeze)
    stopwatch = Stopwatch()
    path = Path(task.log[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    to_file = logging.FileHandler(path, mode="w", encoding="utf-8")
    to_file.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    to_screen = logging.StreamHandler(sys.stderr)
    to_screen.setFormatter(logging.Formatter(f"[{path.stem}] %(message)s"))
    # The workflow prints the log of a failed job: errors go to the file alone, so that nobody reads them twice.
    to_screen.addFilter(lambda record: record.levelno < logging.ERROR)
    logger.setLevel(logging.INFO)
    for handler in (to_file, to_screen):
        logger.addHandler(handler)
    try:
        yield logger
        _leave_record(task, stopwatch)
    except OrchardError as error:
        logger.error("%s", error)
        sys.exit(1)
    except Exception:
        logger.exception("the job failed")
        sys.exit(1)
    finally:
        for handler in (to_file, to_screen):
            logger.removeHandler(handler)
            handler.flush()
        to_file.close()


def _leave_record(task, stopwatch: Stopwatch) -> None:
    """A result is worth more than its record: what hinders the record is told, and the job has ended well.

    Then there is none: that of an earlier job would tell of files that are gone.
    """
    try:
        write_record(task, stopwatch)
    except Exception as error:
        logger.warning("no record of this job: %s: %s", type(error).__name__, error)
        with suppress(OSError):
            record_path(task.log[0]).unlink(missing_ok=True)
