"""The pictures that scikit-learn brings along, and slices of larger sets: no network, always the same."""

import numpy as np
import pytest

from orchard.config import load_yaml
from orchard.data import load_dataset
from orchard.data.prepare import prepare
from orchard.data.readers.digits import read
from orchard.errors import OrchardError

REGISTERED = load_yaml("config/datasets/digits.yaml")


def test_the_digits_need_no_files(tmp_path):
    """All 1,797 pictures, each in one split, with the registered statistics."""
    prepare("digits", REGISTERED, None, tmp_path / "digits")
    dataset = load_dataset(tmp_path / "digits")
    assert dataset.X_train.shape[0] + dataset.X_test.shape[0] == 1797
    assert dataset.label_names == [str(digit) for digit in range(10)]
    assert dataset.X_train.max() == 16
    assert dataset.groups_train is dataset.X_valid is None


def test_the_split_is_fixed_and_fair():
    """By the hash of a picture's number: the first one to test on is number 8, and every class is in both splits."""
    from sklearn.datasets import load_digits

    dataset = read(None, {"test_fraction": 0.2})
    np.testing.assert_array_equal(dataset.X_test[0].toarray().ravel(), load_digits().data[8])
    for Y in (dataset.Y_train, dataset.Y_test):
        shares = np.asarray(Y.mean(axis=0)).ravel()
        assert shares.min() > 0.06 and shares.max() < 0.14
    larger = read(None, {"test_fraction": 0.5})
    assert larger.X_test.shape[0] > 2 * dataset.X_test.shape[0]


def idx(magic, array):
    dimensions = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return magic.to_bytes(4, "big") + dimensions + array.astype(np.uint8).tobytes()


def test_a_slice_takes_the_first_pictures(tmp_path):
    """And asks for no more than there are."""
    for split, n in (("train", 5), ("test", 4)):
        (tmp_path / f"{split}-images").write_bytes(idx(2051, np.arange(1, n * 4 + 1).reshape(n, 2, 2)))
        (tmp_path / f"{split}-labels").write_bytes(idx(2049, np.arange(n) % 2))
    files = {f"{split}_{what}": f"{split}-{what}" for split in ("train", "test") for what in ("images", "labels")}
    reader = {"kind": "images", "label_names": ["shirt", "bag"], "n_train": 3, "n_test": 2} | files
    config = REGISTERED | {"title": "Slice", "reader": reader, "statistics": {"n_train": 3, "n_test": 2}}
    prepare("slice", config, tmp_path, tmp_path / "slice")
    dataset = load_dataset(tmp_path / "slice")
    assert dataset.X_train.toarray()[:, 0].tolist() == [1, 5, 9]
    assert dataset.Y_test.toarray().tolist() == [[1, 0], [0, 1]]
    config["reader"] = reader | {"n_train": 6}
    with pytest.raises(OrchardError, match="reader: n_train: 6 pictures asked for, and there are 5"):
        prepare("slice", config, tmp_path, tmp_path / "too-large")
