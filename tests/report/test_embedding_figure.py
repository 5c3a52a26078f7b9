"""Label embeddings are shown as pictures, and how much alike they are is a number."""

import csv

import numpy as np
import pytest

from orchard.errors import ConfigError
from orchard.report.embedding_figure import embedding_figure, mean_cosines

ARTEFACT = {"title": "Embeddings", "notes": ["What the paper shows."]}


@pytest.fixture
def save(tmp_path):
    def saved(title, embeddings, names=("Coat", "Bag", "Boot"), source="measured", shape=(2, 3)):
        path = tmp_path / f"{title}.npz"
        about = {"dataset": "small", "title": title, "source": source, "shape": np.array(shape)}
        np.savez(path, embeddings=np.asarray(embeddings, np.float32), names=np.array(names), **about)
        return path

    return saved


@pytest.fixture
def draw(tmp_path):
    def drawn(files, **changes):
        paths = {kind: tmp_path / f"figure.{kind}" for kind in ("png", "svg", "csv")}
        embedding_figure(ARTEFACT | changes, files, paths)
        with paths["csv"].open(encoding="utf-8") as file:
            return list(csv.DictReader(file)), {kind: path.read_bytes() for kind, path in paths.items()}

    return drawn


UNLIKE = np.eye(3, 6)


def test_mean_cosines_by_hand():
    """(1, 0) and (0, 2) at right angles, (3, 3) between them; an empty row is like nothing, and a single one alone."""
    half = np.sqrt(0.5)
    np.testing.assert_allclose(mean_cosines(np.array([[1, 0], [0, 2], [3, 3]])), [half / 2, half / 2, half])
    np.testing.assert_allclose(mean_cosines(np.array([[1.0, 0], [1, 0], [0, 0]])), [0.5, 0.5, 0])
    np.testing.assert_allclose(mean_cosines(np.array([[1.0, 0], [-1, 0]])), [-1, -1])
    assert np.isnan(mean_cosines(np.ones((1, 2)))).all()


def test_blobs_that_are_all_the_same_show_as_a_number(save, draw):
    rows, files = draw([save("g = 4", UNLIKE), save("g = 50", np.ones((3, 6)))])
    assert [(row["title"], row["label"]) for row in rows][2:4] == [("g = 4", "Boot"), ("g = 50", "Coat")]
    assert [row["mean cosine to the others"] for row in rows] == ["0", "0", "0", "1", "1", "1"]
    assert {(row["data set"], row["source"]) for row in rows} == {("small", "measured")}
    svg = files["svg"].decode()
    assert "cosine 0.00" in svg and "cosine 1.00" in svg and "What the paper shows." in svg
    assert "simulated data" not in svg


def test_names_stand_once_unless_rows_have_others(save, draw):
    _, files = draw([save("one", UNLIKE), save("two", UNLIKE)])
    assert files["svg"].decode().count(">Coat<") == 1
    _, files = draw([save("one", UNLIKE), save("two", np.eye(2, 6), names=("Coat", "Sandal"))])
    assert files["svg"].decode().count(">Coat<") == 2 and files["svg"].count(b"<image") == 5


def test_simulated_embeddings_are_marked_in_their_row_alone(save, draw):
    rows, files = draw([save("one", UNLIKE), save("two", UNLIKE, source="simulated")])
    assert files["svg"].decode().count(">simulated data<") == 2  # beside and across
    assert [row["source"] for row in rows].count("simulated") == 3


def test_same_embeddings_same_bytes(save, draw):
    file = save("one", UNLIKE)
    assert draw([file])[1] == draw([file])[1]


def test_what_cannot_be_drawn_is_refused(save, draw):
    with pytest.raises(ConfigError, match=r"embeddings: they are \(3, 6\), which does not fit 3 names, and .* 2 × 2"):
        draw([save("one", UNLIKE, shape=(2, 2))])
    with pytest.raises(ConfigError, match="Embeddings: there are no label embeddings"):
        draw([])
