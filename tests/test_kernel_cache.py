"""Kernels compiled from an older source must not be used."""

import os
import subprocess
import sys
from textwrap import dedent

import pytest

from orchard.kernel_cache import forget_outdated_kernels


@pytest.fixture
def package(tmp_path):
    """Two kernels in two files, the second compiled into the first."""
    folder = tmp_path / "two_kernels"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_inner.py").write_text(kernel("inner", "1"))
    (folder / "_outer.py").write_text("from two_kernels._inner import inner\n" + kernel("outer", "inner()"))
    (folder / "plain.py").write_text("")
    return folder


def kernel(name, value):
    return dedent(f"""\
        from numba import njit

        @njit(cache=True)
        def {name}():
            return {value}
        """)


def run(package):
    """What the outer kernel says in a new process, the way `import orchard` begins."""
    forget_outdated_kernels(package)
    code = "from two_kernels._outer import outer; print(outer())"
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return int(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)


def test_an_edited_kernel_is_used_by_those_it_was_compiled_into(package):
    """numba alone would go on using the old one: the outer kernel's own file has not changed."""
    assert run(package) == 1
    (package / "_inner.py").write_text(kernel("inner", "2"))
    assert run(package) == 2


def test_other_edits_keep_the_compiled_kernels(package):
    """Compiling costs a minute: an edit of a module without kernels must not cause it."""
    run(package)
    compiled = sorted(package.rglob("*.nb[ic]"))
    (package / "plain.py").write_text("x = 1\n")
    forget_outdated_kernels(package)
    assert compiled
    assert sorted(package.rglob("*.nb[ic]")) == compiled


def test_processes_that_compile_at_the_same_time_do_not_take_each_others_code(tmp_path):
    """One compiles for int32, the other for int64; both read the index before either wrote it.

    The second writes its index last, the first its code: by numba's own numbers that index would name this code.
    """
    (tmp_path / "sizes.py").write_text(
        "from orchard.jit import njit\n\n@njit(nogil=True, cache=True)\ndef size(x):\n    return x.itemsize\n"
    )

    def size(kind):
        code = f"import numpy as np; from sizes import size; print(size(np.zeros(3, np.{kind})))"
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
        return int(done.stdout)

    assert size("int32") == 4
    folder = tmp_path / "__pycache__"
    first = {path: path.read_bytes() for path in folder.glob("*.nbc")}
    for path in (*folder.glob("*.nbi"), *first):
        path.unlink()
    assert size("int64") == 8
    for path, code in first.items():
        path.write_bytes(code)
    assert size("int64") == 8
    assert size("int32") == 4
