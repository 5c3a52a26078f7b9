"""A run as a Provenance Run Crate: one zip with the workflow, its results, and which job made which file from which.

The crate follows RO-Crate 1.1, Workflow RO-Crate 1.0 and the Workflow Run profiles 0.5 (process, workflow, provenance;
https://w3id.org/ro/wfrun/provenance). It is made from the records of jobs (`orchard.job_records`): those of a scale's
artefacts, of what these were made from, and so on. A record that does not fit the files any more is left out. Data is
named by its hash and not included, for its size and its licences. The same files and records give the same bytes.
"""

import hashlib
import json
import logging
import zipfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import yaml

from orchard.errors import OrchardError
from orchard.files import atomic_file, read_json
from orchard.job_records import RECORDS, sha256_of

logger = logging.getLogger("orchard")

CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
METADATA, WORKFLOW, ENGINE = "ro-crate-metadata.json", "Snakefile", "https://snakemake.readthedocs.io/"
LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
RO_CRATE = "https://w3id.org/ro/crate/1.1"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
RUN_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    WORKFLOW_CRATE: "Workflow RO-Crate",
}
BIOSCHEMAS = "https://bioschemas.org/profiles"
WORKFLOW_PROFILE, PARAMETER_PROFILE = (
    f"{BIOSCHEMAS}/{name}/1.0-RELEASE" for name in ("ComputationalWorkflow", "FormalParameter")
)
# What one needs to run it again, beside data.
SOURCES = (
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "Snakefile",
    "config/**/*",
    "environment.yml",
    "profiles/**/*",
    "pyproject.toml",
    "requirements*.txt",
    "rules/**/*",
    "src/orchard/**/*",
    "workflow_scripts/*.py",
)
DATA_FOLDERS = tuple(f"results/{name}/" for name in ("raw", "data", "word-vectors"))
ARTEFACTS = "results/artefacts"
FORMATS = {
    ".cff": "application/yaml",
    ".css": "text/css",
    ".csv": "text/csv",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".png": "image/png",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
A_DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the zip; nobody's clock matters
KEPT_IN_URIS = "/@+=,"  # letters that a path may have in a URI as they are


@dataclass(frozen=True)
class Run:
    """What is to be packed. root : the folder of the workflow, to which all paths in records are relative.

    shown : the scale, or what else the folder of the artefacts is called.  steps : {rule: {"script": path, "purpose":
    sentence}}.  parameters : {name: value} of what the user chose.  engine_version : of Snakemake.
    """

    root: Path
    shown: str
    steps: dict[str, dict]
    parameters: dict[str, str]
    engine_version: str


@dataclass(frozen=True)
class Job:
    """A finished job: the place of its record, and what stands there."""

    path: str
    record: dict

    @property
    def name(self) -> str:
        return str(PurePosixPath(self.path).relative_to(RECORDS.as_posix()).with_suffix(""))

    @property
    def action(self) -> str:
        return f"#job/{quote(self.name, safe=KEPT_IN_URIS)}"

    @property
    def ended(self) -> str:
        return (datetime.fromisoformat(self.record["started"]) + timedelta(seconds=self.record["seconds"])).isoformat(
            timespec="seconds"
        )


@dataclass
class Contents:
    """The files of a crate as bytes, by their path, with their hashes."""

    files: dict[str, bytes] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)

    def add(self, root: Path, path: str) -> None:
        if path not in self.files:
            self.files[path] = (root / path).read_bytes()
            self.hashes[path] = hashlib.sha256(self.files[path]).hexdigest()


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
    if unexplained := [path for path in _artefacts(run, contents) if path not in made]:
        logger.info("artefacts that no record tells the origin of: %d (%s, …)", len(unexplained), unexplained[0])


