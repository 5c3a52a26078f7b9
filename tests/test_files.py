"""Nothing half written is ever seen under a final name."""

import multiprocessing
import os

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


def writer(path, ready, go):
    """In a process of its own: write half, say so, wait, write the rest."""
    with atomic_folder(path) as temporary:
        (temporary / "first").write_text(str(os.getpid()))
        ready.set()
        go.wait(30)
        (temporary / "second").write_text(str(os.getpid()))


def test_two_writers_of_one_folder_never_mix(tmp_path):
    """The orphan of a killed run still writes while the next run makes the same target."""
    context = multiprocessing.get_context("spawn")
    go = context.Event()
    writers = []
    for _ in range(2):
        ready = context.Event()
        writers.append(context.Process(target=writer, args=(tmp_path / "data", ready, go)))
        writers[-1].start()
        assert ready.wait(30)
    go.set()
    for process in writers:
        process.join(30)
    first, second = ((tmp_path / "data" / name).read_text() for name in ("first", "second"))
    assert first == second
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_a_dead_process_left_is_removed(tmp_path):
    process = multiprocessing.get_context("spawn").Process(target=int)
    process.start()
    process.join()
    (tmp_path / f".data.{process.pid}.tmp").mkdir()
    (tmp_path / f".other.{process.pid}.tmp").mkdir()
    with atomic_folder(tmp_path / "data"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".other.{process.pid}.tmp", "data"]


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
