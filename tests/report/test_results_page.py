"""RESULTS.md has a part for each paper, and renews one without touching the others."""

from multiprocessing import get_context

import pytest

from orchard.files import write_text
from orchard.report.effort import effort_of
from orchard.report.results_page import parts_of, results_part, update_results

PAPERS = ("eagle", "labeltrees")
RECORD = {
    "commit": "0123456789abcdef",
    "edited": False,
    "started": "2026-11-18T10:00:00+00:00",
    "cpu_seconds": 5400.0,
    "seconds": 2700.0,
    "versions": {},
    "machine": {"processor": "Some CPU", "architecture": "x86_64", "cores": 2, "memory_gb": 23.4},
}


@pytest.fixture
def folder(tmp_path):
    """Where two artefacts were rendered."""
    lines = "".join(f"| {number} |\n" for number in range(40))
    write_text(tmp_path / "laptop/eagle-table1.md", "# Table 1\n\n| a |\n| --- |\n| 1 |\n\nA note.\n")
    write_text(tmp_path / "laptop/eagle-table2.md", f"# Table 2\n\n| a |\n| --- |\n{lines}\nAnother note.\n")
    write_text(tmp_path / "laptop/eagle-fig1.csv", "method,value\na|b,0.123456789\n")
    return tmp_path / "laptop"


ARTEFACTS = {
    "table1": {"title": "Table 1: things", "kind": "table"},
    "table2": {"title": "Table 2: more things", "kind": "table"},
    "fig1": {"title": "Figure 1: a curve", "kind": "figure"},
}


def part_of(folder, records=(RECORD,), unrecorded=0, options="scale=laptop"):
    effort = effort_of(list(records), unrecorded)
    return results_part("eagle", "EAGLE", ARTEFACTS, folder, options, "| claim |\n", effort)


def test_a_part_tells_commit_machine_time_and_command(folder):
    part = part_of(folder)
    assert "commit 0123456789ab;" in part
    assert "Some CPU, 2 cores, 23.4 GB" in part
    assert "1 jobs, 1.5 hours of processor time between 2026-11-18 10:00 UTC and 2026-11-18 10:45 UTC" in part
    assert "`snakemake eagle-table2 --config scale=laptop`" in part


def test_edited_code_is_told(folder):
    assert "0123456789ab, edited since" in part_of(folder, [RECORD, RECORD | {"edited": True}])


def test_results_that_nobody_knows_the_making_of_are_told(folder):
    assert "not known" not in part_of(folder)
    assert "Of 7 results it is not known when and how they were made." in part_of(folder, unrecorded=7)
    assert "left no records" in part_of(folder, [])


def test_commands_have_the_options_that_were_chosen(folder):
    """Data sets of one's own are shown in a folder whose name is no scale."""
    part = part_of(folder, options="scale=demo datasets=mine")
    assert "`snakemake eagle-results --config scale=demo datasets=mine`" in part
    assert "`snakemake eagle-table2 --config scale=demo datasets=mine`" in part


def test_long_tables_and_figures_are_folded_and_short_ones_are_not(folder):
    part = part_of(folder)
    short, long = part.split("### Table 2")
    assert "<details>" not in short
    assert "| 1 |\n\nA note." in short
    assert "<details><summary>40 lines</summary>" in long
    assert long.index("</details>") < long.index("Another note.")
    assert "| a\\|b | 0.12346 |" in part


def test_one_paper_is_renewed_and_the_other_stays(tmp_path):
    path = tmp_path / "RESULTS.md"
    update_results(path, "labeltrees", "## Label trees\n\nold", PAPERS)
    update_results(path, "eagle", "## EAGLE\n\nfirst", PAPERS)
    update_results(path, "eagle", "## EAGLE\n\nsecond", PAPERS)
    text = path.read_text()
    assert list(parts_of(text)) == ["eagle", "labeltrees"]
    assert "first" not in text
    assert text.index("second") < text.index("old")
    before = path.read_bytes()
    update_results(path, "eagle", "## EAGLE\n\nsecond", PAPERS)
    assert path.read_bytes() == before


def renew(path, paper, times):
    for time in range(times):
        update_results(path, paper, f"## {paper}\n\n{time}", [f"paper-{number}" for number in range(4)])


def test_papers_that_end_together_lose_no_part(tmp_path):
    path, context = tmp_path / "RESULTS.md", get_context("fork")
    papers = [f"paper-{number}" for number in range(4)]
    writers = [context.Process(target=renew, args=(path, paper, 10)) for paper in papers]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert {paper: part.strip() for paper, part in parts_of(path.read_text()).items()} == {
        paper: f"## {paper}\n\n9" for paper in papers
    }
    assert [one.name for one in tmp_path.iterdir()] == ["RESULTS.md"]