def jobs_behind(run: Run) -> tuple[list[Job], int]:
    """The jobs that made the artefacts, and what they were made from; the number of stale records met on the way."""
    records = sorted((run.root / RECORDS).rglob("*.json"))
    jobs = [Job(path.relative_to(run.root).as_posix(), read_json(path)) for path in records]
    maker = {output: job for job in jobs for output in job.record["outputs"]}
    wanted = [output for output in maker if output.startswith(f"{ARTEFACTS}/{run.shown}/")]
    met: dict[str, tuple[Job, bool]] = {}
    while wanted:
        job = maker.get(wanted.pop())
        if job and job.path not in met:
            met[job.path] = job, fits(run, job)
            wanted += job.record["inputs"] if met[job.path][1] else []
    fitting = [job for job, is_fresh in met.values() if is_fresh]
    if not fitting:
        raise OrchardError(
            f"{RECORDS}: no record fits the files in {ARTEFACTS}/{run.shown}: "
            "run `snakemake reproduce-all --forceall` once, so that every job leaves one"
        )
    return sorted(fitting, key=lambda job: job.path), len(met) - len(fitting)


def fits(run: Run, job: Job) -> bool:
    """Whether a record still tells the truth about the files that are there; its rule must be known, too."""
    outputs = job.record["outputs"].items()
    return job.record["rule"] in run.steps and all(
        (run.root / path).exists() and sha256_of(run.root / path) == expected for path, expected in outputs
    )


def contents_of(run: Run, jobs: list[Job]) -> Contents:
    """The workflow, all artefacts, what was measured, and the records; no data, no models."""
    contents = Contents()
    for pattern in (*SOURCES, f"{ARTEFACTS}/{run.shown}/*"):
        for path in sorted(run.root.glob(pattern)):
            inside = path.relative_to(run.root)
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in inside.parts):
                contents.add(run.root, inside.as_posix())
    for job in jobs:
        for output in job.record["outputs"]:
            if output.endswith(".json") and not output.startswith(DATA_FOLDERS) and is_inside(output):
                contents.add(run.root, output)
        if all(map(is_inside, (*job.record["inputs"], *job.record["outputs"]))):
            contents.add(run.root, job.path)
    return contents


def is_inside(path: str) -> bool:
    """Whether a path stays within the workflow's folder; others would tell about somebody's machine."""
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def write_zip(path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, A_DAY)
            info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(info, files[name])


def crate_metadata(run: Run, jobs: list[Job], contents: Contents) -> dict:
    """The content of ro-crate-metadata.json: all entities, each once, in a fixed order."""
    about = yaml.safe_load(contents.files["CITATION.cff"])
    entities: dict[str, dict] = {}
    for entity in (
        _descriptor(),
        _root(run, jobs, contents, about),
        *_profiles(),
        *_people(about),
        *_papers(about),
        *_workflow(run, jobs, contents, about),
        *_parameters(run, contents),
        *(_file(path, run, jobs, contents, about) for path in sorted(contents.files) if path != WORKFLOW),
        *_actions(run, jobs, contents),
        *_absent_files(jobs, contents),
    ):
        entities.setdefault(entity["@id"], {key: value for key, value in entity.items() if value != []})
    return {"@context": CONTEXT, "@graph": list(entities.values())}


def _id(path: str) -> str:
    return quote(path, safe=KEPT_IN_URIS)


def _ref(identifier: str) -> dict:
    return {"@id": identifier}


def _refs(identifiers) -> dict | list[dict]:
    """Several references, each once; RO-Crate wants a single one without a list around it."""
    references = [_ref(identifier) for identifier in dict.fromkeys(identifiers)]
    return references[0] if len(references) == 1 else references


def _descriptor() -> dict:
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": _ref("./"),
        "conformsTo": _refs([RO_CRATE, WORKFLOW_CRATE]),
    }


def _root(run: Run, jobs: list[Job], contents: Contents, about: dict) -> dict:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{about['title']} ({run.shown})",
        "description": f"All tables and figures at the scale {run.shown}, what was measured for them, the workflow "
        f"that made them, and the records of its {len(jobs)} jobs. Data sets, label trees and models are named by "
        "their SHA-256 and not included.",
        "datePublished": max(job.ended for job in jobs)[:10],
        "license": _ref(_licence(about)),
        "author": _refs(_author_id(author) for author in about["authors"]),
        "citation": _refs(_paper_id(paper) for paper in about["references"]),
        "conformsTo": _refs(RUN_PROFILES),
        "hasPart": _refs(map(_id, sorted(contents.files))),
        "mainEntity": _ref(WORKFLOW),
        "mentions": _refs(["#run", "#engine-run", *(job.action for job in jobs)]),
    }


