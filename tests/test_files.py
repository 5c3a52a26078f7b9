"""Nothing half written is ever seen under a final name."""

import pytest

from orchard.files import atomic_file, atomic_folder, read_json, write_json


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_file(path) as temporary:
        temporary.write_text("half of the new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_folder_leaves_the_old_folder_and_no_litter(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "old").write_text("old")
    with pytest.raises(RuntimeError), atomic_folder(folder) as temporary:
        (temporary / "new").write_text("new")
        raise RuntimeError
    assert [path.name for path in folder.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [folder]


def test_a_new_folder_replaces_the_old_one_whole(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "old").write_text("old")
    with atomic_folder(folder) as temporary:
        (temporary / "new").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["new"]


def test_json_is_the_same_bytes_for_the_same_value(tmp_path):
    write_json(tmp_path / "a.json", {"b": 1, "a": [0.1, "λ"]})
    write_json(tmp_path / "b.json", {"a": [0.1, "λ"], "b": 1})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert read_json(tmp_path / "a.json") == {"a": [0.1, "λ"], "b": 1}


def test_json_refuses_nan(tmp_path):
    """NaN is no JSON; a reader elsewhere would choke on it."""
    with pytest.raises(ValueError):
        write_json(tmp_path / "a.json", {"a": float("nan")})
    assert not list(tmp_path.iterdir())
