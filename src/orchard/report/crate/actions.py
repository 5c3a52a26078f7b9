"""What happened, as JSON-LD: the run as a whole, every job, and the files that jobs saw and a crate has not."""

from pathlib import PurePosixPath

from orchard.job_records import RECORDS
from orchard.report.crate.contents import Contents, Run, artefacts, configuration, is_inside
from orchard.report.crate.entities import ENGINE, WORKFLOW, id_of, ref, refs, step_id
from orchard.report.effort import end_of
from orchard.report.job_history import Job


def times_of(jobs: list[Job]) -> dict[str, str]:
    """From the start of the first job to the end of the last one."""
    return {
        "startTime": min(job.record["started"] for job in jobs),
        "endTime": max(end_of(job.record) for job in jobs),
    }


def action_entities(run: Run, jobs: list[Job], contents: Contents) -> list[dict]:
    """The run as a whole, the engine at work, and every job with the step that it was an execution of."""
    values = [f"#value/{name}" for name in sorted(run.parameters)]
    whole = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"All artefacts at the scale {run.shown}",
        "description": "From the start of the first job to the end of the last one; there may be days in between.",
        "instrument": ref(WORKFLOW),
        "object": refs([*values, *map(id_of, configuration(contents))]),
        "result": refs(map(id_of, artefacts(run, contents))),
        **times_of(jobs),
    }
    engine = {
        "@id": "#engine-run",
        "@type": "OrganizeAction",
        "name": f"Snakemake {run.engine_version}",
        "instrument": ref(ENGINE),
        "object": refs(_control_id(job) for job in jobs),
        "result": ref("#run"),
        **times_of(jobs),
    }
    return [whole, engine, *(entity for job in jobs for entity in _job_actions(run, job, contents))]


def action_id(job: Job) -> str:
    return f"#job/{id_of(_name(job))}"


def _control_id(job: Job) -> str:
    return f"#step-of/{id_of(_name(job))}"


def _name(job: Job) -> str:
    """The place of its record among all of them."""
    return str(PurePosixPath(job.path).relative_to(RECORDS.as_posix()).with_suffix(""))


def _job_actions(run: Run, job: Job, contents: Contents) -> list[dict]:
    record = job.record
    action = {
        "@id": action_id(job),
        "@type": "CreateAction",
        "name": f"{record['rule']}: {_name(job)}",
        "description": _surroundings(record),
        "instrument": ref(id_of(run.steps[record["rule"]]["script"])),
        "object": refs(_known_by(path, sha256, contents) for path, sha256 in sorted(record["inputs"].items())),
        "result": refs(_known_by(path, sha256, contents) for path, sha256 in sorted(record["outputs"].items())),
        **times_of([job]),
    }
    if job.path in contents.files:
        action["subjectOf"] = ref(id_of(job.path))
    control = {
        "@id": _control_id(job),
        "@type": "ControlAction",
        "name": f"{record['rule']} orchestrated",
        "instrument": ref(step_id(record["rule"])),
        "object": ref(action_id(job)),
    }
    return [action, control]


def _surroundings(record: dict) -> str:
    """Which code, on what machine, with what effort; the record has more."""
    commit = (
        f"commit {record['commit']}{', edited since' if record['edited'] else ''}" if record["commit"] else "no commit"
    )
    machine, threads = record["machine"], record["threads"]
    where = f"{machine['processor'] or machine['architecture']}, {machine['system']}"
    effort = f"{record['cpu_seconds']:g} s of CPU, {threads} thread{'' if threads == 1 else 's'}"
    return f"{commit}; Python {record['versions']['python']}; {where}; {effort}"


def _known_by(path: str, sha256: str, contents: Contents) -> str:
    """The id of a file in the crate or, where it is not in there as the job saw it, of an entity with its hash."""
    if contents.hashes.get(path) == sha256:
        return id_of(path)
    return f"#{id_of(_shown_path(path))}@{sha256[:12]}"


def _shown_path(path: str) -> str:
    return path if is_inside(path) else PurePosixPath(path).name


def absent_file_entities(jobs: list[Job], contents: Contents) -> list[dict]:
    """Files and folders that jobs read or wrote, and that are not included."""
    seen = {pair for job in jobs for kind in ("inputs", "outputs") for pair in job.record[kind].items()}
    return [
        {
            "@id": identifier,
            "@type": "CreativeWork",
            "name": _shown_path(path),
            "description": "Not included; of a folder, sha256 is that of the names and hashes of its files.",
            "sha256": sha256,
        }
        for path, sha256 in sorted(seen)
        if (identifier := _known_by(path, sha256, contents)).startswith("#")
    ]
