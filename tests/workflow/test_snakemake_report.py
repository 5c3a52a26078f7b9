"""Snakemake's own report shows every artefact, with what it is, and needs no network; nothing is run for it."""

import json
import re

import pytest

REPORT = "results/snakemake-report.html"


@pytest.fixture
def shown(copy_of_finished):
    """What the report has of every file: its caption, its labels, its kind."""
    # A proxy that does not exist: whoever asks the network is refused.
    offline = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = copy_of_finished.snakemake("--report", REPORT, environment=offline)
    assert done.returncode == 0, done.stdout + done.stderr
    assert copy_of_finished.jobs_to_run("reproduce-all") == {}
    text = (copy_of_finished.folder / REPORT).read_text(encoding="utf-8")
    (found,) = re.findall(r"^\s*(?:var|let|const) results = (\{.*\});?$", text, re.MULTILINE)
    return json.loads(found)


def test_the_report_shows_every_artefact_with_its_caption(shown, copy_of_finished):
    folder = copy_of_finished.folder / "results/artefacts/smoke"
    stems = {path.stem: ".svg" if path.with_suffix(".svg").exists() else ".csv" for path in folder.glob("*-*.csv")}
    assert {path.rpartition("/")[2] for path in shown} == {stem + ending for stem, ending in stems.items()}
    for path, entry in shown.items():
        kind = "figure" if path.endswith(".svg") else "table"
        assert entry["labels"]["kind"] == kind
        assert entry["labels"]["scale"] == "smoke"
        assert f"-{entry['labels']['artefact']}." in path
        assert "<strong>" in entry["caption"], path
        assert "system-message" not in entry["caption"], path  # how docutils tells what it could not read
    # A table cannot be looked at in the report, so that its caption has it; a figure's tells its notes.
    assert "Baseline" in shown["results/artefacts/smoke/eagle-table2.csv"]["caption"]
    assert "<li>" in shown["results/artefacts/smoke/eagle-fig4.svg"]["caption"]
