"""Searches: written out, in their order, for which groups they count; the point is chosen by validation alone."""

import pytest

from orchard.errors import ConfigError
from orchard.hyperparameters import choose_point, points_of, search_of, searched_variant

METHODS = {
    "first": {
        "search": {
            "grid": {"batch_size": [16, 64], "learning_rate": [0.1, 0.0001]},
            "epochs": 9,
            "patience": 2,
            "seeds": [0],
            "variants": ["aggregated/random-4", "aggregated/random-50"],
            "per_dataset": {"small": {"seeds": [1, 2], "variants": ["aggregated/given"]}},
        }
    },
    "second": {"search": {"after": "first", "grid": {"tau": [0.1]}, "per_dataset": {"small": {"grid": {}}}}},
    "third": {"search": {"after": "second", "grid": {}}},
    "lost": {"search": {"after": "nobody", "grid": {}}},
    "plain": {},
}


def test_a_search_is_written_out_for_a_data_set():
    search = search_of("first", METHODS, "small")
    assert (search["seeds"], search["epochs"], search["patience"]) == ([1, 2], 9, 2)
    assert search["variants"] == ["aggregated/given"]
    assert search_of("first", METHODS, "large")["seeds"] == [0]


def test_a_search_after_another_has_its_seeds_and_variants_and_no_epochs():
    assert search_of("second", METHODS, "large") == {
        "after": "first",
        "grid": {"tau": [0.1]},
        "seeds": [0],
        "variants": ["aggregated/random-4", "aggregated/random-50"],
    }
    assert search_of("second", METHODS, "small")["seeds"] == [1, 2]


def test_points_are_all_combinations_by_name():
    points = points_of(search_of("first", METHODS, "large"))
    assert list(points) == [
        "batch_size=16,learning_rate=0.1",
        "batch_size=16,learning_rate=0.0001",
        "batch_size=64,learning_rate=0.1",
        "batch_size=64,learning_rate=0.0001",
    ]
    assert points["batch_size=64,learning_rate=0.1"] == {"batch_size": 64, "learning_rate": 0.1}
    assert points_of(search_of("second", METHODS, "small")) == {}


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("aggregated/random-50", "aggregated/random-50"),
        ("aggregated/random-10", "aggregated/random-4"),
        ("aggregated/random-20", "aggregated/random-50"),  # 20 : 4 is 5, 50 : 20 is 2.5
        ("aggregated/random-200-set", "aggregated/random-50"),
        ("aggregated/clustered-8", "aggregated/random-4"),
    ],
)
def test_groups_that_were_not_searched_on_take_the_nearest_choice(variant, expected):
    assert searched_variant(variant, search_of("first", METHODS, "large")) == expected


def test_given_groups_stand_for_all():
    assert searched_variant("aggregated/random-4", search_of("first", METHODS, "small")) == "aggregated/given"


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("plain", "has no `search`"),
        ("third", r"config/methods/third.yaml: search.after: 'second' is no method with a `search` of its own"),
        ("lost", "'nobody' is no method"),
        ("frist", "did you mean 'first'"),
    ],
)
def test_searches_that_make_no_sense_are_refused(method, words):
    with pytest.raises(ConfigError, match=words):
        search_of(method, METHODS, "large")


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
