"""Which searches there are: written out, in their order, and for which groups they count."""

import pytest

from orchard.errors import ConfigError
from orchard.search_plan import points_of, search_of, searched_variant

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
