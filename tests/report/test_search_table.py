"""The table of a search shows what the paper tried, what we tried, and what was chosen by validation alone."""

import pytest

from orchard.errors import ConfigError
from orchard.report.rows import without
from orchard.report.search_table import search_table
from orchard.report.tables import write_table

ARTEFACT = {"title": "Search", "rows": [{"row": "Net", "method": "net"}], "notes": ["A note."]}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table6.csv"
    lines = ['yelp,"bs = 32, lr = 0.1",Net,Acc.,10.96 ± 0.41,', 'yelp,"bs = 64, lr = 0.1",Net,Acc.,11.20 ± 0.34,']
    lines += [
        'yelp,"bs = 32, lr = 0.0001",Net,Acc.,40.70 ± 1.02,',
        'yelp,"bs = 64, lr = 0.0001",Net,Acc.,40.69 ± 1.43,',
    ]
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    return path


def scores(accuracies, dataset="small", simulated=False, allowed=20):
    """accuracies : {(batch size, learning rate): [(validation, test) for every seed]}; allowed : epochs."""
    about = {"dataset": dataset, "variant": "clean", "method": "net", "simulated": simulated}
    return [
        about
        | {"seed": seed, "epoch": 4 + 2 * seed, "metrics": {"accuracy": test, "validation accuracy": validation}}
        | {"point": {"batch_size": size, "learning_rate": rate}, "params": {"epochs": allowed}}
        for (size, rate), of_seeds in accuracies.items()
        for seed, (validation, test) in enumerate(of_seeds)
    ]


SMALL = {(32, 0.1): [(50.0, 61.0), (52.0, 63.0)], (512, 0.01): [(60.0, 59.0), (62.0, 61.0)]}


def test_grids_stand_below_each_other_with_the_choices_in_bold(published):
    """A learning rate or a batch size that only one of them has leaves cells of the other empty."""
    table = search_table(ARTEFACT, scores(SMALL), published)
    assert table.header == ["data set", "source", "bs", "lr = 0.1", "lr = 0.01", "lr = 0.0001"]
    assert table.rows == [
        ["yelp", "published", 32, "10.96 ± 0.41", "–", "40.70 ± 1.02"],
        ["yelp", "published", 64, "11.20 ± 0.34", "–", "**40.69 ± 1.43**"],
        ["small", "measured", 32, "62.00 ± 1.41", "–", "–"],
        ["small", "measured", 512, "–", "**60.00 ± 1.41**", "–"],
    ]


def test_notes_tell_what_the_choice_gives_and_what_it_costs(published):
    assert search_table(ARTEFACT, scores(SMALL), published).notes == [
        "A note.",
        "Bold: the point that was chosen. The paper chose bs = 64, lr = 0.0001 (caption); 1 of its points is higher.",
        "Chosen on small by validation accuracy alone: bs = 512, lr = 0.01, 5 epochs (validation 61.00, test 60.00); "
        "on the edge of the grid: bs = 512, lr = 0.01. The test set would have chosen bs = 32, lr = 0.1 (62.00); the "
        "choice costs 2.00 points.",
        "Measured: test accuracy at the epoch with the best validation accuracy. Scores are means over the seeds 0, 1, "
        "± their standard deviation. Epochs are the mean over the seeds of that epoch, rounded.",
    ]
    same = scores({(32, 0.1): [(50.0, 61.0)]})
    assert search_table(ARTEFACT, same, published).notes[2].endswith("It is the best on the test set, too.")
    text = published.read_text(encoding="utf-8").replace("11.20", "41.20")
    published.write_text(text, encoding="utf-8")
    assert search_table(ARTEFACT, [], published).notes[1].endswith("; 2 of its points are higher.")


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ((64, 0.01), None),
        ((32, 0.01), "bs = 32"),
        ((128, 0.01), "bs = 128"),
        ((64, 0.001), "lr = 0.001"),
        ((64, 0.1), "lr = 0.1"),
        ((32, 0.1), "bs = 32, lr = 0.1"),
    ],
)
def test_a_choice_on_the_edge_of_the_grid_says_so(published, chosen, told):
    grid = {(size, rate): [(50.0, 50.0)] for size in (32, 64, 128) for rate in (0.1, 0.01, 0.001)}
    note = search_table(ARTEFACT, scores(grid | {chosen: [(60.0, 60.0)]}), published).notes[2]
    assert "test 60.00)" + (f"; on the edge of the grid: {told}. It is" if told else ". It is") in note


