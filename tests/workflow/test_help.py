"""Mistakes on the command line and in the configuration are met with a sentence that helps."""

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
        (["eagle"], ["datasets=eurlex"], "unknown data set 'eurlex'"),
        (["eagle"], ["scale=demmo"], "scale: 'demmo' is not one of smoke, demo, laptop, paper; did you mean 'demo'?"),
        (["eagle"], ["scales=demo"], "unknown key 'scales'; did you mean 'scale'?"),
    ],
)
def test_a_mistake_is_met_with_a_suggestion(checkout, arguments, config, sentence):
    done = checkout.snakemake("--dry-run", *arguments, config=config)
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr


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
    assert targets <= set(done.stdout.split())
    assert "Label frequency imbalance" in done.stdout


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
