"""A crate describes every file in it truly, refers to nothing that is not in it, and is the same bytes again."""

import hashlib
import json
import logging
import shutil
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from orchard.errors import OrchardError
from orchard.files import write_json
from orchard.job_records import hashes
from orchard.report.crate.contents import Run
from orchard.report.crate.metadata import CONTEXT, METADATA
from orchard.report.crate.pack import write_crate

ROOT = Path(__file__).parents[2]
SCORE = "results/runs/toy/clean/parabel@2+x/seed-0/score.json"
STEPS = {
    "prepare": {"script": "workflow_scripts/prepare.py", "purpose": "Make data."},
    "run": {"script": "workflow_scripts/run.py", "purpose": "Train, predict, score."},
    "eagle-table2": {"script": "workflow_scripts/scores_table.py", "purpose": "Show a table."},
    "never": {"script": "workflow_scripts/never.py", "purpose": "Nothing ran this."},
}


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    return path


def leave_record(root, place, rule, inputs, outputs, **changes):
    """What `orchard.job_records` writes, for files that are there."""
    record = {
        "rule": rule,
        "wildcards": {},
        "commit": "0" * 40,
        "edited": False,
        "code": "1" * 64,
        "config_sha256": "2" * 64,
        "inputs": hashes(inputs),
        "outputs": hashes(outputs),
        "started": "2026-01-02T23:59:58+00:00",
        "seconds": 3.25,
        "cpu_seconds": 1.5,
        "cpu_seconds_before": 0.5,
        "versions": {"python": "3.11.7"},
        "machine": {"processor": "A <B> & C", "architecture": "x86_64", "system": "Linux", "cores": 2, "memory_gb": 8},
        "threads": 2,
    }
    write_json(root / f"results/provenance/{place}.json", record | changes)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A workflow of three jobs: data, a run on it, a table of it. Another run is nobody's."""
    root = tmp_path / "orchard"
    root.mkdir()
    monkeypatch.chdir(root)  # records have paths relative to here
    shutil.copy(ROOT / "CITATION.cff", root)
    for path in ("LICENSE", "README.md", "Snakefile", "rules/eagle.smk", "config/config.yaml", "src/orchard/files.py"):
        write(root, path, f"This is {path}.\n")
    for step in STEPS.values():
        write(root, step["script"], f"{step['purpose']}\n")
    write(root, "src/orchard/__pycache__/files.py", "a cache")
    write(root, "src/orchard.egg-info/PKG-INFO", "of an installation")
    published = write(root, "config/papers/eagle/published/table2.csv", "dataset,value\n")
    write(root, "results/data/toy/X.npz", "numbers")
    score = write(root, SCORE, '{"P@1": 0.5}\n')
    other = write(root, "results/runs/toy/clean/other/seed-0/score.json", "{}\n")
    table = [write(root, f"results/artefacts/smoke/eagle-table2.{kind}", f"λ {kind}\n") for kind in ("csv", "md")]
    leave_record(root, "prepare/toy", "prepare", [], ["results/data/toy"])
    leave_record(root, "run/toy/clean/parabel@2+x/seed-0", "run", ["results/data/toy"], [score])
    leave_record(root, "run/toy/clean/other/seed-0", "run", ["results/data/toy"], [other])
    leave_record(root, "artefacts/smoke/eagle-table2", "eagle-table2", [score, published], table, threads=1)
    return root


