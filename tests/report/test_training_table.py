"""Training times and sizes: what is published, counted and measured stands apart, and ratios are those of steps."""

from pathlib import Path

import pytest

from orchard.config import load_yaml
from orchard.report.published import read_published
from orchard.report.rows import resolve_rows, without
from orchard.report.tables import write_table
from orchard.report.training_table import COLUMNS, training_table

PAPER = Path(__file__).parents[2] / "config/papers/otseq2set"
ARTEFACT = {
    "title": "Times",
    "rows": [
        {"row": "Seq2Seq", "method": "seq2seq"},
        {"row": "SGM", "method": "sgm", "beside": "seq2seq"},
        {"row": "OTSeq2Set", "method": "ours", "beside": "seq2seq-lc"},
        {"row": "per channel", "counted": "ours-channels", "not_run": "it is counted only"},
        {"row": "Seq2Seq + LC", "method": "seq2seq-lc"},
    ],
    "notes": ["A note."],
}
HEADER = "dataset,setting,method,metric,value,note\n"
PRINTED = "paper-set,,OTSeq2Set,T_train (hours),1.52,\npaper-set,,OTSeq2Set,M (millions),40.5,\n"
COUNTS = [
    {"dataset": "paper-set", "method": "ours", "parameters": 40_442_152},
    {"dataset": "paper-set", "method": "ours-channels", "parameters": 40_498_417},
]
RUNS = [
    {"dataset": "small", "simulated": False, "method": "ours", "hours": hours, "parameters": 2_500_000}
    for hours in (0.25, 0.75)
]


def step(method, step_ms, loss="its own", matching=0.0, transport=0.0):
    times = {"step_ms": step_ms, "matching_ms": matching, "transport_ms": transport}
    return {"method": method, "loss": loss, "steps": 30} | times


STEPS = [
    {
        "dataset": "small",
        "simulated": False,
        "load_average": 0.4,
        "steps": [
            step("seq2seq", 50.0),
            step("sgm", 60.0),
            step("seq2seq-lc", 64.0),
            step("ours", 96.0, matching=3.6, transport=6.0),
            step("ours", 80.0, "cross-entropy"),
            step("ours", 400.0, "sample by sample", matching=100.0, transport=200.0),
        ],
    }
]


@pytest.fixture
def tabulated(tmp_path):
    def made(counts=(), runs=(), steps=(), artefact=ARTEFACT, printed=PRINTED):
        (tmp_path / "table7.csv").write_text(HEADER + printed, encoding="utf-8")
        return training_table(artefact, counts, runs, steps, tmp_path / "table7.csv")

    return made


def test_every_number_by_hand(tabulated):
    """Hours are the mean of two runs; SGM's step is 60 over 50, ours 96 over 64, and over 80 with cross-entropy."""
    table = tabulated(COUNTS, RUNS, STEPS)
    assert table.header == ["data set", "method", "source", *COLUMNS]
    assert table.rows == [
        ["paper-set", "OTSeq2Set", "published", "1.52", "40.5", "–", "–", "–", "–"],
        ["paper-set", "OTSeq2Set", "counted", "–", "40.44", "–", "–", "–", "–"],
        ["paper-set", "per channel", "counted", "–", "40.50", "–", "–", "–", "–"],
        ["small", "Seq2Seq", "measured", "–", "–", "50.0", "–", "–", "–"],
        ["small", "SGM", "measured", "–", "–", "60.0", "1.20×", "–", "–"],
        ["small", "OTSeq2Set", "measured", "0.500", "2.50", "96.0", "1.50×", "1.20×", "10.0 %"],
        ["small", "OTSeq2Set, cross-entropy", "measured", "–", "–", "80.0", "1.25×", "–", "–"],
        ["small", "OTSeq2Set, sample by sample", "measured", "–", "–", "400.0", "6.25×", "5.00×", "75.0 %"],
        ["small", "Seq2Seq + LC", "measured", "–", "–", "64.0", "–", "–", "–"],
    ]
    ours = {record[3]: record[4] for record in table.records if record[:3] == ["small", "OTSeq2Set", "measured"]}
    assert ours == dict(zip(COLUMNS, ["0.5", "2.5", "96", "1.5", "1.2", "10"], strict=True))
    assert ["paper-set", "OTSeq2Set", "published", "M (millions)", 40.5] in table.records
    assert ["paper-set", "per channel", "counted", "M (millions)", "40.4984"] in table.records


def test_notes_tell_where_the_numbers_come_from(tabulated):
    told = tabulated(COUNTS, RUNS, STEPS).notes
    assert told[0] == "A note."
    assert "medians of 30 or more" in told[1] and "load average when it began at most 0.4" in told[1]
    assert told[2].startswith("Counted: ")
    assert told[3:] == [
        "No times, the data is not part of this scale: paper-set.",
        "Not run: per channel: it is counted only.",
    ]


def test_simulated_data_is_marked(tabulated):
    runs, steps = ([one | {"simulated": True} for one in some] for some in (RUNS, STEPS))
    table = tabulated(COUNTS, runs, steps)
    assert {row[2] for row in table.rows if row[0] == "small"} == {"simulated"}
    assert {row[2] for row in table.rows if row[0] == "paper-set"} == {"published", "counted"}
    assert any("Simulated data" in note and "small" in note for note in table.notes)


def test_runs_without_steps_and_steps_without_runs(tabulated):
    assert [row[3:6] for row in tabulated(runs=RUNS, printed="").rows] == [["0.500", "2.50", "–"]]
    alone = STEPS[0] | {"steps": [step("sgm", 60.0)]}
    assert [row[3:] for row in tabulated(steps=[alone], printed="").rows] == [["–", "–", "60.0", "–", "–", "–"]]


def test_a_run_on_the_papers_data_stands_below_the_published_line(tabulated):
    runs = [one | {"dataset": "paper-set"} for one in RUNS]
    table = tabulated(COUNTS, runs)
    assert [row[1:5] for row in table.rows] == [
        ["OTSeq2Set", "published", "1.52", "40.5"],
        ["OTSeq2Set", "counted", "–", "40.44"],
        ["OTSeq2Set", "measured", "0.500", "2.50"],
        ["per channel", "counted", "–", "40.50"],
    ]
    assert not any("No times" in note for note in table.notes)


def test_nothing_run_leaves_what_is_published_and_the_reason(tabulated, tmp_path):
    part = without(ARTEFACT, ["seq2seq", "sgm", "ours", "seq2seq-lc"], "PyTorch is not installed")
    table = tabulated(artefact=part | {"rows": resolve_rows(part, "smoke", ["small"])})
    assert [row[2] for row in table.rows] == ["published"]
    assert "Not run: Seq2Seq; SGM; OTSeq2Set; Seq2Seq + LC: PyTorch is not installed." in table.notes
    assert not any(note.startswith(("Steps", "Counted")) for note in table.notes)
    write_table(table, tmp_path / "t.csv", tmp_path / "t.md")


def test_every_number_that_the_paper_prints_has_its_row():
    path = PAPER / "published/table7.csv"
    table = training_table(load_yaml(PAPER / "artefacts.yaml")["table7"], [], [], [], path)
    assert sorted(record[-1] for record in table.records) == sorted(value.number for value in read_published(path))
