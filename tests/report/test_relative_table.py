"""Relative differences of micro-F1 are those of means, who is ahead is judged seed by seed, and choices are told."""

from functools import partial
from pathlib import Path

import pytest

from orchard.config import load_yaml
from orchard.errors import ConfigError
from orchard.report.published import read_published
from orchard.report.relative_table import AHEAD_NOTE, fitting_sentence, improvements_table, schemes_table
from orchard.report.rows import resolve_rows, without
from orchard.report.scores_table import scores_table
from orchard.report.tables import write_table

NAMES = {
    "Seq2Seq": "seq2seq",
    "MLC2Seq": "mlc2seq",
    "SGM": "sgm",
    "BM_all": "bm-all",
    "BM_all + OT": "bm-all-ot",
    "BM_all + OT + LC": "bm-all-ot-lc",
    "BM_first-n": "bm-first",
    "BM_first-n + OT": "bm-first-ot",
    "BM_first-n + OT + LC": "bm-first-ot-lc",
}
ARTEFACT = {
    "title": "Improvements",
    "metrics": ["F1"],
    "rows": [{"row": row, "method": method} for row, method in NAMES.items()],
    "notes": ["A note."],
}
SCHEMES = ARTEFACT | {"rows": [row for row in ARTEFACT["rows"] if row["row"] in ("BM_all", "BM_first-n")]}
IMPROVEMENT = "relative improvement of micro-F1"
TABLE_4 = [f"small,,BM,{IMPROVEMENT},2.37%,", f"small,,BM + OT,{IMPROVEMENT},6.53%,"]
TABLE_5 = [
    "small,,BM_all,micro-F1,59.61,",
    "small,,BM_first-n,micro-F1,59.12,",
    "small,,BM_first-n,relative difference,↓ 0.82%,",
]


@pytest.fixture
def printed(tmp_path):
    def written(lines):
        path = tmp_path / "published.csv"
        path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
        return path

    return written


def score(method, f1, seed=0, validation=70.0, dataset="small", simulated=False):
    about = {"dataset": dataset, "variant": "clean", "method": method, "seed": seed, "simulated": simulated}
    return about | {"metrics": {"F1": f1, "validation F1": validation}}


def runs(method, *f1s, **about):
    return [score(method, f1, seed, **about) for seed, f1 in enumerate(f1s)]


# Means: SGM 50 is the best baseline; BM_all 52, BM_all + OT 49, and BM_first-n 60, whose validation F1 is lower.
SCORES = [
    *runs("seq2seq", 40.0, 42.0),
    *runs("sgm", 49.0, 51.0),
    *runs("bm-all", 51.0, 53.0, validation=60.0),
    *runs("bm-all-ot", 48.0, 50.0),
    *runs("bm-first", 59.0, 61.0, validation=59.5),
]


def statistics(*histogram, name="small"):
    return [{"name": name, "simulated": False, "label_count_histogram": {"train": list(histogram)}}]


def test_improvements_are_those_of_the_scheme_with_the_better_validation_over_the_best_baseline(printed):
    """52 is 4 % above 50, and 49 is 2 % below it; the printed 2.37 % and 6.53 % are 1.63 and 8.53 points away."""
    table = improvements_table(ARTEFACT, SCORES, printed(TABLE_4))
    over = "over SGM 50.00 ± 1.41"
    assert table.header[3:] == [IMPROVEMENT, "of", "ahead (BM − baseline)", "measured − published"]
    assert table.rows == [
        ["small", "BM", "published", "2.37%", "", "", ""],
        ["small", "BM", "measured", "+4.00%", f"BM_all 52.00 ± 1.41 {over}", "BM_all (+2.00 ± 0.00)", "+1.63 points"],
        ["small", "BM + OT", "published", "6.53%", "", "", ""],
        ["small", "BM + OT", "measured", "−2.00%", f"BM_all + OT 49.00 ± 1.41 {over}", "SGM (−1.00 ± 0.00)",
         "−8.53 points"],
    ]  # fmt: skip
    assert table.notes[:2] == [
        "A note.",
        "BM is the scheme with the higher validation F1 without OT and LC: BM_all on small (60.00; BM_first-n 59.50).",
    ]
    assert table.notes[-1] == AHEAD_NOTE
    assert [record[3:6] for record in table.records if record[2] == "measured"] == [
        ["bm-all over sgm", IMPROVEMENT, pytest.approx(4.0)],
        ["bm-all-ot over sgm", IMPROVEMENT, pytest.approx(-2.0)],
    ]


def test_who_is_ahead_is_not_said_of_one_seed_or_of_seeds_that_disagree(printed):
    alone = [*runs("sgm", 50.0), *runs("bm-all", 52.0)]
    assert improvements_table(ARTEFACT, alone, printed([])).rows == [
        ["small", "BM", "measured", "+4.00%", "BM_all 52.00 over SGM 50.00", "one seed, no verdict (+2.00)",
         "not in the paper"],
    ]  # fmt: skip
    apart = [*runs("sgm", 50.0, 50.0), *runs("bm-all", 51.0, 53.0)]
    assert improvements_table(ARTEFACT, apart, printed([])).rows[0][5] == "inconclusive (+2.00 ± 1.41)"


