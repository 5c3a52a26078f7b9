"""Tables of results say what was published, measured and simulated, by how much they differ, and what was not run."""

import pytest

from orchard.errors import ConfigError
from orchard.report.rows import resolve_rows, without
from orchard.report.scores_table import scores_table
from orchard.report.tables import write_table

ARTEFACT = {
    "title": "Toy results",
    "metrics": ["P@1", "PSP@1"],
    "rows": [
        {"row": "Tree", "method": "tree", "not_run_on": {"huge": "it is too large"}},
        {"row": "Net", "not_run": "it needs a GPU"},
    ],
    "notes": ["A note."],
}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table3.csv"
    lines = ["small,,Tree,P@1,80.00,", "small,,Tree,PSP@1,-,", "small,,Net,P@1,85.10,", "huge,,Tree,P@1,40.00,"]
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    return path


def score(dataset, precision, seed=0, method="tree", variant="clean", simulated=False):
    metrics = {"P@1": precision, "PSP@1": 30.0, "nDCG@1": 1.0}
    return {
        "dataset": dataset,
        "method": method,
        "variant": variant,
        "seed": seed,
        "simulated": simulated,
        "metrics": metrics,
    }


def test_published_and_measured_lines_stand_together(published):
    table = scores_table(ARTEFACT, [score("small", 79.456)], published)
    assert table.header == ["data set", "method", "source", "P@1", "PSP@1", "measured − published"]
    assert table.rows == [
        ["small", "Tree", "published", "80.00", "-", ""],
        ["small", "Tree", "measured", "79.46", "30.00", "P@1 −0.54"],
        ["small", "Net", "published", "85.10", "–", "not run"],
        ["huge", "Tree", "published", "40.00", "–", "not run"],
    ]


def test_notes_tell_what_was_not_run_and_why(published):
    notes = scores_table(ARTEFACT, [score("small", 79.0)], published).notes
    assert notes == [
        "A note.",
        "Scores are of seed 0. Runs (`config/methods`): Tree by `tree`.",
        "Not run: Tree on huge: it is too large.",
        "Not run: Net: it needs a GPU.",
        "Published only, the data is not part of this scale: huge.",
    ]


def test_the_csv_holds_plain_numbers_and_the_run_behind_them(published):
    table = scores_table(ARTEFACT, [score("small", 79.456)], published)
    assert table.record_header == ["data set", "setting", "method", "source", "run", "column", "value", "spread"]
    assert table.records == [
        ["small", "", "Tree", "published", "", "P@1", 80.0, ""],
        ["small", "", "Tree", "measured", "tree", "P@1", 79.456, ""],
        ["small", "", "Tree", "measured", "tree", "PSP@1", 30.0, ""],
        ["small", "", "Net", "published", "", "P@1", 85.1, ""],
        ["huge", "", "Tree", "published", "", "P@1", 40.0, ""],
    ]


def test_several_seeds_become_a_mean_with_its_spread(published):
    table = scores_table(
        ARTEFACT, [score("small", precision, seed) for seed, precision in enumerate((79, 81, 80))], published
    )
    assert table.rows[1][3:] == ["80.00 ± 1.00", "30.00 ± 0.00", "P@1 +0.00"]
    assert "means over the seeds 0, 1, 2, ± their standard deviation" in table.notes[1]


def test_simulated_data_stands_beside_no_published_number(published):
    """Not even under the name of a data set of the paper."""
    for name in ("toy-sim", "small"):
        table = scores_table(ARTEFACT, [score(name, 79.0, simulated=True)], published)
        (line,) = [row for row in table.rows if row[2] == "simulated"]
        assert line == [name, "Tree", "simulated", "79.00", "30.00", "simulated"]
        assert any("Simulated data" in note and name in note for note in table.notes)


def test_a_data_set_that_the_paper_does_not_have_says_so(published):
    table = scores_table(ARTEFACT, [score("other", 79.0)], published)
    assert table.rows[-1] == ["other", "Tree", "measured", "79.00", "30.00", "not in the paper"]
    assert any(note.endswith("without a published neighbour: other.") for note in table.notes)


