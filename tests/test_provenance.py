"""The hash of a step changes with every module that it uses, and with no other."""

from pathlib import Path

import pytest

from orchard import provenance

SCRIPTS = sorted((Path(__file__).parent.parent / "workflow_scripts").glob("*.py"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package: script → a → (lazily) b; c is not used; pkg/__init__ re-exports d lazily."""
    folder = tmp_path / "toy"
    (folder / "pkg").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "a.py": "def f():\n    from toy.b import g\n    return g()\n",
        "b.py": "def g():\n    return 1\n",
        "c.py": "",
        "pkg/__init__.py": "def __getattr__(name):\n    from toy.pkg.d import x\n    return x\n",
        "pkg/d.py": "x = 1\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (tmp_path / "script.py").write_text("from toy.a import f\n")
    monkeypatch.setattr(provenance, "PACKAGE_FOLDER", folder)
    monkeypatch.setattr(provenance, "PACKAGE", "toy")
    return tmp_path


def fresh_hash(script, modules=()):
    """As a new process would compute it."""
    for function in vars(provenance).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    return provenance.source_hash(script, modules)


@pytest.mark.parametrize(
    ("edited", "changes"), [("a.py", True), ("b.py", True), ("c.py", False), ("__init__.py", True)]
)
def test_an_edit_counts_where_it_is_used(package, edited, changes):
    before = fresh_hash(package / "script.py")
    with (package / "toy" / edited).open("a") as file:
        file.write("# edited\n")
    assert (fresh_hash(package / "script.py") != before) == changes


def test_an_edit_of_the_script_counts(package):
    before = fresh_hash(package / "script.py")
    (package / "script.py").write_text("from toy.a import f  # edited\n")
    assert fresh_hash(package / "script.py") != before


def test_a_module_found_by_name_counts_when_it_is_told(package):
    before = fresh_hash(package / "script.py", ["toy.c"])
    (package / "toy" / "c.py").write_text("# edited\n")
    assert fresh_hash(package / "script.py", ["toy.c"]) != before


def test_a_lazy_reexport_is_refused(package):
    """`from toy.pkg import x` would hide toy.pkg.d from the hash."""
    (package / "script.py").write_text("from toy.pkg import x\n")
    with pytest.raises(ImportError, match="import x from the module that defines it"):
        fresh_hash(package / "script.py")


def test_the_hash_does_not_depend_on_where_the_checkout_lies(package, tmp_path_factory):
    import shutil

    before = fresh_hash(package / "script.py")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "deeper"
    shutil.copytree(package, elsewhere)
    provenance.PACKAGE_FOLDER = elsewhere / "toy"
    assert fresh_hash(elsewhere / "script.py") == before


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_script_of_the_workflow_can_be_followed(script):
    assert len(provenance.source_hash(script)) == 64
