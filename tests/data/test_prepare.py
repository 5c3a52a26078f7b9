"""Raw files become the canonical form, or a clear error and no folder at all."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data import load_dataset
from orchard.data.formats import write_xmc
from orchard.data.prepare import prepare
from orchard.errors import FormatError, OrchardError


def config(reader, **statistics):
    return {
        "title": "Toy",
        "simulated": False,
        "papers": [],
        "propensity": {"A": 0.55, "B": 1.5},
        "reader": reader,
        "statistics": statistics,
    }


@pytest.fixture
def raw(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "raw"
    folder.mkdir()
    for split, n in (("train", 20), ("test", 8)):
        X = sp.random(n, 30, 0.2, format="csr", dtype=np.float32, random_state=rng)
        Y = sp.random(n, 6, 0.3, format="csr", dtype=np.float32, random_state=rng)
        Y.data[:] = 1
        write_xmc(folder / f"{split}.txt", X, Y)
    return folder


XMC = {"kind": "xmc", "train": "train.txt", "test": "test.txt"}


def test_prepared_data_comes_back_as_it_was_read(raw, tmp_path):
    from orchard.data.formats import read_xmc

    prepare("toy", config(XMC, n_train=20, n_test=8, n_features=30, n_labels=6), raw, tmp_path / "data" / "toy")
    dataset = load_dataset("toy", root=tmp_path / "data")
    X, Y = read_xmc(raw / "train.txt")
    assert (dataset.X_train != X).nnz == 0
    assert (dataset.Y_train != Y).nnz == 0
    assert dataset.stats["name"] == "toy"
    assert dataset.stats["simulated"] is False
    assert dataset.texts_train is None
    assert dataset.label_names is None


def test_preparing_twice_gives_the_same_bytes(raw, tmp_path):
    for name in ("one", "two"):
        prepare("toy", config(XMC, n_train=20), raw, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_wrong_statistics_leave_no_folder(raw, tmp_path):
    with pytest.raises(OrchardError, match="n_labels: expected 7, got 6"):
        prepare("toy", config(XMC, n_labels=7), raw, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_malformed_raw_file_leaves_no_folder(raw, tmp_path):
    path = raw / "test.txt"
    path.write_text(path.read_text() + "1 2:nan\n")
    with pytest.raises(FormatError, match=r"test\.txt:10: "):
        prepare("toy", config(XMC, n_labels=6), raw, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_splits_of_different_width_are_refused(raw, tmp_path):
    write_xmc(raw / "test.txt", sp.csr_matrix((3, 31), dtype=np.float32), sp.csr_matrix((3, 6), dtype=np.float32))
    with pytest.raises(OrchardError, match="X has 30 columns in training and 31 in test"):
        prepare("toy", config(XMC, n_labels=6), raw, tmp_path / "data")


def test_an_empty_split_is_refused(raw, tmp_path):
    write_xmc(raw / "test.txt", sp.csr_matrix((0, 30), dtype=np.float32), sp.csr_matrix((0, 6), dtype=np.float32))
    with pytest.raises(OrchardError, match="test set is empty"):
        prepare("toy", config(XMC, n_labels=6), raw, tmp_path / "data")


def test_a_set_that_was_not_prepared_names_the_command():
    with pytest.raises(OrchardError, match="`snakemake results/data/not-prepared` makes it"):
        load_dataset("not-prepared")


def test_pecos_folder_with_texts_and_names(tmp_path):
    """The canonical form is a PECOS folder: reading it again with the PECOS reader gives the same data set."""
    raw = tmp_path / "raw"
    raw.mkdir()
    rng = np.random.default_rng(1)
    for split, n in (("trn", 5), ("tst", 3)):
        sp.save_npz(raw / f"X.{split}.npz", sp.random(n, 9, 0.5, format="csr", dtype=np.float32, random_state=rng))
        sp.save_npz(raw / f"Y.{split}.npz", sp.csr_matrix((rng.random((n, 4)) < 0.5).astype(np.float32)))
        (raw / f"X.{split}.txt").write_text("".join(f"document {i} of {split}\n" for i in range(n)))
    (raw / "output-items.txt").write_text("a\nb\nc\nd\n")
    prepare("one", config({"kind": "pecos"}, n_train=5), raw, tmp_path / "one")
    prepare("two", config({"kind": "pecos"}, n_train=5), tmp_path / "one", tmp_path / "two")
    one, two = load_dataset("one", root=tmp_path), load_dataset("two", root=tmp_path)
    assert one.texts_test == two.texts_test == [f"document {i} of tst" for i in range(3)]
    assert one.label_names == two.label_names == ["a", "b", "c", "d"]
    assert one.stats["sha256"] == two.stats["sha256"]
    assert one.stats["words_per_train_sample"] == 4


def test_images_become_rows_of_pixels(tmp_path):
    def idx(magic, array):
        dimensions = b"".join(n.to_bytes(4, "big") for n in array.shape)
        return magic.to_bytes(4, "big") + dimensions + array.astype(np.uint8).tobytes()

    for split, n in (("train", 3), ("test", 2)):
        (tmp_path / f"{split}-images").write_bytes(idx(2051, np.arange(n * 4).reshape(n, 2, 2)))
        (tmp_path / f"{split}-labels").write_bytes(idx(2049, np.arange(n)))
    files = {f"{split}_{what}": f"{split}-{what}" for split in ("train", "test") for what in ("images", "labels")}
    reader = {"kind": "images", "label_names": ["shirt", "bag", "boot"]} | files
    prepare("toy", config(reader, n_features=4, n_labels=3), tmp_path, tmp_path / "out")
    dataset = load_dataset(tmp_path / "out")
    assert dataset.X_train.toarray().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert dataset.Y_train.toarray().tolist() == np.eye(3).tolist()
    with pytest.raises(FormatError, match="label 2 among 2 label names"):
        prepare("toy", config(reader | {"label_names": ["shirt", "bag"]}, n_labels=2), tmp_path, tmp_path / "out2")


def test_a_file_of_no_images_is_refused(tmp_path):
    (tmp_path / "images").write_bytes((2051).to_bytes(4, "big") + bytes(4) + (2).to_bytes(4, "big") * 2)
    (tmp_path / "labels").write_bytes((2049).to_bytes(4, "big") + bytes(4))
    files = {f"{split}_{what}": what for split in ("train", "test") for what in ("images", "labels")}
    with pytest.raises(FormatError, match="there is no image in it"):
        prepare("toy", config({"kind": "images", "label_names": ["shirt"]} | files), tmp_path, tmp_path / "out")


def test_a_text_with_a_line_break_stays_one_document(tmp_path):
    """One document per line: a break inside one would shift all that follow."""
    Path(tmp_path / "mine.csv").write_text(
        "text,labels\n" + "".join(f'"first {i}\nsecond word",a;b{i % 2}\n' for i in range(30)), encoding="utf-8"
    )
    reader = {"kind": "csv", "file": "mine.csv", "test_fraction": 0.3}
    prepare("toy", config(reader, n_labels=3), tmp_path, tmp_path / "out")
    dataset = load_dataset(tmp_path / "out")
    assert len(dataset.texts_train) + len(dataset.texts_test) == 30
    assert all(text.split()[-2:] == ["second", "word"] for text in dataset.texts_train + dataset.texts_test)
    assert dataset.label_names == ["a", "b0", "b1"]
