"""What is in a crate as JSON-LD: who wrote it, the workflow with its steps and parameters, the files."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import quote

from orchard.report.crate.contents import Contents, Run, artefacts, configuration, is_artefact, is_configuration
from orchard.report.job_history import Job

WORKFLOW, ENGINE = "Snakefile", "https://snakemake.readthedocs.io/"
LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
BIOSCHEMAS = "https://bioschemas.org/profiles"
WORKFLOW_PROFILE, PARAMETER_PROFILE = (
    f"{BIOSCHEMAS}/{name}/1.0-RELEASE" for name in ("ComputationalWorkflow", "FormalParameter")
)
KEPT_IN_URIS = "/@+=,"  # letters that a path may have in a URI as they are
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


def id_of(path: str) -> str:
    """A path as a URI."""
    return quote(path, safe=KEPT_IN_URIS)


def ref(identifier: str) -> dict:
    return {"@id": identifier}


def refs(identifiers: Iterable[str]) -> dict | list[dict]:
    """Several references, each once; RO-Crate wants a single one without a list around it."""
    references = [ref(identifier) for identifier in dict.fromkeys(identifiers)]
    return references[0] if len(references) == 1 else references


def licence_id(about: dict) -> str:
    return f"https://spdx.org/licenses/{about['license']}"


def author_id(author: dict) -> str:
    name = author.get("name") or f"{author['given-names']} {author['family-names']}"
    return f"#{quote(name.replace(' ', '-'))}"


def paper_id(paper: dict) -> str:
    return f"#{quote(paper['title'].replace(' ', '-'))}"


def people_entities(about: dict) -> list[dict]:
    """Authors of this software and of the papers, and the licence."""
    people = [{"@id": licence_id(about), "@type": "CreativeWork", "name": about["license"]}]
    for author in [*about["authors"], *(author for paper in about["references"] for author in paper["authors"])]:
        if "name" in author:
            people.append({"@id": author_id(author), "@type": "Organization", "name": author["name"]})
        else:
            names = {"givenName": author["given-names"], "familyName": author["family-names"]}
            people.append(
                {"@id": author_id(author), "@type": "Person", "name": " ".join(names.values()), **names},
            )
    return people


def paper_entities(about: dict) -> list[dict]:
    entities = []
    for paper in about["references"]:
        volume = f"#{quote(paper['collection-title'].replace(' ', '-'))}"
        entities.append({"@id": volume, "@type": "PublicationVolume", "name": paper["collection-title"]})
        entities.append(
            {
                "@id": paper_id(paper),
                "@type": "ScholarlyArticle",
                "name": paper["title"],
                "author": refs(map(author_id, paper["authors"])),
                "datePublished": str(paper["year"]),
                "isPartOf": ref(volume),
            }
        )
    return entities


def workflow_entities(run: Run, jobs: list[Job], contents: Contents, about: dict) -> list[dict]:
    """The Snakefile with its steps, one for every rule that ran; the language, and the engine that reads it."""
    rules = sorted({job.record["rule"] for job in jobs})
    main = _described(WORKFLOW, contents) | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": about["title"],
        "version": str(about["version"]),
        "author": refs(map(author_id, about["authors"])),
        "license": ref(licence_id(about)),
        "conformsTo": ref(WORKFLOW_PROFILE),
        "programmingLanguage": ref(LANGUAGE),
        "hasPart": refs(map(id_of, _scripts(run, jobs))),
        "step": refs(map(step_id, rules)),
        "input": refs(["#parameter/configuration", *(f"#parameter/{name}" for name in sorted(run.parameters))]),
        "output": refs(["#parameter/artefacts"]),
    }
    steps = [
        {
            "@id": step_id(rule),
            "@type": "HowToStep",
            "name": rule,
            "description": run.steps[rule]["purpose"],
            "workExample": ref(id_of(run.steps[rule]["script"])),
        }
        for rule in rules
    ]
    language = {"@id": LANGUAGE, "@type": "ComputerLanguage", "name": "Snakemake", "url": ENGINE}
    engine = {"@id": ENGINE, "@type": "SoftwareApplication", "name": "Snakemake", "url": ENGINE}
    return [main, *steps, language, engine | {"softwareVersion": run.engine_version}]


def step_id(rule: str) -> str:
    return f"{WORKFLOW}#{quote(rule)}"


def _scripts(run: Run, jobs: list[Job]) -> list[str]:
    return sorted({run.steps[job.record["rule"]]["script"] for job in jobs})


def parameter_entities(run: Run, contents: Contents) -> list[dict]:
    """What a user may set, with what was set; configuration and artefacts are parameters of many files."""
    files = {"configuration": configuration(contents), "artefacts": artefacts(run, contents)}
    entities = [
        _parameter(name, "File", map(id_of, paths)) | ({} if len(paths) == 1 else {"multipleValues": True})
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
                "exampleOfWork": ref(f"#parameter/{name}"),
            }
        )
    return entities


def _parameter(name: str, kind: str, examples: Iterable[str]) -> dict:
    return {
        "@id": f"#parameter/{name}",
        "@type": "FormalParameter",
        "name": name,
        "additionalType": kind,
        "conformsTo": ref(PARAMETER_PROFILE),
        "workExample": refs(examples),
    }


def file_entities(run: Run, jobs: list[Job], contents: Contents, about: dict) -> list[dict]:
    """All files but for the workflow itself."""
    scripts, entities = _scripts(run, jobs), []
    for path in sorted(contents.files.keys() - {WORKFLOW}):
        entity = _described(path, contents)
        if path in scripts:
            entity |= {"@type": ["File", "SoftwareSourceCode"], "version": str(about["version"])}
        if path == "README.md":
            entity["about"] = ref("./")
        if is_configuration(path):
            entity["exampleOfWork"] = ref("#parameter/configuration")
        if is_artefact(path, run):
            entity["exampleOfWork"] = ref("#parameter/artefacts")
        entities.append(entity)
    return entities


def _described(path: str, contents: Contents) -> dict:
    """What is true of every file in the crate."""
    return {
        "@id": id_of(path),
        "@type": "File",
        "name": path,
        "contentSize": str(len(contents.files[path])),
        "encodingFormat": FORMATS.get(PurePosixPath(path).suffix, "text/plain"),
        "sha256": contents.hashes[path],
    }
