"""Tables say what was published, what was measured, what was simulated, and whether they agree."""

import pytest

from orchard.report.statistics_table import statistics_table
from orchard.report.tables import Table, write_table

ARTEFACT = {
    "title": "Toy table",
    "columns": [
        {"published": "N", "measured": "n_train"},
        {"published": "avg", "measured": "labels_per_sample", "measured_for": {"odd": "labels_per_train_sample"}},
    ],
    "notes": ["A note."],
}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table1.csv"
    path.write_text(
        "dataset,setting,method,metric,value,note\neven,,,N,1.2M,\neven,,,avg,5.31,\nodd,,,N,100,\nodd,,,avg,2.00,\n",
        encoding="utf-8",
    )
    return path


def stats(name, n_train, average, train_average=0.0, simulated=False):
    return {
        "name": name,
        "simulated": simulated,
        "n_train": n_train,
        "labels_per_sample": average,
        "labels_per_train_sample": train_average,
    }


def test_published_and_measured_rows_stand_together(published):
    table = statistics_table(ARTEFACT, [stats("even", 1_186_239, 5.3149)], published)
    assert table.rows == [
        ["even", "published", "1.2M", "5.31", ""],
        ["even", "measured", "1,186,239", "5.31", "yes"],
        ["odd", "published", "100", "2.00", ""],
    ]
    assert table.notes[0] == "A note."
    assert table.notes[-1] == "Published only: odd."


def test_the_csv_holds_plain_numbers(published):
    table = statistics_table(ARTEFACT, [stats("even", 1_186_239, 5.3149)], published)
    assert table.records == [
        ["even", "published", "N", 1_200_000],
        ["even", "published", "avg", 5.31],
        ["even", "measured", "N", 1_186_239],
        ["even", "measured", "avg", 5.3149],
        ["odd", "published", "N", 100],
        ["odd", "published", "avg", 2],
    ]


def test_a_difference_names_its_columns(published):
    table = statistics_table(ARTEFACT, [stats("even", 1_300_000, 5.32)], published)
    assert table.rows[1][-1] == "no: N, avg"


def test_a_data_set_that_the_paper_counts_in_another_way(published):
    table = statistics_table(ARTEFACT, [stats("odd", 100, 9.0, train_average=2.0)], published)
    assert table.rows[2] == ["odd", "measured", "100", "2.00", "yes"]


def test_simulated_data_says_so_and_agrees_with_nothing(published):
    table = statistics_table(ARTEFACT, [stats("toy-sim", 100, 2.0, simulated=True)], published)
    assert table.rows[-1] == ["toy-sim", "simulated", "100", "2.00", "simulated"]
    assert any("Simulated data" in note and "toy-sim" in note for note in table.notes)


def test_a_real_data_set_that_the_paper_does_not_have_says_so(published):
    table = statistics_table(ARTEFACT, [stats("other", 100, 2.0)], published)
    assert table.rows[-1][-1] == "not in the paper"


WITH_SCORES = ARTEFACT | {"metrics": ["P@1"], "rows": [{"row": "Oracle", "method": "toy"}]}


def test_precision_stands_beside_the_statistics_with_its_difference(published):
    """A score never agrees to the last digit: the statistics agree or do not, the score differs by so much."""
    with published.open("a") as file:
        file.write("odd,,Oracle,P@1,80.00,\n")
    runs = [
        {
            "dataset": name,
            "method": "toy",
            "variant": "clean",
            "seed": 0,
            "simulated": name != "odd",
            "metrics": {"P@1": 79.5},
        }
        for name in ("odd", "toy-sim")
    ]
    at_hand = [stats("odd", 100, 9.0, train_average=2.0), stats("toy-sim", 100, 2.0, simulated=True)]
    table = statistics_table(WITH_SCORES, at_hand, published, runs)
    assert table.header[2:] == ["N", "avg", "P@1", "agrees with the paper"]
    assert table.rows == [
        ["even", "published", "1.2M", "5.31", "–", ""],
        ["odd", "published", "100", "2.00", "80.00", ""],
        ["odd", "measured", "100", "2.00", "79.50", "yes; P@1 −0.50"],
        ["toy-sim", "simulated", "100", "2.00", "79.50", "simulated"],
    ]
    assert ["odd", "measured", "P@1", 79.5] in table.records
    assert "Scores are of seed 0." in table.notes


def test_markdown_for_people_and_csv_for_programs(tmp_path):
    rows, records = [["a|b", "1,000"], ["c", "2.5"]], [["a|b", 1000], ["c", 2.5]]
    table = Table("Title", ["name", "n"], rows, ["Note."], ["name", "value"], records)
    write_table(table, tmp_path / "t.csv", tmp_path / "t.md")
    assert (tmp_path / "t.csv").read_text() == "name,value\na|b,1000\nc,2.5\n"
    assert (tmp_path / "t.md").read_text() == (
        "# Title\n\n| name |     n |\n| ---- | ----: |\n| a\\|b | 1,000 |\n| c    |   2.5 |\n\nNote.\n"
    )
