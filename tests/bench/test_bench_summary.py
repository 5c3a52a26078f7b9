"""The bench's arithmetic: what counts as a measurement, which peer is the best, when a bar is met."""

import pytest

from bench import settings, summary

EDITIONS = {configuration.name: "now" for configuration in settings.CONFIGURATIONS}


def record(configuration, repetition=1, dataset="eurlex-4k", precision=80.0, **values):
    costs = dict.fromkeys([quantity.key for quantity in settings.QUANTITIES], 10.0)
    others = dict.fromkeys(["read_s", "load_s", "save_s", "memory_before_bytes"], 1.0)
    precisions = dict.fromkeys(settings.PRECISIONS, precision)
    return {
        "dataset": dataset, "configuration": configuration, "repetition": repetition, "threads": 2, "edition": "now",
        "again": False, "status": "ok", "model_sha256": f"{configuration} {repetition}", "load_average": 1.5,
        "run": "monday",
    } | costs | others | precisions | values  # fmt: skip


def by_quantity(records):
    ratios = summary.ratios(summary.summarise(records, EDITIONS))
    return {(ratio.orchard.configuration.name, ratio.quantity.key): ratio for ratio in ratios}


def test_a_figure_is_the_median_with_its_range():
    records = [record("pecos-2-ary", n, train_s=seconds) for n, seconds in enumerate((3.0, 1.0, 8.0), start=1)]
    (one,) = summary.summarise(records, EDITIONS)
    assert one.n == 3
    assert one.figures["train_s"] == summary.Figure(3.0, 1.0, 8.0)
    assert one.figures["train_s"].spread == pytest.approx(3.5 / 3)


def test_measurements_of_an_older_engine_do_not_count():
    records = [record("orchard-binary", train_s=1.0, edition="before"), record("orchard-binary", train_s=5.0)]
    (one,) = summary.summarise(records, EDITIONS)
    assert one.figures["train_s"].median == 5


def test_the_last_engine_measured_is_shown_and_named_where_the_current_one_was_not():
    """Peers whose version or settings have changed are not shown at all."""
    current = dict.fromkeys(EDITIONS, "new/a")
    records = [
        record("orchard-binary", edition="old/a"),
        record("orchard-16-ary", edition="old/a"),
        record("orchard-16-ary", edition="new/a"),
        record("orchard-three", edition="old/b"),
        record("pecos-2-ary", edition="old/a"),
    ]
    chosen, older = summary.choose_editions(records, current)
    assert older == ["orchard-binary"]
    assert chosen == current | {"orchard-binary": "old/a"}


def test_the_best_peer_is_chosen_for_each_quantity():
    records = [
        record("orchard-binary", train_s=2.0, batch_ms=9.0),
        record("pecos-2-ary", train_s=10.0, batch_ms=20.0),
        record("omikuji-16-ary", train_s=16.0, batch_ms=18.0),
    ]
    ratios = by_quantity(records)
    training, batch = ratios["orchard-binary", "train_s"], ratios["orchard-binary", "batch_ms"]
    assert (training.peer.configuration.name, training.value, training.met) == ("pecos-2-ary", 0.2, True)
    assert (batch.peer.configuration.name, batch.value, batch.met) == ("omikuji-16-ary", 0.5, False)


def test_a_fast_but_inaccurate_peer_sets_no_bar():
    records = [
        record("orchard-binary", train_s=2.0),
        record("pecos-2-ary", train_s=10.0),
        record("fasttext", train_s=0.1, precision=50.0),
        record("omikuji-binary", train_s=0.1, precision=77.9),
    ]
    assert by_quantity(records)["orchard-binary", "train_s"].peer.configuration.name == "pecos-2-ary"


def test_three_trees_are_compared_with_three_trees():
    records = [record("orchard-three"), record("pecos-2-ary", train_s=1.0), record("omikuji-three", train_s=40.0)]
    assert by_quantity(records)["orchard-three", "train_s"].value == 0.25


def test_without_a_bar_nothing_is_met_or_missed():
    ratios = by_quantity([record("orchard-binary"), record("pecos-2-ary")])
    assert ratios["orchard-binary", "single_p99_ms"].met is None


@pytest.mark.parametrize(
    ("precision", "verdict"), [(79.8, "within"), (79.6, "below"), (80.4, "above")], ids=["near", "low", "high"]
)
def test_accuracy_is_compared_with_the_same_settings(precision, verdict):
    records = [record("orchard-16-ary", precision=precision), record("pecos-16-ary"), record("pecos-2-ary")]
    (difference,) = summary.differences(summary.summarise(records, EDITIONS))
    assert difference.other == "PECOS, 16 splits"
    assert difference.verdict == verdict


def test_three_trees_on_eurlex_are_compared_with_the_published_numbers():
    records = [record("orchard-three", **{"P@1": 82.0, "P@3": 69.0, "P@5": 58.0})]
    (difference,) = summary.differences(summary.summarise(records, EDITIONS))
    assert difference.points == pytest.approx((-0.71, -0.42, -0.14))
    assert difference.verdict == "within"


def test_a_peer_that_failed_is_there_with_its_reason():
    failed = record("napkinxc-binary") | {"status": "failed", "reason": "killed"}
    summaries = summary.summarise([failed, record("orchard-binary")], EDITIONS)
    assert {one.configuration.name: one.reason for one in summaries} == {
        "orchard-binary": None,
        "napkinxc-binary": "killed",
    }


def test_orchard_and_peers_of_different_runs_are_noticed():
    """One side measured again on its own is not interleaved with the other; a run that was resumed is."""
    together = [record(name, n, run=f"run {n}") for name in ("orchard-binary", "pecos-2-ary") for n in (1, 2)]
    once = record("napkinxc-binary", run="run 1")
    assert summary.measured_apart(summary.summarise([*together, once], EDITIONS)) == []
    later = record("orchard-16-ary", run="run 3")
    assert summary.measured_apart(summary.summarise([*together, later], EDITIONS)) == ["eurlex-4k"]
    assert summary.measured_apart(summary.summarise([record("orchard-binary")], EDITIONS)) == []


def test_a_model_that_differs_in_any_run_is_noticed():
    runs = [record("orchard-binary", threads=threads, model_sha256="a") for threads in (1, 2)]
    again = record("orchard-binary", again=True, model_sha256="a")
    assert summary.same_models(*summary.summarise([*runs, again], EDITIONS)) == (3, True)
    again["model_sha256"] = "b"
    assert summary.same_models(*summary.summarise([*runs, again], EDITIONS)) == (3, False)


def test_different_seeds_may_give_different_models():
    runs = [record("orchard-binary", repetition) for repetition in (1, 2)]
    assert summary.same_models(*summary.summarise(runs, EDITIONS)) == (2, True)


def test_the_fits_recover_what_they_fit():
    labels = [1e4, 6.7e4, 2e5, 6.7e5]
    assert summary.fit_exponent(labels, [3 * n**1.2 for n in labels]) == pytest.approx(1.2)
    factor, worst = summary.fit_l_log_l(labels, [5e-6 * summary.l_log_l(n) for n in labels])
    assert (factor, worst) == pytest.approx((5e-6, 1.0))
    assert summary.fit_l_log_l(labels, [2.0, 1.0, 1.0, 1.0])[1] > 2
