"""A data set and a method of one's own: one YAML file each (and a module), no other file changes."""

import json

import pytest

from orchard.data.store import load_csr, load_dataset

CSV_ROWS = 60

DATASET = """
title: My data
description: A table of texts and labels.
simulated: false
licence: mine
papers: []
propensity: {A: 0.55, B: 1.5}
files: {mine.csv: {}}
by_hand: Put mine.csv there.
reader: {kind: csv, file: mine.csv, test_fraction: 0.25}
statistics: {n_labels: 3}
"""

METHOD = """
title: Always the same
description: Predicts label 0.
estimator: always.Always
parameters: {label: 0}
per_dataset: {my-data: {label: 1}}
"""

MODULE = """
import numpy as np

class Always:
    model_bytes_ = 0

    def __init__(self, label=0):
        self.label = label

    def fit(self, X, Y):
        return self

    def predict_topk(self, X, k=5):
        ids = np.full((X.shape[0], k), -1)
        ids[:, 0] = self.label
        return ids, np.zeros(ids.shape)
"""


def test_a_data_set_and_a_method_of_ones_own(checkout, tmp_path):
    (checkout.folder / "config/datasets/my-data.yaml").write_text(DATASET)
    (checkout.folder / "config/methods/always-the-same.yaml").write_text(METHOD)
    (checkout.folder / "src/always.py").write_text(MODULE)
    (tmp_path / "mirror/my-data").mkdir(parents=True)
    kinds = [("apples", "red;fruit"), ("pears", "fruit"), ("quinces", "fruit;rare")]
    rows = [f"document number {i} about {kinds[i % 3][0]},{kinds[i % 3][1]}" for i in range(CSV_ROWS)]
    (tmp_path / "mirror/my-data/mine.csv").write_text("text,labels\n" + "\n".join(rows) + "\n")
    own = {"ORCHARD_DATA": str(tmp_path / "mirror")}

    score = "results/runs/my-data/clean/always-the-same/seed-3/score.json"
    done = checkout.snakemake(score, environment=own)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads((checkout.folder / score).read_text())
    assert content["params"] == {"label": 1}  # labels are fruit, rare, red: label 1 is the data set's own override
    assert (content["dataset"], content["seed"]) == ("my-data", 3)
    assert 0 < content["metrics"]["P@1"] < 50
    cost = json.loads((checkout.folder / score).with_name("cost.json").read_text())
    assert {"seconds", "ms_per_sample", "peak_rss_mb", "model_mb", "threads", "versions", "machine"} <= cost.keys()

    done = checkout.snakemake("eagle-table1", config=["datasets=my-data"], environment=own)
    assert done.returncode == 0, done.stdout + done.stderr
    table = (checkout.folder / "results/artefacts/own-data/eagle-table1.csv").read_text()
    assert "my-data,measured" in table

    no_network = {"ORCHARD_DATA": ""}
    assert checkout.jobs_to_run(score, environment=no_network) == {}  # the data is not gone with the variable
    with (tmp_path / "mirror/my-data/mine.csv").open("a") as file:
        file.write("one more document about pears,fruit\n")
    assert checkout.jobs_to_run(score, environment=own) == {"fetch": 1, "prepare": 1, "run": 1}
    assert checkout.snakemake(score, environment=own).returncode == 0

    method = checkout.folder / "config/methods/always-the-same.yaml"
    method.write_text(METHOD.replace("Predicts label 0.", "Better words."))
    assert checkout.jobs_to_run(score, environment=own) == {}
    method.write_text(METHOD.replace("my-data: {label: 1}", "my-data: {label: 2}"))
    assert checkout.jobs_to_run(score, environment=own) == {"run": 1}
    method.write_text(METHOD.replace("my-data: {label: 1}", "my-data: {label: 1}, other-data: {label: 2}"))
    assert checkout.jobs_to_run(score, environment=own) == {}

    (checkout.folder / "src/always.py").write_text(MODULE + "\n# edited\n")
    assert checkout.jobs_to_run(score, environment=own) == {"run": 1}


def test_a_parameter_that_the_estimator_lacks_is_named(checkout):
    (checkout.folder / "config/methods/most-frequent.yaml").open("a").write("parameters: {depth: 3}\n")
    done = checkout.snakemake("results/runs/smoke-sim/clean/most-frequent/seed-0/score.json")
    assert done.returncode != 0
    assert "orchard.baselines.MostFrequent has no parameter depth" in done.stdout + done.stderr


def test_labels_of_groups_imputed_in_ones_own_way(checkout):
    """A function of one's own in front of any method; a variant without groups is refused before anything runs."""
    (checkout.folder / "src/mine.py").write_text(
        "def to_all(X, Y1, Y2, random_state=0):\n    return (Y1 @ Y2).tocsr()\n"
    )
    own = "title: To all\ndescription: All labels to all.\nestimator: orchard.baselines.MostFrequent\n"
    (checkout.folder / "config/methods/to-all.yaml").write_text(own + "impute: {function: mine.to_all}\n")
    folder = "results/runs/smoke-sim/aggregated/random-4"
    targets = [f"{folder}/{name}/seed-3/score.json" for name in ("to-all+most-frequent", "eagle+most-frequent")]
    validated = "results/validation/smoke-sim/aggregated/random-4/to-all/seed-3/score.json"
    done = checkout.snakemake(*targets, validated)
    assert done.returncode == 0, done.stdout + done.stderr
    mine, eagle = (json.loads((checkout.folder / target).read_text()) for target in targets)
    assert 0 < json.loads((checkout.folder / validated).read_text())["metrics"]["group precision"] < 100
    assert mine["impute"] == {"function": "mine.to_all", "parameters": {"random_state": 3}}
    assert eagle["impute"]["parameters"]["iterations"] == 20
    assert mine["metrics"]["imputed recall"] == 100 > eagle["metrics"]["imputed recall"]
    assert mine["metrics"]["imputed precision"] < eagle["metrics"]["imputed precision"]
    cost = json.loads((checkout.folder / targets[0]).with_name("cost.json").read_text())
    assert cost["seconds"].keys() == {"fit", "predict", "impute"}
    with (checkout.folder / "src/mine.py").open("a") as file:
        file.write("# edited\n")
    assert checkout.jobs_to_run(*targets, validated) == {"run": 1, "validate": 1}
    done = checkout.snakemake("--dry-run", "results/runs/smoke-sim/clean/eagle/seed-3/score.json")
    assert done.returncode != 0
    assert "method 'eagle' imputes labels of groups: its variant must be aggregated/…, not clean" in done.stdout
    done = checkout.snakemake("--dry-run", validated.replace("aggregated/random-4", "clean"))
    assert "its variant must be aggregated/…, not clean" in done.stdout
    done = checkout.snakemake("--dry-run", validated.replace("to-all", "parabel"))
    assert done.returncode != 0
    assert "method 'parabel' imputes no labels (no `impute`): there is nothing to validate" in done.stdout