def _profiles() -> list[dict]:
    names = {RO_CRATE: "RO-Crate"} | RUN_PROFILES
    names |= {WORKFLOW_PROFILE: "Bioschemas ComputationalWorkflow", PARAMETER_PROFILE: "Bioschemas FormalParameter"}
    return [
        {"@id": url, "@type": "CreativeWork", "name": name, "version": url.rpartition("/")[2]}
        for url, name in names.items()
    ]


def _licence(about: dict) -> str:
    return f"https://spdx.org/licenses/{about['license']}"


def _author_id(author: dict) -> str:
    name = author.get("name") or f"{author['given-names']} {author['family-names']}"
    return f"#{quote(name.replace(' ', '-'))}"


def _paper_id(paper: dict) -> str:
    return f"#{quote(paper['title'].replace(' ', '-'))}"


def _people(about: dict) -> list[dict]:
    """Authors of this software and of the papers, and the licence."""
    people = [{"@id": _licence(about), "@type": "CreativeWork", "name": about["license"]}]
    for author in [*about["authors"], *(author for paper in about["references"] for author in paper["authors"])]:
        if "name" in author:
            people.append({"@id": _author_id(author), "@type": "Organization", "name": author["name"]})
        else:
            names = {"givenName": author["given-names"], "familyName": author["family-names"]}
            people.append(
                {"@id": _author_id(author), "@type": "Person", "name": " ".join(names.values()), **names},
            )
    return people


def _papers(about: dict) -> list[dict]:
    entities = []
    for paper in about["references"]:
        volume = f"#{quote(paper['collection-title'].replace(' ', '-'))}"
        entities.append({"@id": volume, "@type": "PublicationVolume", "name": paper["collection-title"]})
        entities.append(
            {
                "@id": _paper_id(paper),
                "@type": "ScholarlyArticle",
                "name": paper["title"],
                "author": _refs(map(_author_id, paper["authors"])),
                "datePublished": str(paper["year"]),
                "isPartOf": _ref(volume),
            }
        )
    return entities


def _scripts(run: Run, jobs: list[Job]) -> list[str]:
    return sorted({run.steps[job.record["rule"]]["script"] for job in jobs})


def _workflow(run: Run, jobs: list[Job], contents: Contents, about: dict) -> list[dict]:
    """The Snakefile with its steps, one for every rule that ran; the language, and the engine that reads it."""
    rules = sorted({job.record["rule"] for job in jobs})
    main = _described(WORKFLOW, contents) | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": about["title"],
        "version": str(about["version"]),
        "author": _refs(map(_author_id, about["authors"])),
        "license": _ref(_licence(about)),
        "conformsTo": _ref(WORKFLOW_PROFILE),
        "programmingLanguage": _ref(LANGUAGE),
        "hasPart": _refs(map(_id, _scripts(run, jobs))),
        "step": _refs(map(_step_id, rules)),
        "input": _refs(["#parameter/configuration", *(f"#parameter/{name}" for name in sorted(run.parameters))]),
        "output": _refs(["#parameter/artefacts"]),
    }
    steps = [
        {
            "@id": _step_id(rule),
            "@type": "HowToStep",
            "name": rule,
            "description": run.steps[rule]["purpose"],
            "workExample": _ref(_id(run.steps[rule]["script"])),
        }
        for rule in rules
    ]
    language = {"@id": LANGUAGE, "@type": "ComputerLanguage", "name": "Snakemake", "url": ENGINE}
    engine = {"@id": ENGINE, "@type": "SoftwareApplication", "name": "Snakemake", "url": ENGINE}
    return [main, *steps, language, engine | {"softwareVersion": run.engine_version}]


def _step_id(rule: str) -> str:
    return f"{WORKFLOW}#{quote(rule)}"


def _parameters(run: Run, contents: Contents) -> list[dict]:
    """What a user may set, with what was set; configuration and artefacts are parameters of many files."""
    files = {"configuration": _configuration(contents), "artefacts": _artefacts(run, contents)}
    entities = [
        _parameter(name, "File", map(_id, paths)) | ({} if len(paths) == 1 else {"multipleValues": True})
        for name, paths in files.items()
    ]
    for name, value in sorted(run.parameters.items()):
        entities.append(_parameter(name, "Text", [f"#value/{name}"]))
        entities.append(
            {
                "@id": f"#value/{name}",
                "@type": "PropertyValue",
                "name": name,
                "value": value,
                "exampleOfWork": _ref(f"#parameter/{name}"),
            }
        )
    return entities