def test_settings_tell_lines_of_the_same_name_apart(tmp_path):
    path = tmp_path / "table2.csv"
    path.write_text("dataset,setting,method,metric,value,note\nsmall,R-4,Tree,P@1,70.0,\nsmall,R-10,Tree,P@1,60.0,\n")
    rows = [
        {"row": "Tree", "setting": "R-4", "method": "tree", "variant": "aggregated/random-4"},
        {"row": "Tree", "setting": "R-10", "method": "tree", "variant": "aggregated/random-10"},
    ]
    scores = [score("small", 71.0, variant="aggregated/random-4"), score("small", 59.0, variant="aggregated/random-10")]
    table = scores_table({"title": "", "metrics": ["P@1"], "rows": rows}, scores, path)
    assert table.rows == [
        ["small", "R-4", "Tree", "published", "70.0", ""],
        ["small", "R-4", "Tree", "measured", "71.00", "P@1 +1.00"],
        ["small", "R-10", "Tree", "published", "60.0", ""],
        ["small", "R-10", "Tree", "measured", "59.00", "P@1 −1.00"],
    ]


def test_a_line_of_the_paper_may_not_be_forgotten(published):
    artefact = ARTEFACT | {"rows": ARTEFACT["rows"][:1]}
    with pytest.raises(ConfigError, match="the artefact has no row for: Net"):
        scores_table(artefact, [], published)


def test_a_table_without_any_run_is_the_published_one(published):
    table = scores_table(ARTEFACT, [], published)
    assert {row[2] for row in table.rows} == {"published"}


def test_a_line_of_dashes_needs_no_row(published):
    """Table 5 of eagle prints the oracle once, and `-` in all other groups of lines."""
    with published.open("a", encoding="utf-8") as file:
        file.write("small,R-4,Tree,P@1,-,\n")
    assert len(scores_table(ARTEFACT, [], published).rows) == 3


def test_an_oversized_run_is_an_o_with_an_explanation(published):
    with published.open("a", encoding="utf-8") as file:
        file.write("large,,Tree,P@1,O,\n")
    scores = [score(name, 0.0) | {"metrics": {}, "oversized": True} for name in ("small", "large")]
    table = scores_table(ARTEFACT, scores, published)
    assert table.rows[1] == ["small", "Tree", "measured", "O", "O", "oversized"]
    assert table.rows[-1] == ["large", "Tree", "measured", "O", "O", "oversized, as published"]
    assert not [record for record in table.records if record[3] == "measured"]
    assert any(note.startswith("`O`: oversized") for note in table.notes)


CROSSED = {
    "title": "",
    "metrics": ["P@1"],
    "rows": [{"row": "Baseline", "method": "tree"}, {"row": "EAGLE", "method": "eagle"}],
    "settings": [
        {"setting": "R-4", "variant": "aggregated/random-4"},
        {"setting": "R-10", "variant": "aggregated/random-10", "method_for": {"small": {"eagle": "eagle-5"}}},
        {"setting": "R-6", "variant": "aggregated/random-6", "from": "laptop"},
    ],
}


@pytest.fixture
def crossed(tmp_path):
    """Our runs agree with the paper's order for R-4, and not for R-10; the gap of R-6 is not measured."""
    path = tmp_path / "table5.csv"
    lines = [f"small,{setting},{method},P@1,{value}," for setting, method, value in (
        ("R-4", "Baseline", "70.0"), ("R-4", "EAGLE", "75.0"), ("R-10", "Baseline", "50.0"), ("R-10", "EAGLE", "53.0"),
        ("R-6", "Baseline", "60.0"), ("R-6", "EAGLE", "65.0"))]  # fmt: skip
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    return path


CROSSED_SCORES = [
    score("small", 71.0, method="tree", variant="aggregated/random-4"),
    score("small", 72.0, method="eagle", variant="aggregated/random-4"),
    score("small", 52.0, method="tree", variant="aggregated/random-10"),
    score("small", 51.5, method="eagle-5", variant="aggregated/random-10"),
]


def test_crossed_rows_are_told_once_and_later_settings_with_their_scale(crossed):
    table = scores_table(CROSSED | {"rows": resolve_rows(CROSSED, "demo", ["small"])}, CROSSED_SCORES, crossed)
    assert table.notes[:2] == [
        "Scores are of seed 0. Runs (`config/methods`): Baseline by `tree`, EAGLE by `eagle`, "
        "EAGLE (R-10) on small by `eagle-5`.",
        "Run from the scale `laptop` on: R-6.",
    ]
    assert table.rows[-2:] == [
        ["small", "R-6", "Baseline", "published", "60.0", "not run"],
        ["small", "R-6", "EAGLE", "published", "65.0", "not run"],
    ]
    (line,) = [row for row in table.rows if row[1:4] == ["R-10", "EAGLE", "measured"]]
    assert line[4:] == ["51.50", "P@1 −1.50"]


