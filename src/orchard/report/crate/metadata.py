"""The content of a crate's ro-crate-metadata.json: the crate as a whole, and all entities in it."""

import yaml

from orchard.report.crate.actions import absent_file_entities, action_entities, action_id, times_of
from orchard.report.crate.contents import Contents, Run
from orchard.report.crate.entities import (
    PARAMETER_PROFILE,
    WORKFLOW,
    WORKFLOW_PROFILE,
    author_id,
    file_entities,
    id_of,
    licence_id,
    paper_entities,
    paper_id,
    parameter_entities,
    people_entities,
    ref,
    refs,
    workflow_entities,
)
from orchard.report.job_history import Job

METADATA = "ro-crate-metadata.json"
CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
RO_CRATE = "https://w3id.org/ro/crate/1.1"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
RUN_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    WORKFLOW_CRATE: "Workflow RO-Crate",
}


def crate_metadata(run: Run, jobs: list[Job], contents: Contents) -> dict:
    """All entities, each once, in a fixed order."""
    about = yaml.safe_load(contents.files["CITATION.cff"])
    entities: dict[str, dict] = {}
    for entity in (
        _descriptor(),
        _root(run, jobs, contents, about),
        *_profiles(),
        *people_entities(about),
        *paper_entities(about),
        *workflow_entities(run, jobs, contents, about),
        *parameter_entities(run, contents),
        *file_entities(run, jobs, contents, about),
        *action_entities(run, jobs, contents),
        *absent_file_entities(jobs, contents),
    ):
        entities.setdefault(entity["@id"], {key: value for key, value in entity.items() if value != []})
    return {"@context": CONTEXT, "@graph": list(entities.values())}


def _descriptor() -> dict:
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": ref("./"),
        "conformsTo": refs([RO_CRATE, WORKFLOW_CRATE]),
    }


def _root(run: Run, jobs: list[Job], contents: Contents, about: dict) -> dict:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{about['title']} ({run.shown})",
        "description": f"All tables and figures at the scale {run.shown}, what was measured for them, the workflow "
        f"that made them, and the records of its {len(jobs)} jobs. Data sets, label trees and models are named by "
        "their SHA-256 and not included.",
        "datePublished": times_of(jobs)["endTime"][:10],
        "license": ref(licence_id(about)),
        "author": refs(author_id(author) for author in about["authors"]),
        "citation": refs(paper_id(paper) for paper in about["references"]),
        "conformsTo": refs(RUN_PROFILES),
        "hasPart": refs(map(id_of, sorted(contents.files))),
        "mainEntity": ref(WORKFLOW),
        "mentions": refs(["#run", "#engine-run", *(action_id(job) for job in jobs)]),
    }


def _profiles() -> list[dict]:
    names = {RO_CRATE: "RO-Crate"} | RUN_PROFILES
    names |= {WORKFLOW_PROFILE: "Bioschemas ComputationalWorkflow", PARAMETER_PROFILE: "Bioschemas FormalParameter"}
    return [
        {"@id": url, "@type": "CreativeWork", "name": name, "version": url.rpartition("/")[2]}
        for url, name in names.items()
    ]
