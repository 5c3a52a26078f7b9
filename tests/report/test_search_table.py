"""The table of a search shows what the paper tried, what we tried, and what was chosen by validation alone."""

import pytest

from orchard.errors import ConfigError
from orchard.report.search_table import search_table
from orchard.report.tables import write_table

ARTEFACT = {"title": "Search", "notes": ["A note."]}


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


def scores(accuracies, dataset="small", simulated=False):
    """accuracies : {(batch size, learning rate): [(validation, test) for every seed]}."""
    about = {"dataset": dataset, "variant": "clean", "method": "net", "simulated": simulated}
    return [
        about
        | {"seed": seed, "epoch": 4 + 2 * seed, "metrics": {"accuracy": test, "validation accuracy": validation}}
        | {"point": {"batch_size": size, "learning_rate": rate}}
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
        "Bold: the point that was chosen. The paper chose bs = 64, lr = 0.0001 (caption); 1 of its points are higher.",
        "Chosen on small by validation accuracy alone: bs = 512, lr = 0.01, 5 epochs (validation 61.00, test 60.00). "
        "The test set would have chosen bs = 32, lr = 0.1 (62.00); the choice costs 2.00 points.",
        "Measured: test accuracy at the epoch with the best validation accuracy. Scores are means over the seeds 0, 1, "
        "± their standard deviation. Epochs are the mean over the seeds of that epoch, rounded.",
    ]
    same = scores({(32, 0.1): [(50.0, 61.0)]})
    assert search_table(ARTEFACT, same, published).notes[2].endswith("It is the best on the test set, too.")


def test_the_csv_holds_both_accuracies_and_what_was_chosen(published):
    records = search_table(ARTEFACT, scores({(32, 0.1): [(50.0, 61.0)]}), published).records
    assert records[0] == ["yelp", "published", 32, 0.1, "accuracy", 10.96, 0.41, ""]
    assert records[3] == ["yelp", "published", 64, 0.0001, "accuracy", 40.69, 1.43, "yes"]
    assert records[4:] == [
        ["small", "measured", 32, 0.1, "accuracy", 61.0, "", "yes"],
        ["small", "measured", 32, 0.1, "validation accuracy", 50.0, "", "yes"],
    ]


def test_every_data_set_has_its_choice_and_simulated_ones_say_so(published):
    table = search_table(ARTEFACT, scores(SMALL) + scores({(64, 0.1): [(9.0, 8.0)]}, "toy-sim", True), published)
    assert table.rows[-1] == ["toy-sim", "simulated", 64, "**8.00**", "–", "–"]
    assert [note.split()[2] for note in table.notes if note.startswith("Chosen")] == ["small", "toy-sim"]
    assert "Simulated data" in table.notes[-1] and table.notes[-1].endswith("toy-sim.")


def test_nothing_run_is_the_published_grid_and_the_reason(published):
    table = search_table(ARTEFACT | {"not_run": "PyTorch is not installed"}, [], published)
    assert {row[1] for row in table.rows} == {"published"}
    assert table.notes[-1] == "Not run: PyTorch is not installed."
    rows = [{"row": "Net", "not_run": "PyTorch is not installed"}]
    assert search_table(ARTEFACT | {"rows": rows}, [], published).notes[-1] == "Not run: Net: PyTorch is not installed."


def test_bold_cells_stay_right_aligned(published, tmp_path):
    write_table(search_table(ARTEFACT, [], published), tmp_path / "t.csv", tmp_path / "t.md")
    assert "|  bs |     lr = 0.1 |      lr = 0.0001 |\n" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_a_published_setting_that_is_no_point_is_refused(published):
    published.write_text(published.read_text(encoding="utf-8").replace("bs = 32,", "batch 32,"), encoding="utf-8")
    with pytest.raises(ConfigError, match="setting 'batch 32"):
        search_table(ARTEFACT, [], published)
