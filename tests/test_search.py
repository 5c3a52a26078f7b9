"""The point of a search is chosen by validation accuracy, and only among points that were tried alike."""

import pytest

from orchard.search import choose_point


def score(size, rate, validation, seed=0, epoch=5, **changes):
    about = {"dataset": "small", "variant": "clean", "method": "net", "seed": seed, "simulated": False}
    metrics = {"validation accuracy": validation, "accuracy": 100 - validation}
    return about | {"metrics": metrics, "point": {"batch_size": size, "learning_rate": rate}, "epoch": epoch} | changes


def test_the_best_mean_on_validation_data_is_chosen_whatever_the_test_set_says():
    """One seed of the other point is better, and its test accuracy is, too."""
    scores = [score(32, 0.1, 70.0, 1, epoch=8), score(32, 0.1, 60.0, 0, epoch=5)]
    scores += [score(64, 0.01, 75.0, 0, epoch=2), score(64, 0.01, 40.0, 1, epoch=2)]
    assert choose_point(scores) == {
        "parameters": {"batch_size": 32, "learning_rate": 0.1, "epochs": 7},  # 6.5, rounded up
        "validation accuracy": 65.0,
        "seeds": [0, 1],
    }


@pytest.mark.parametrize("turned", [False, True])
def test_ties_go_to_the_larger_batch_and_then_to_the_smaller_rate(turned):
    scores = [score(size, rate, 50.0) for size, rate in ((32, 0.001), (64, 0.1), (64, 0.01))]
    chosen = choose_point(scores[::-1] if turned else scores)
    assert chosen["parameters"] == {"batch_size": 64, "learning_rate": 0.01, "epochs": 5}


def test_other_parameters_may_be_searched():
    """On a tie the smaller one is chosen, and every point is told from the others by all of its parameters."""
    scores = [score(32, 0.1, 50.0 + (tau == 1), point={"tau": tau}) for tau in (3.0, 1.0, 0.3)]
    assert choose_point(scores)["parameters"] == {"tau": 1.0, "epochs": 5}
    assert choose_point(scores[::2])["parameters"]["tau"] == 0.3


def test_epochs_that_were_fixed_before_are_no_part_of_the_choice():
    """All scores have an epoch or none has; that of some would be the mean of who knows what."""
    scores = [score(32, 0.1, 50.0 + (tau == 1), point={"tau": tau}) for tau in (3.0, 1.0)]
    fixed = [{key: value for key, value in one.items() if key != "epoch"} for one in scores]
    assert choose_point(fixed)["parameters"] == {"tau": 1.0}
    for mixed in ([scores[0], fixed[1]], [fixed[0], scores[1]]):
        with pytest.raises(ValueError, match="some of the scores have an epoch"):
            choose_point(mixed)


def test_points_with_other_seeds_are_not_compared():
    with pytest.raises(ValueError, match=r"'batch_size': 32.*needs the seeds \[0, 1\], each once; this one has \[0\]"):
        choose_point([score(32, 0.1, 50.0, seed=0), score(64, 0.1, 60.0, seed=1)])
    with pytest.raises(ValueError, match=r"needs the seeds \[0\], each once; this one has \[0, 0\]"):
        choose_point([score(32, 0.1, 50.0), score(32, 0.1, 60.0)])


def test_a_choice_needs_scores_and_they_are_of_one_search():
    with pytest.raises(ValueError, match="no scores"):
        choose_point([])
    with pytest.raises(ValueError, match="more than one search: other/clean/net and small/clean/net"):
        choose_point([score(32, 0.1, 50.0), score(32, 0.1, 50.0, dataset="other")])
