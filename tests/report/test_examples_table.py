"""Examples of fused labels stand below the paper's own, with real words, shortened only where people read them."""

import pytest

from orchard.report.examples_table import examples_table

ARTEFACT = {"title": "Examples", "notes": ["A note."]}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table2.csv"
    lines = ["dataset,setting,method,metric,value,note", ',,,Fused label,"“""a"" and ""b""”",']
    for number in (1, 2):
        lines += [f",row {number},,Cluster ID,{number},", f",row {number},,Input text,“x”,"]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def found(simulated=False, text="word " * 100):
    meanings = [
        {"meaning": "Mice", "samples": 30, "cluster": 4, "share": 80.0, "text": text},
        {"meaning": "Keyboards", "samples": 12, "cluster": -1, "share": 60.0, "text": "short"},
    ]
    example = {"told apart": "best", "vi": 0.25, "random": 0.5, "meanings": meanings}
    return {"dataset": "small", "simulated": simulated, "examples": [example]}


def test_examples_stand_below_the_published_one(published):
    table = examples_table(ARTEFACT, [found()], published)
    assert [row[1] for row in table.rows] == ["published", "published", "measured", "measured"]
    assert table.rows[0][3:6] == ['"a" and "b"', "", "1"]
    assert table.rows[2][2:7] == ["best", "Mice", "30", "4", "80%"]
    assert table.rows[3][5] == "none"
    assert table.rows[2][-1].endswith("word …”") and len(table.rows[2][-1]) < 170
    assert table.records[2][-3:] == ["word " * 100, "0.25", "0.5"]
    assert table.notes == ["A note."]


def test_nothing_to_show_and_simulated_data_are_told(published):
    nothing = found(simulated=True) | {"examples": []}
    notes = examples_table(ARTEFACT, [nothing], published).notes
    assert notes[1] == "Nothing to show on small: no fused label is large enough."
    assert notes[2].startswith("**Simulated data")