def _parameter(name: str, kind: str, examples) -> dict:
    return {
        "@id": f"#parameter/{name}",
        "@type": "FormalParameter",
        "name": name,
        "additionalType": kind,
        "conformsTo": _ref(PARAMETER_PROFILE),
        "workExample": _refs(examples),
    }


def _configuration(contents: Contents) -> list[str]:
    return sorted(path for path in contents.files if path.startswith("config/"))


def _artefacts(run: Run, contents: Contents) -> list[str]:
    return sorted(path for path in contents.files if path.startswith(f"{ARTEFACTS}/{run.shown}/"))


def _described(path: str, contents: Contents) -> dict:
    """What is true of every file in the crate."""
    return {
        "@id": _id(path),
        "@type": "File",
        "name": path,
        "contentSize": str(len(contents.files[path])),
        "encodingFormat": FORMATS.get(PurePosixPath(path).suffix, "text/plain"),
        "sha256": contents.hashes[path],
    }


def _file(path: str, run: Run, jobs: list[Job], contents: Contents, about: dict) -> dict:
    entity = _described(path, contents)
    if path in _scripts(run, jobs):
        entity |= {"@type": ["File", "SoftwareSourceCode"], "version": str(about["version"])}
    if path == "README.md":
        entity["about"] = _ref("./")
    if path.startswith("config/"):
        entity["exampleOfWork"] = _ref("#parameter/configuration")
    if path.startswith(f"{ARTEFACTS}/{run.shown}/"):
        entity["exampleOfWork"] = _ref("#parameter/artefacts")
    return entity


def _actions(run: Run, jobs: list[Job], contents: Contents) -> list[dict]:
    """The run as a whole, the engine at work, and every job with the step that it was an execution of."""
    times = {"startTime": min(job.record["started"] for job in jobs), "endTime": max(job.ended for job in jobs)}
    values = [f"#value/{name}" for name in sorted(run.parameters)]
    whole = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"All artefacts at the scale {run.shown}",
        "description": "From the start of the first job to the end of the last one; there may be days in between.",
        "instrument": _ref(WORKFLOW),
        "object": _refs([*values, *map(_id, _configuration(contents))]),
        "result": _refs(map(_id, _artefacts(run, contents))),
        **times,
    }
    engine = {
        "@id": "#engine-run",
        "@type": "OrganizeAction",
        "name": f"Snakemake {run.engine_version}",
        "instrument": _ref(ENGINE),
        "object": _refs(_control_id(job) for job in jobs),
        "result": _ref("#run"),
        **times,
    }
    return [whole, engine, *(entity for job in jobs for entity in _job_actions(run, job, contents))]


def _control_id(job: Job) -> str:
    return job.action.replace("#job/", "#step-of/", 1)


def _job_actions(run: Run, job: Job, contents: Contents) -> list[dict]:
    record = job.record
    action = {
        "@id": job.action,
        "@type": "CreateAction",
        "name": f"{record['rule']}: {job.name}",
        "description": _surroundings(record),
        "instrument": _ref(_id(run.steps[record["rule"]]["script"])),
        "object": _refs(_known_by(path, sha256, contents) for path, sha256 in sorted(record["inputs"].items())),
        "result": _refs(_known_by(path, sha256, contents) for path, sha256 in sorted(record["outputs"].items())),
        "startTime": record["started"],
        "endTime": job.ended,
    }
    if job.path in contents.files:
        action["subjectOf"] = _ref(_id(job.path))
    control = {
        "@id": _control_id(job),
        "@type": "ControlAction",
        "name": f"{record['rule']} orchestrated",
        "instrument": _ref(_step_id(record["rule"])),
        "object": _ref(job.action),
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
        return _id(path)
    return f"#{_id(_shown_path(path))}@{sha256[:12]}"


def _shown_path(path: str) -> str:
    return path if is_inside(path) else PurePosixPath(path).name


def _absent_files(jobs: list[Job], contents: Contents) -> list[dict]:
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