def test_a_scheme_is_chosen_by_validation_or_not_at_all(printed):
    """Of a single scheme there is nothing to choose, nor to tell; nothing is above a baseline that finds no label."""
    first = [*runs("sgm", 0.0), *runs("bm-first", 60.0)]
    table = improvements_table(ARTEFACT, first, printed(TABLE_4))
    assert table.rows[1][3:] == ["–", "BM_first-n 60.00 over SGM 0.00", "one seed, no verdict (+60.00)", "–"]
    assert not any("validation" in note for note in table.notes)
    for one in first:
        del one["metrics"]["validation F1"]
    with pytest.raises(ConfigError, match=r"results/runs/small/clean/bm-first: a score\.json has no 'validation F1'"):
        improvements_table(ARTEFACT, [*first, *runs("bm-all", 60.0)], printed([]))


def test_simulated_data_stands_beside_no_published_number_and_judges_nothing(printed):
    scores = [one | {"simulated": True} for one in SCORES]
    for table in (
        improvements_table(ARTEFACT, scores, printed(TABLE_4)),
        schemes_table(SCHEMES, scores, statistics(0, 1, 2), printed(TABLE_5)),
    ):
        lines = [row for row in table.rows if "simulated" in row[1:3]]
        assert lines and all(row[-2:] == ["–", "simulated"] for row in lines)
        assert any("Simulated data" in note and "small" in note for note in table.notes)
        assert not any("Section 3.6" in note or note == AHEAD_NOTE for note in table.notes)


def test_schemes_stand_side_by_side_with_the_label_counts(printed):
    """60 is 15.38 % above 52. Three of four samples have one label, so at most the average of 1.25."""
    table = schemes_table(SCHEMES, SCORES, statistics(0, 3, 1), printed(TABLE_5))
    assert table.header[2:-1] == ["BM_all", "BM_first-n", "relative difference",
        "samples with at most the average label count", "ahead (BM_first-n − BM_all)"]  # fmt: skip
    assert table.rows == [
        ["small", "published", "59.61", "59.12", "↓ 0.82%", "–", "BM_all", ""],
        ["small", "measured", "52.00 ± 1.41", "60.00 ± 1.41", "+15.38%", "75.0%", "BM_first-n (+8.00 ± 0.00)",
         "+16.20 points"],
    ]  # fmt: skip
    assert table.notes[-1].splitlines()[2:] == [
        "- small, published: 75.0% have at most the average, ahead: BM_all; the first fits, by its converse",
        "- small, measured: 75.0% have at most the average, ahead: BM_first-n; the second fits, by its converse",
    ]
    assert [record[1:6] for record in table.records] == [
        ["BM_all", "published", "", "micro-F1", 59.61],
        ["BM_first-n", "published", "", "micro-F1", 59.12],
        ["BM_first-n", "published", "", "relative difference", -0.82],
        ["BM_all", "measured", "bm-all", "micro-F1", 52.0],
        ["BM_first-n", "measured", "bm-first", "micro-F1", 60.0],
        ["BM_first-n", "measured", "", "relative difference", pytest.approx(100 * 8 / 52)],
        ["", "measured", "", "samples with at most the average label count", 0.75],
    ]


@pytest.mark.parametrize(
    ("share", "ahead", "told"),
    [
        (0.4, "BM_first-n", "the first fits"),
        (0.4, "BM_all", "the second fits"),
        (0.6, "BM_all", "the first fits, by its converse"),
        (0.6, "BM_first-n", "the second fits, by its converse"),
        (0.4, "inconclusive", "neither is decided"),
    ],
)
def test_the_two_sentences_of_section_3_6_exclude_each_other(share, ahead, told):
    """Both speak of data sets where less than half of the samples have at most the average."""
    assert fitting_sentence(share, ahead) == told


def test_a_data_set_that_the_paper_does_not_have_says_so(printed):
    scores = [one | {"dataset": "other"} for one in SCORES]
    table = schemes_table(SCHEMES, scores, statistics(0, 1, 3, name="other"), printed(TABLE_5))
    assert table.rows[-1][-1] == "not in the paper"
    assert any(note.endswith("without a published neighbour: other.") for note in table.notes)
    assert "- other, measured: 25.0% have at most the average, ahead: BM_first-n; the first fits" in table.notes[-1]
    assert "small, published" not in table.notes[-1]  # its label counts are not at hand


def test_nothing_run_leaves_what_is_published_and_the_reason(printed, tmp_path):
    for artefact, lines in ((ARTEFACT, TABLE_4), (SCHEMES, TABLE_5)):
        part = without(artefact, NAMES.values(), "PyTorch is not installed")
        part |= {"rows": resolve_rows(part, "smoke", ["toy-sim"])}
        if artefact is ARTEFACT:
            table = improvements_table(part, [], printed(lines))
        else:
            table = schemes_table(part, [], statistics(0, 1, 2, name="toy-sim"), printed(lines))
        assert table.rows and all("published" in row and row[-1] == "not run" for row in table.rows)
        assert len(table.notes) == 2 and table.notes[1].endswith(": PyTorch is not installed.")
        write_table(table, tmp_path / "t.csv", tmp_path / "t.md")


@pytest.mark.parametrize("name", ["table3", "table4", "table5", "table6"])
def test_the_tables_of_the_paper_have_a_row_for_every_printed_line(name):
    """Every number that the paper prints stands in the table, whatever was run."""
    paper = Path(__file__).parents[2] / "config/papers/otseq2set"
    path, artefact = paper / f"published/{name}.csv", load_yaml(paper / "artefacts.yaml")[name]
    render = {"table4": improvements_table, "table5": partial(schemes_table, statistics=[])}.get(name, scores_table)
    table = render(artefact, scores=[], published_csv=path)
    assert sorted(record[-2] for record in table.records) == sorted(value.number for value in read_published(path))