def test_what_is_the_same_at_all_points_has_no_edge(published):
    note = search_table(ARTEFACT, scores({(32, 0.1): [(50.0, 61.0)], (32, 0.01): [(60.0, 62.0)]}), published).notes[2]
    assert "; on the edge of the grid: lr = 0.01." in note


def test_a_choice_of_all_epochs_that_were_allowed_says_so(published):
    grid = {(32, 0.1): [(50.0, 61.0)], (64, 0.1): [(60.0, 61.0)]}
    told = {allowed: search_table(ARTEFACT, scores(grid, allowed=allowed), published).notes[2] for allowed in (4, 5)}
    assert "lr = 0.1, 4 epochs, the most that was allowed (validation" in told[4]
    assert "lr = 0.1, 4 epochs (validation" in told[5]
    single = [score | {"epoch": 1} for score in scores(grid)]
    assert "lr = 0.1, 1 epoch (validation" in search_table(ARTEFACT, single, published).notes[2]


def test_epochs_that_were_fixed_before_are_not_told(published):
    fixed = [{key: value for key, value in score.items() if key != "epoch"} for score in scores(SMALL)]
    *_, choice, measured = search_table(ARTEFACT, fixed, published).notes
    assert "bs = 512, lr = 0.01 (validation 61.00" in choice
    assert measured.startswith("Measured: test accuracy. Scores") and "Epochs" not in measured


@pytest.mark.parametrize("point", [{"tau": 1.0}, {"batch_size": 32, "learning_rate": 0.1, "tau": 1.0}])
def test_a_search_for_other_parameters_is_refused(published, point):
    other = [score | {"point": point} for score in scores({(32, 0.1): [(50.0, 61.0)]})]
    with pytest.raises(ConfigError, match=r"small: .* for batch_size and learning_rate, this one is for .*tau"):
        search_table(ARTEFACT, other, published)


def test_the_csv_holds_both_accuracies_and_what_was_chosen(published):
    records = search_table(ARTEFACT, scores({(32, 0.1): [(50.0, 61.0)]}), published).records
    assert records[0] == ["yelp", "published", 32, 0.1, "accuracy", 10.96, 0.41, "", "", ""]
    assert records[3] == ["yelp", "published", 64, 0.0001, "accuracy", 40.69, 1.43, "", "", "yes"]
    assert records[4:] == [
        ["small", "measured", 32, 0.1, "accuracy", 61.0, "", "", 1, "yes"],
        ["small", "measured", 32, 0.1, "validation accuracy", 50.0, "", "", 1, "yes"],
    ]


def test_the_csv_holds_the_error_of_a_mean_over_seeds(published):
    """What claims judge it by: 61 and 63 are 62 with a standard deviation of √2, and so a standard error of 1."""
    record = search_table(ARTEFACT, scores(SMALL), published).records[4]
    assert record[:6] == ["small", "measured", 32, 0.1, "accuracy", 62.0]
    assert record[6:] == [pytest.approx(2**0.5), pytest.approx(1.0), 2, ""]


def test_every_data_set_has_its_choice_and_simulated_ones_say_so(published):
    table = search_table(ARTEFACT, scores(SMALL) + scores({(64, 0.1): [(9.0, 8.0)]}, "toy-sim", True), published)
    assert table.rows[-1] == ["toy-sim", "simulated", 64, "**8.00**", "–", "–"]
    assert [note.split()[2] for note in table.notes if note.startswith("Chosen")] == ["small", "toy-sim"]
    assert "Simulated data" in table.notes[-1] and table.notes[-1].endswith("toy-sim.")


def test_nothing_run_is_the_published_grid_and_the_reason(published):
    table = search_table(without(ARTEFACT, {"net"}, "PyTorch is not installed"), [], published)
    assert {row[1] for row in table.rows} == {"published"}
    assert table.notes[-1] == "Not run: Net: PyTorch is not installed."


def test_bold_cells_stay_right_aligned(published, tmp_path):
    write_table(search_table(ARTEFACT, [], published), tmp_path / "t.csv", tmp_path / "t.md")
    assert "|  bs |     lr = 0.1 |      lr = 0.0001 |\n" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_a_published_setting_that_is_no_point_is_refused(published):
    published.write_text(published.read_text(encoding="utf-8").replace("bs = 32,", "batch 32,"), encoding="utf-8")
    with pytest.raises(ConfigError, match="setting 'batch 32"):
        search_table(ARTEFACT, [], published)
