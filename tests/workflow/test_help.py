"""Mistakes on the command line and in the configuration are met with a sentence that helps."""

import re

import pytest


@pytest.mark.parametrize(
    ("arguments", "config", "sentence"),
    [
        (["eagle-tabel1"], [], "unknown target 'eagle-tabel1'; did you mean 'eagle-table1'?"),
        (["results/data/eurlex-4K"], [], "unknown data set 'eurlex-4K'; did you mean 'eurlex-4k'?"),
        (
            ["results/runs/smoke-sim/clean/most-freqent/seed-0/score.json"],
            [],
            "unknown method 'most-freqent'; did you mean 'most-frequent'?",
        ),
        (
            ["results/runs/smoke-sim/cleen/most-frequent/seed-0/score.json"],
            [],
            "unknown variant 'cleen'; did you mean 'clean'?",
        ),
        (
            ["results/runs/smoke-sim/clean/deep-miml/seed-0/score.json"],
            [],
            "'deep-miml' learns from groups: its variant must be aggregated/…, not clean",
        ),
        (
            ["results/runs/smoke-sim/aggregated/random-4/eagle+deep-miml/seed-0/score.json"],
            [],
            "deep-miml learns from groups itself",
        ),
        (
            ["results/runs/smoke-sim/clean/seq2seq/seed-0/score.json"],
            [],
            "'seq2seq' reads texts, and the data set 'smoke-sim' has none (try ",
        ),
        (["eagle"], ["datasets=eurlex"], "unknown data set 'eurlex'"),
        (["eagle"], ["datasets=smoke-sim,eurlex"], "unknown data set 'eurlex'"),
        (["eagle"], ["scale=demmo"], "scale: 'demmo' is not one of smoke, demo, laptop, paper; did you mean 'demo'?"),
        (["eagle"], ["scales=demo"], "unknown key 'scales'; did you mean 'scale'?"),
    ],
)
def test_a_mistake_is_met_with_a_suggestion(checkout, arguments, config, sentence):
    done = checkout.snakemake("--dry-run", *arguments, config=config)
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("results/variants/smoke-sim/entangled/hrad-2/seed-0/Y.trn.npz", "mode must be one of easy, medium, hard"),
        ("results/variants/smoke-sim/entangled/hard-500/seed-0/Y.trn.npz", "number of labels (120), not 500"),
        (
            "results/variants/smoke-sim/aggregated/random/seed-0/Y1.npz",
            "unknown grouping 'random': it reads given, random-4",
        ),
    ],
)
def test_an_impossible_variant_is_explained(copy_of_finished, target, sentence):
    done = copy_of_finished.snakemake(target)
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_method_without_its_module_is_explained(checkout):
    (checkout.folder / "config/methods/mine.yaml").write_text("title: Mine\ndescription: x\nestimator: nowhere.Mine\n")
    done = checkout.snakemake("--dry-run", "results/runs/smoke-sim/clean/mine/seed-0/score.json")
    assert "config/methods: mine: estimator: there is no module 'nowhere'" in done.stdout + done.stderr


def test_a_wrong_key_in_a_data_set_is_named_before_anything_runs(checkout):
    path = checkout.folder / "config/datasets/smoke-sim.yaml"
    path.write_text(path.read_text().replace("propensity:", "propensities:"))
    done = checkout.snakemake("reproduce-all")
    assert done.returncode != 0
    sentence = "config/datasets/smoke-sim.yaml: (top level): unknown key 'propensities'; did you mean 'propensity'?"
    assert sentence in done.stdout + done.stderr
    assert not (checkout.folder / "results").exists()


def test_targets_are_listed_with_a_line_of_explanation_each(checkout):
    done = checkout.snakemake("--list-target-rules")
    targets = {"reproduce-all", "eagle", "disentangle", "labeltrees", "otseq2set", "eagle-table1", "labeltrees-fig6"}
    listed = dict(re.findall(r"^(\S+) \((.+)\)$", done.stdout, flags=re.M))
    assert targets <= listed.keys()
    assert len(listed) == len(done.stdout.splitlines())  # none without its explanation


def test_a_failed_fetch_says_why_and_names_the_scale_without_network(checkout):
    """The registry's address leads to a closed port of this machine."""
    closed = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple/", "PIP_EXTRA_INDEX_URL": "", "PIP_CONFIG_FILE": "/dev/null"}
    done = checkout.snakemake("eagle-table1", scale="demo", environment=closed)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "eurlex-4k" in said
    assert "SCALE=smoke" in said
    assert "ORCHARD_DATA" in said
    assert "Traceback" not in said
    assert not (checkout.folder / "results/raw/eurlex-4k").exists()
