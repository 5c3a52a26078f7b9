"""Write a crate: its files and what describes them, in a zip that depends on nothing else."""

import json
import logging
import zipfile

from orchard.files import atomic_file
from orchard.report.crate.contents import Run, artefacts, contents_of, jobs_behind
from orchard.report.crate.metadata import METADATA, crate_metadata

logger = logging.getLogger("orchard")

A_DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the zip; nobody's clock matters


def write_crate(path, run: Run) -> None:
    """Write the zip; the log tells what is in it, and how many records did not fit any more."""
    jobs, stale = jobs_behind(run)
    contents = contents_of(run, jobs)
    metadata = json.dumps(crate_metadata(run, jobs, contents), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_file(path) as temporary:
        write_zip(temporary, contents.files | {METADATA: metadata.encode()})
    logger.info("packed at the scale %s: files: %d, jobs: %d", run.shown, len(contents.files), len(jobs))
    if stale:
        logger.info("stale records left out, whose files have changed or are gone, or whose rule is: %d", stale)
    made = {output for job in jobs for output in job.record["outputs"]}
    if unexplained := [path for path in artefacts(run, contents) if path not in made]:
        logger.info("artefacts that no record tells the origin of: %d (%s, …)", len(unexplained), unexplained[0])


def write_zip(path, files: dict[str, bytes]) -> None:
    """The same files give the same bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, A_DAY)
            info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(info, files[name])
