"""The documentation says what the configuration says."""

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.config import load_yaml
from orchard.data.prepare import prepare
from orchard.data.registry import BUNDLED
from orchard.data.synthetic import SyntheticSpec

ROOT = Path(__file__).parent.parent


def expected_row(path: Path) -> str:
    dataset = load_yaml(path)
    sizes = {key: f"{value:,}" for key, value in dataset["statistics"].items()}
    n_train, n_test, d, L = (sizes.get(key, "–") for key in ("n_train", "n_test", "n_features", "n_labels"))
    kinds = ", ".join(source["kind"] for source in dataset.get("sources", []))
    elsewhere = "bundled" if dataset["reader"]["kind"] in BUNDLED else f"`{dataset.get('files_of')}`"
    source = "generated" if dataset["simulated"] else kinds or ("by hand" if "by_hand" in dataset else elsewhere)
    papers = ", ".join(dataset["papers"]) or "–"
    return f"| `{path.stem}` | {dataset['title']} | {n_train} / {n_test} | {d} | {L} | {source} | {papers} |"


def test_the_table_of_data_sets_is_the_registry():
    """To repair it, paste the row that is printed here into docs/data.md. A data set of one's own need not be there."""
    table = (ROOT / "docs/data.md").read_text().split("## Where")[0]
    documented = dict(re.findall(r"^(\| `([a-z0-9.-]+)` \| .* \|)$", table, flags=re.M))
    documented = {name: row for row, name in documented.items()}
    for name, row in documented.items():
        assert row == expected_row(ROOT / f"config/datasets/{name}.yaml")
    artefacts = [load_yaml(path) for path in ROOT.glob("config/papers/*/artefacts.yaml")]
    by_scale = [names for one in artefacts for entry in one.values() for names in entry.get("datasets", {}).values()]
    shown = {one for names in by_scale for name in names for one in name.split(" | ")}
    of_papers = {path.stem for path in ROOT.glob("config/datasets/*.yaml") if load_yaml(path)["papers"]}
    assert shown | of_papers <= documented.keys()


def test_the_table_of_word_vectors_is_the_registry():
    """Word vectors of one's own need not be there."""
    section = (ROOT / "docs/data.md").read_text().split("## Word vectors")[1]
    documented = re.findall(r"^(\| `([a-z0-9.-]+)` \| .* \|)$", section, flags=re.M)
    assert len(documented) >= 2
    for row, name in documented:
        entry = load_yaml(ROOT / f"config/word_vectors/{name}.yaml")
        sizes = " | ".join(f"{entry['statistics'][key]:,}" for key in ("n_words", "dimensions"))
        sources = ", ".join(source["kind"] for source in entry["sources"])
        assert row == f"| `{name}` | {entry['title']} | {sizes} | {sources} |"


def test_every_reader_is_documented():
    readers = {path.stem for path in (ROOT / "src/orchard/data/readers").glob("[a-z]*.py")}
    alternatives = load_yaml(ROOT / "config/schemas/dataset.schema.yaml")["properties"]["reader"]["oneOf"]
    assert {alternative["properties"]["kind"]["const"] for alternative in alternatives} == readers
    documented = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/data.md").read_text().split("## Readers")[1], flags=re.M)
    assert set(re.findall(r"`(\w+)`", " ".join(documented))) == readers


def test_the_schema_knows_every_parameter_of_the_generator():
    alternatives = load_yaml(ROOT / "config/schemas/dataset.schema.yaml")["properties"]["reader"]["oneOf"]
    options = next(one["properties"] for one in alternatives if one["properties"]["kind"]["const"] == "synthetic")
    assert options.keys() - {"kind"} == {field.name for field in fields(SyntheticSpec)}


def test_links_between_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "results/README.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


GUIDES = ("docs/engine.md", "docs/disentangle.md", "docs/miml.md", "docs/otseq2set.md")
EXAMPLES = [
    (document, example)
    for document in GUIDES
    for example in re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), flags=re.M | re.S)
]


@pytest.mark.parametrize(("document", "example"), EXAMPLES)
def test_the_examples_of_the_guides_run(document, example, tmp_path, monkeypatch):
    """A small simulated set stands in for EurLex-4K; X, texts and Y (five labels) are what a reader might have."""
    if "orchard.neural" in example:
        pytest.importorskip("torch")
    (tmp_path / "results/data").mkdir(parents=True)
    registered = load_yaml(ROOT / "config/datasets/smoke-sim.yaml")
    prepare("smoke-sim", registered, None, tmp_path / "results/data/eurlex-4k")
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    X = sp.random(40, 12, 0.4, "csr", np.float32, random_state=random)
    Y = sp.csr_matrix(random.random((40, 5)) < 0.4, dtype=np.float32)
    names = {"X": X, "Y": Y, "texts": [" ".join(f"word{word}" for word in row.indices) for row in X]}
    exec(compile(example, document, "exec"), names)
    if "sets" in names:
        assert names["sets"].shape == Y.shape
        return
    labels, _ = names["model"].predict_topk(names["data"].X_test if "data" in names else X, k=1)
    assert labels.min() >= 0


def test_the_guides_have_examples():
    """Were they written in another way, none of them would be run above, and nobody would notice."""
    assert {document for document, _ in EXAMPLES} == set(GUIDES)
    assert len(EXAMPLES) >= 3


def test_every_artefact_is_named_in_the_catalogue():
    catalogue = (ROOT / "docs/catalogue.md").read_text()
    for path in ROOT.glob("config/papers/*/artefacts.yaml"):
        for artefact in load_yaml(path):
            assert f"`{path.parent.name}-{artefact}`" in catalogue


def test_the_methods_of_the_catalogue_are_those_of_the_configuration():
    """A name that starts with a hyphen stands for methods with this ending. One of your own need not be there."""
    methods = {path.stem for path in ROOT.glob("config/methods/*.yaml")}
    section = (ROOT / "docs/catalogue.md").read_text().split("\n## Methods\n")[1].split("\n## ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    names = {one for row in rows for name in re.findall(r"`([a-z0-9+-]+)(?:@.*?)?`", row) for one in name.split("+")}
    endings = tuple(name for name in names if name.startswith("-"))
    assert names - set(endings) - {"clean"} <= methods
    assert all(any(method.endswith(ending) for method in methods) for ending in endings)
    named_by_papers = {
        name
        for path in ROOT.glob("config/papers/*/artefacts.yaml")
        for name in re.findall(r"[a-z0-9-]+", path.read_text())
    }
    assert {method for method in methods & named_by_papers if not method.endswith(endings)} <= names