def test_the_order_of_methods_is_compared_where_the_papers_gap_is_clear(crossed):
    part = CROSSED | {"rows": resolve_rows(CROSSED, "demo", ["small"])}
    assert scores_table(part, CROSSED_SCORES, crossed).notes[-1] == (
        "Order of methods as published in 1 of 2 comparisons whose published gap is over two points; differing: "
        "Baseline − EAGLE on small, R-10, P@1 (published −3.00, measured +0.50)."
    )
    crossed.write_text(crossed.read_text().replace("53.0", "52.0"))  # a gap of two points is not over two
    assert scores_table(part, CROSSED_SCORES, crossed).notes[-1] == (
        "Order of methods as published in 1 of 1 comparisons whose published gap is over two points."
    )


def test_simulated_runs_are_not_compared_with_the_papers_order(crossed):
    scores = [one | {"simulated": True} for one in CROSSED_SCORES]
    table = scores_table(CROSSED | {"rows": resolve_rows(CROSSED, "demo", ["small"])}, scores, crossed)
    assert not any("Order of methods" in note for note in table.notes)


def test_a_table_beyond_the_paper_compares_a_row_with_the_best_of_others():
    """Nothing is published: no column for it; the note counts where the row is ahead, and names where it is not."""
    rows = [{"row": name, "method": name, "variant": "v", "setting": "S"} for name in ("old", "older", "new")]
    artefact = {
        "title": "T",
        "metrics": ["P@1", "PSP@1"],
        "rows": rows,
        "compare": {"row": "new", "with": ["old", "older"]},
    }
    scores = [
        score("small", p, method=name, variant="v") for name, p in (("old", 70.0), ("older", 71.0), ("new", 72.0))
    ]
    table = scores_table(artefact, scores)
    assert table.header == ["data set", "setting", "method", "source", "P@1", "PSP@1"]
    assert table.rows[-1] == ["small", "S", "new", "measured", "72.00", "30.00"]
    assert table.notes[-1] == (
        "new is ahead of the best of old; older in 1 of 2 comparisons; not in: small, S, PSP@1 (+0.00)."
    )
    assert not any("paper" in note for note in table.notes)
    artefact["compare"]["metrics"] = ["P@1"]
    assert scores_table(artefact, scores).notes[-1].endswith("in 1 of 1 comparisons.")


def test_a_table_in_which_nothing_can_be_run_shows_the_published_one_and_why(crossed, tmp_path):
    """No sentence about data that is not at hand: that is not the reason."""
    part = without(CROSSED, {"tree", "eagle"}, "PyTorch is not installed")
    table = scores_table(part | {"rows": resolve_rows(part, "laptop", ["small"])}, [], crossed)
    assert {(row[3], row[-1]) for row in table.rows} == {("published", "not run")}
    assert table.notes == ["Not run: Baseline; EAGLE: PyTorch is not installed."]
    write_table(scores_table(part, []), tmp_path / "t.csv", tmp_path / "t.md")  # nor anything published
    assert "| method |" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_what_a_whole_setting_is_not_run_on_is_told_once(crossed):
    settings = [setting | {"not_run_on": {"small": "no groups"}} for setting in CROSSED["settings"][:1]]
    part = CROSSED | {"settings": [*settings, *CROSSED["settings"][1:]]}
    notes = scores_table(part | {"rows": resolve_rows(part, "laptop", ["small"])}, CROSSED_SCORES, crossed).notes
    assert [note for note in notes if "no groups" in note] == ["Not run: R-4 on small: no groups."]
    part["rows"] = [part["rows"][0] | {"not_run_on": {"small": "too large"}}, part["rows"][1]]
    notes = scores_table(part | {"rows": resolve_rows(part, "laptop", ["small"])}, CROSSED_SCORES, crossed).notes
    assert [note for note in notes if "no groups" in note] == ["Not run: EAGLE (R-4) on small: no groups."]
