"""The hash of a step changes with every module that it uses, and with no other."""

import shutil
from pathlib import Path

import pytest

from orchard import provenance

SCRIPTS = sorted((Path(__file__).parent.parent / "workflow_scripts").glob("*.py"))
FILES = {
    # script → a → (lazily) b; c is not used; toy.pkg loads x from toy.pkg.d when it is asked for.
    "toy/__init__.py": "",
    "toy/a.py": "def f():\n    from toy.b import g\n    return g()\n",
    "toy/b.py": "def g():\n    return 1\n",
    "toy/c.py": "",
    "toy/pkg/__init__.py": "_HOME = {'x': 'toy.pkg.d'}\n",
    "toy/pkg/d.py": "x = 1\n",
    "script.py": "from toy.a import f\n",
    # A user's own package elsewhere.
    "elsewhere/mine/__init__.py": "",
    "elsewhere/mine/method.py": "from . import helper\nfrom .deep.down import z\nimport numpy\nfrom toy.pkg import x\n",
    "elsewhere/mine/helper.py": "",
    "elsewhere/mine/deep/__init__.py": "",
    "elsewhere/mine/deep/down.py": "from ..other import y\nz = y\n",
    "elsewhere/mine/other.py": "y = 1\n",
    "elsewhere/mine/unused.py": "",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(provenance, "PACKAGE_FOLDER", tmp_path / "toy")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    return tmp_path


def fresh_hash(script, modules=(), without=()):
    """As a new process would compute it."""
    for function in vars(provenance).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    return provenance.source_hash(script, modules, without)


def changes(package, edited, modules=(), without=()) -> bool:
    before = fresh_hash(package / "script.py", modules, without)
    with (package / edited).open("a") as file:
        file.write("# edited\n")
    return fresh_hash(package / "script.py", modules, without) != before


@pytest.mark.parametrize("edited", ["script.py", "toy/a.py", "toy/b.py", "toy/__init__.py"])
def test_an_edit_counts_where_it_is_used(package, edited):
    assert changes(package, edited)


@pytest.mark.parametrize("edited", ["toy/c.py", "toy/pkg/d.py", "elsewhere/mine/method.py"])
def test_an_edit_does_not_count_elsewhere(package, edited):
    assert not changes(package, edited)


def test_a_module_found_by_name_counts_when_it_is_told(package):
    assert changes(package, "toy/c.py", ["toy.c"])


def test_a_name_that_is_loaded_when_first_used_leads_to_its_module(package):
    """`from toy.pkg import x` must not hide toy.pkg.d from the hash."""
    (package / "script.py").write_text("from toy.pkg import x\n")
    assert changes(package, "toy/pkg/d.py")


@pytest.mark.parametrize("name", ["method.py", "helper.py", "deep/down.py", "other.py", "__init__.py"])
def test_a_users_own_package_is_followed(package, name):
    """Relative imports included."""
    assert changes(package, f"elsewhere/mine/{name}", ["mine.method"])


def test_from_a_users_package_the_way_leads_into_ours(package):
    assert changes(package, "toy/pkg/d.py", ["mine.method"])
    assert not changes(package, "elsewhere/mine/unused.py", ["mine.method"])


def test_an_installed_library_is_not_followed(package):
    """Neither one with relative imports, as scipy has them, nor one without."""
    for module in ("sklearn.svm", "scipy.sparse"):
        file, root = provenance._locate(module)
        assert provenance._closure(file, (provenance.PACKAGE_FOLDER.parent, root)) == frozenset()
        assert fresh_hash(package / "script.py", [module])


def test_a_module_that_is_not_there_is_named(package):
    with pytest.raises(ModuleNotFoundError, match=r"there is no module 'nowhere\.at_all'"):
        fresh_hash(package / "script.py", ["nowhere.at_all"])


def test_the_hash_does_not_depend_on_where_the_checkout_lies(package, tmp_path_factory, monkeypatch):
    before = fresh_hash(package / "script.py")
    moved = tmp_path_factory.mktemp("elsewhere") / "deeper"
    shutil.copytree(package, moved)
    monkeypatch.setattr(provenance, "PACKAGE_FOLDER", moved / "toy")
    assert fresh_hash(moved / "script.py") == before


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_script_of_the_workflow_reaches_the_library(script):
    """At least the package itself and the module around every job."""
    names = {file.name for file in provenance._closure(script, (provenance.PACKAGE_FOLDER.parent,))}
    assert {"__init__.py", "jobs.py", "errors.py"} <= names


@pytest.mark.parametrize(("edited", "counts"), [("toy/a.py", False), ("toy/b.py", False), ("script.py", True)])
def test_what_is_left_out_does_not_count_nor_what_only_it_imports(package, edited, counts):
    assert changes(package, edited, without=["toy.a"]) == counts


def test_what_is_left_out_counts_if_somebody_else_imports_what_it_imports(package):
    (package / "toy/c.py").write_text("from toy.b import g\n")
    assert changes(package, "toy/b.py", modules=["toy.c"], without=["toy.a"])