def crate_of(root, path="crate.zip", **changes):
    """The files of a crate, and its entities by their ids."""
    run = {"root": Path(), "shown": "smoke", "steps": STEPS, "parameters": {"scale": "smoke"}, "engine_version": "9"}
    write_crate(root / path, Run(**run | changes))
    with zipfile.ZipFile(root / path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(files.pop(METADATA))
    assert metadata["@context"] == CONTEXT
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    assert len(entities) == len(metadata["@graph"]), "an entity is there twice"
    return files, entities


def references(value):
    """All {"@id": …} inside of an entity."""
    if isinstance(value, dict):
        yield from [value["@id"]] if value.keys() == {"@id"} else references(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


def ids(value):
    return sorted(references(value))


def test_every_file_is_described_with_its_hash_and_size(project):
    files, entities = crate_of(project)
    described = {unquote(one): entity for one, entity in entities.items() if "File" in entity["@type"]}
    assert described.keys() == files.keys()
    for path, content in files.items():
        assert described[path]["sha256"] == hashlib.sha256(content).hexdigest()
        assert described[path]["contentSize"] == str(len(content))
        assert content == (project / path).read_bytes()
    assert sorted(unquote(one) for one in ids(entities["./"]["hasPart"])) == sorted(files)


def test_nothing_is_referred_to_that_is_not_there(project):
    _, entities = crate_of(project)
    referred = {one for entity in entities.values() for one in references(list(entity.values()))}
    assert referred <= entities.keys()
    # And everything is reached from the descriptor.
    assert entities.keys() - referred == {METADATA}


def test_jobs_tell_what_they_made_from_what(project):
    _, entities = crate_of(project)
    run = entities["#job/run/toy/clean/parabel@2+x/seed-0"]
    (data,) = (entity for entity in entities.values() if entity.get("name") == "results/data/toy")
    assert run["instrument"] == {"@id": "workflow_scripts/run.py"}
    assert run["object"] == {"@id": data["@id"]}
    assert run["result"] == {"@id": SCORE}
    assert (run["startTime"], run["endTime"]) == ("2026-01-02T23:59:58+00:00", "2026-01-03T00:00:01+00:00")
    assert data["sha256"] == hashes(["results/data/toy"])["results/data/toy"]
    assert data["@type"] == "CreativeWork"  # named by its hash, and not among the files
    table = entities["#job/artefacts/smoke/eagle-table2"]
    assert ids(table["object"]) == ["config/papers/eagle/published/table2.csv", SCORE]
    assert ids(entities["#run"]["result"]) == ids(table["result"])
    assert "object" not in entities["#job/prepare/toy"]  # it was made from nothing


def test_the_workflow_has_a_step_for_every_rule_that_ran(project):
    _, entities = crate_of(project)
    workflow = entities["Snakefile"]
    assert workflow["@type"] == ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
    ran = ["eagle-table2", "prepare", "run"]
    assert ids(workflow["step"]) == [f"Snakefile#{rule}" for rule in ran]
    assert ids(workflow["hasPart"]) == sorted(STEPS[rule]["script"] for rule in ran)
    assert entities["Snakefile#run"]["description"] == "Train, predict, score."
    controls = [entity for entity in entities.values() if entity["@type"] == "ControlAction"]
    assert ids(entities["#engine-run"]["object"]) == sorted(control["@id"] for control in controls)
    assert {entities[control["object"]["@id"]]["@type"] for control in controls} == {"CreateAction"}
    assert entities["#value/scale"]["value"] == "smoke"


def test_the_papers_are_cited(project):
    _, entities = crate_of(project)
    papers = [entities[one] for one in ids(entities["./"]["citation"])]
    assert len(papers) == 4
    assert "Label Disentanglement in Partition-based Extreme Multilabel Classification" in [
        one["name"] for one in papers
    ]
    assert entities["./"]["license"] == {"@id": "https://spdx.org/licenses/BSD-3-Clause"}


def test_data_and_strangers_stay_out(project):
    """Data is not ours to give away; a run that no artefact shows is not part of this scale, nor is a cache."""
    files, _ = crate_of(project)
    assert not any("results/data" in path or "other" in path or "__pycache__" in path for path in files)


def test_the_same_bytes_whenever_it_is_packed(project):
    crate_of(project, "one.zip")
    for path in project.rglob("*"):
        path.touch()
    crate_of(project, "two.zip")
    assert (project / "one.zip").read_bytes() == (project / "two.zip").read_bytes()
    with zipfile.ZipFile(project / "one.zip") as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_stale_records_are_left_out_and_counted(project, caplog):
    """An edited score is not what its record tells of; the table was made from what it had been before."""
    before = hashes([SCORE])[SCORE]
    write(project, SCORE, '{"P@1": 0.9}\n')
    with caplog.at_level(logging.INFO, "orchard"):
        files, entities = crate_of(project)
    assert "jobs: 1" in caplog.text
    assert "stale records left out, whose files have changed or are gone, or whose rule is: 1" in caplog.text
    assert "no record" not in caplog.text
    assert [one for one in entities if one.startswith("#job/")] == ["#job/artefacts/smoke/eagle-table2"]
    assert SCORE not in files
    (seen,) = (entity for entity in entities.values() if entity.get("name") == SCORE)
    assert seen["sha256"] == before


def test_a_record_of_an_unknown_rule_is_stale(project):
    steps = {rule: step for rule, step in STEPS.items() if rule != "run"}
    _, entities = crate_of(project, steps=steps)
    assert "#job/run/toy/clean/parabel@2+x/seed-0" not in entities


def test_artefacts_without_a_record_are_packed_and_counted(project, caplog):
    write(project, "results/artefacts/smoke/eagle-old.csv", "old\n")
    with caplog.at_level(logging.INFO, "orchard"):
        files, _ = crate_of(project)
    assert "results/artefacts/smoke/eagle-old.csv" in files
    assert "no record tells the origin of: 1 (results/artefacts/smoke/eagle-old.csv" in caplog.text


def test_without_any_record_there_is_no_crate(project):
    shutil.rmtree(project / "results/provenance")
    with pytest.raises(OrchardError, match="no record fits the files in results/artefacts/smoke"):
        crate_of(project)


def test_no_path_of_a_machine(project, tmp_path):
    """A job that read a file elsewhere is told of without the place, and its record stays at home."""
    elsewhere = tmp_path / "secret-folder/notes.txt"
    write(elsewhere.parent, elsewhere.name, "notes")
    leave_record(project, "prepare/toy", "prepare", [str(elsewhere)], ["results/data/toy"])
    files, entities = crate_of(project)
    assert "results/provenance/prepare/toy.json" not in files
    assert "results/provenance/artefacts/smoke/eagle-table2.json" in files
    told = json.dumps(entities) + "".join(content.decode() for content in files.values())
    assert str(tmp_path) not in told
    assert "secret-folder" not in told
    (notes,) = (entity for entity in entities.values() if entity.get("name") == "notes.txt")
    assert notes["sha256"] == hashlib.sha256(b"notes").hexdigest()