LIKE_ANOTHER = """
title: Mine
description: BM_all with one layer.
like: bm-all
parameters: {layers: 1}
"""


def test_a_network_of_ones_own_that_is_like_another(checkout):
    """Two lines beside its title; what it does not say follows the other one, and that one's data sets, for ever."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    own = checkout.folder / "config/methods/mine.yaml"
    own.write_text(LIKE_ANOTHER)
    score = "results/runs/smoke-text-sim/clean/mine/seed-3/score.json"
    done = checkout.snakemake(score)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads((checkout.folder / score).read_text())
    expected = {"layers": 1, "scheme": "all", "transport": 0.0, "hidden": 16, "random_state": 3}
    assert content["params"] | expected == content["params"]
    assert {"P", "R", "F1", "maF1", "weF1", "ebF1", "validation F1"} <= content["metrics"].keys()

    own.write_text(LIKE_ANOTHER.replace("BM_all with", "The same with"))
    assert checkout.jobs_to_run(score) == {}
    other = checkout.folder / "config/methods/bm-all.yaml"
    other.write_text(other.read_text().replace("scheme: all", "scheme: all, empty_weight: 0.5"))
    assert checkout.jobs_to_run(score) == {"write_labels": 1}

    for variant in ("aggregated/random-4", "entangled/medium-2"):
        done = checkout.snakemake("--dry-run", score.replace("clean", variant))
        assert done.returncode != 0
        words = "method 'mine' reads texts and writes labels by name: its variant must be clean"
        assert words in done.stdout + done.stderr


SENTENCES = """
title: My stories
description: Stories as bags of sentences.
simulated: false
licence: mine
papers: []
propensity: {A: 0.55, B: 1.5}
files: {reuters-000.json: {}}
by_hand: Put it there.
reader:
  kind: reuters_sentences
  files: reuters-*.json
  topics: [gold, coffee]
  train_sentences: 2
  validation_fraction: 0.25
  test_fraction: 0.25
  encoder: my-encoder
statistics: {n_labels: 2, n_features: 3}
"""

ENCODER = """
title: My encoder
description: Counts words.
licence: mine
encoder: counting.Counting
parameters: {scale: 2}
files: {words.txt: {}}
by_hand: Put it there.
"""

ENCODER_MODULE = """
from pathlib import Path

import numpy as np

class Counting:
    def __init__(self, folder, scale=1):
        self.words, self.scale = (Path(folder) / "words.txt").read_text().split(), scale

    def encode(self, sentences):
        return np.array([[self.scale * line.count(word) for word in self.words] for line in sentences], np.float32)
"""


def test_a_sentence_encoder_of_ones_own(checkout, tmp_path):
    """One YAML file and a class; its files are fetched like those of data sets, an edit of the class encodes anew."""
    (checkout.folder / "config/datasets/my-stories.yaml").write_text(SENTENCES)
    (checkout.folder / "config/encoders/my-encoder.yaml").write_text(ENCODER)
    (checkout.folder / "src/counting.py").write_text(ENCODER_MODULE)
    for name in ("my-stories", "my-encoder"):
        (tmp_path / "mirror" / name).mkdir(parents=True)
    (tmp_path / "mirror/my-encoder/words.txt").write_text("gold coffee price")
    stories = [
        {"id": str(i), "topics": [topic], "body": f"The {topic} price fell again. Then the {topic} price rose."}
        for i, topic in enumerate(["gold", "coffee"] * 15)
    ]
    (tmp_path / "mirror/my-stories/reuters-000.json").write_text(json.dumps(stories))
    own = {"ORCHARD_DATA": str(tmp_path / "mirror")}

    groups = "results/variants/my-stories/aggregated/given/seed-0/Y1.npz"
    done = checkout.snakemake(groups, environment=own)
    assert done.returncode == 0, done.stdout + done.stderr
    dataset = load_dataset(checkout.folder / "results/data/my-stories")
    assert dataset.texts_train[:2] == ["The gold price fell again.", "Then the gold price rose."]
    assert dataset.X_train.toarray()[:2].tolist() == [[2, 0, 2]] * 2
    assert dataset.groups_train[:3].tolist() == [0, 0, 1]
    assert load_csr(checkout.folder / groups).shape == (dataset.stats["n_train"], dataset.stats["n_groups"])

    assert checkout.jobs_to_run(groups, environment=own) == {}
    with (checkout.folder / "src/counting.py").open("a") as file:
        file.write("# better\n")
    assert checkout.jobs_to_run(groups, environment=own) == {"prepare": 1, "aggregate": 1}
