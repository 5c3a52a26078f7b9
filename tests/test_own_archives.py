"""Our own npz files: whole or refused, and never a pickled object."""

import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, scalar_dtypes

from orchard.archives import read_archive, single, write_archive
from orchard.errors import FormatError

CONTENT = {"a": np.arange(100), "b": np.ones((3, 4), np.float32), "name": np.array("λ"), "empty": np.empty(0, np.uint8)}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
        assert found[name].dtype == expected[name].dtype and found[name].shape == expected[name].shape


@pytest.fixture
def written(tmp_path):
    write_archive(tmp_path / "thing", "thing", 3, CONTENT)
    return tmp_path / "thing"


def test_what_was_written_comes_back(written):
    """Arrays of any shape and type under their names, and nothing of what the file says about itself."""
    assert_same(read_archive(written, "thing", 3), CONTENT)


@given(
    st.dictionaries(st.from_regex(r"[a-z][a-z0-9.]{0,8}", fullmatch=True), arrays(scalar_dtypes(), st.integers(0, 9)))
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_arrays_come_back(tmp_path, content):
    """Any type of number, any byte order, none at all."""
    content = {f"tree0.{name}": array for name, array in content.items()}
    write_archive(tmp_path / "any", "thing", 1, content)
    assert_same(read_archive(tmp_path / "any", "thing", 1), content)


def test_the_same_arrays_are_the_same_bytes(written, tmp_path):
    """No time and no name of a user in the file; the name stays as it was given, and nothing else is left."""
    write_archive(tmp_path / "again", "thing", 3, CONTENT)
    assert written.read_bytes() == (tmp_path / "again").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "thing"]


def test_a_failure_leaves_the_old_file(written, monkeypatch):
    """The disk is full in the middle of writing: what was there is still there, and whole."""

    def full(file, **_):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        write_archive(written, "thing", 3, {"a": np.zeros(5)})
    assert_same(read_archive(written, "thing", 3), CONTENT)
    assert [path.name for path in written.parent.iterdir()] == ["thing"]


def test_a_flipped_bit_is_refused_or_means_nothing(written, tmp_path):
    """Everywhere in the file: refused by name, or the arrays are what they were."""
    content = written.read_bytes()
    n_refused = 0
    for place in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            found = read_archive(tmp_path / "damaged", "thing", 3)
        except FormatError as error:
            assert "damaged" in str(error)
            n_refused += 1
        else:
            assert_same(found, CONTENT)
    assert n_refused > len(content) / 3 * 0.5


def test_a_file_cut_short_is_refused(written):
    """At every length but the whole."""
    content = written.read_bytes()
    for n in range(0, len(content), 17):
        written.write_bytes(content[:n])
        with pytest.raises(FormatError, match="not a thing, or damaged"):
            read_archive(written, "thing", 3)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"a": np.arange(3)}, "not a thing: its format is not 'orchard thing'"),
        ({"format": np.array("orchard tree"), "version": 3}, "not a thing"),
        ({"format": np.array(["orchard thing"]), "version": 3}, "not a thing"),
        ({"format": np.array("orchard thing")}, "its version is None, not 3"),
        ({"format": np.array("orchard thing"), "version": 3.0}, "its version is None, not 3"),
        ({"format": np.array("orchard thing"), "version": 2}, "older Orchard: thing of version 2"),
        ({"format": np.array("orchard thing"), "version": 4}, "newer Orchard: thing of version 4"),
    ],
)
def test_other_formats_and_versions_are_refused(tmp_path, members, problem):
    """A newer file says so, since there the way out is another program, not another file."""
    with (tmp_path / "other").open("wb") as file:
        np.savez(file, **members)
    with pytest.raises(FormatError, match=problem):
        read_archive(tmp_path / "other", "thing", 3)


def test_pickled_objects_are_refused(tmp_path):
    """Unpickling a stranger's file runs his program."""
    with (tmp_path / "pickled").open("wb") as file:
        np.savez(file, format="orchard thing", version=3, a=np.array([{"an": "object"}]))
    with pytest.raises(FormatError, match="not a thing, or damaged"):
        read_archive(tmp_path / "pickled", "thing", 3)


def test_what_is_no_archive_is_refused(tmp_path):
    """Nothing, a folder, a text, a zip with other things in it."""
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        read_archive(tmp_path / "nothing", "thing", 3)
    with pytest.raises(FormatError, match="cannot be read"):
        read_archive(tmp_path, "thing", 3)
    (tmp_path / "text").write_text("a text\n")
    with pytest.raises(FormatError, match="not a thing, or damaged"):
        read_archive(tmp_path / "text", "thing", 3)
    with zipfile.ZipFile(tmp_path / "zip", "w") as file:
        file.writestr("readme.txt", "hello")
    with pytest.raises(FormatError, match="not a thing"):
        read_archive(tmp_path / "zip", "thing", 3)


def test_a_single_value():
    """One value of the right kind, or None: never a surprise further on."""
    assert single(np.array("word"), "U") == "word" and single(np.array(3), "iu") == 3
    for other in (None, 3, "word", np.array([3]), np.array(3.0), np.array("3")):
        assert single(other, "iu") is None
