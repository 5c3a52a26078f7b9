"""Kernels compiled from an older source must not be used."""

import os

from orchard.kernel_cache import forget_outdated_kernels


def _file(path, age):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return path


def test_a_kernel_compiled_before_another_kernel_was_edited_is_forgotten(tmp_path):
    """numba alone would go on using it: only the file of the other kernel has changed."""
    _file(tmp_path / "linear" / "_solver_kernels.py", age=30)
    _file(tmp_path / "linear" / "_lanes.py", age=10)
    old = _file(tmp_path / "linear" / "__pycache__" / "_solver_kernels.solve.nbi", age=20)
    new = _file(tmp_path / "linear" / "__pycache__" / "_lanes.dot.nbi", age=5)
    forget_outdated_kernels(tmp_path)
    assert not old.exists()
    assert new.exists()


def test_other_edits_keep_the_compiled_kernels(tmp_path):
    """Compiling costs a minute: an edit of a module without kernels must not cause it."""
    _file(tmp_path / "_kernels.py", age=30)
    _file(tmp_path / "report.py", age=10)
    compiled = _file(tmp_path / "__pycache__" / "_kernels.f.nbi", age=20)
    forget_outdated_kernels(tmp_path)
    assert compiled.exists()
