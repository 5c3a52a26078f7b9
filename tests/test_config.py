"""Configuration errors name the file and the key, and suggest what may have been meant."""

from pathlib import Path

import pytest

from orchard.config import (
    check,
    did_you_mean,
    load_folder,
    load_yaml,
    method_named,
    pick,
    with_backbones,
    with_likes,
    with_sweeps,
)
from orchard.data.registry import load_encoders, load_registry, load_word_vector_entries
from orchard.errors import ConfigError
from orchard.latency import SEARCHES
from orchard.report.published import read_published
from orchard.report.rows import SCALES, _swept, seeds_of
from orchard.trees.interpolated import FASTTEXT_GRID, LOGS_GRID, PARABEL_GRID

SCHEMAS = Path(__file__).parent.parent / "config" / "schemas"
DATASET = load_yaml(SCHEMAS.parent / "datasets" / "eurlex-4k.yaml")


def problem_of(change) -> str:
    """The message for EurLex-4K's entry after `change` was made to it."""
    import copy

    config = copy.deepcopy(DATASET)
    change(config)
    with pytest.raises(ConfigError) as caught:
        check(config, load_yaml(SCHEMAS / "dataset.schema.yaml"), "config/datasets/x.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("licence"), "(top level): 'licence' is a required property"),
        (lambda c: c.update(licenze="x"), "unknown key 'licenze'; did you mean 'licence'?"),
        (lambda c: c["propensity"].update(A="half"), "propensity.A: 'half' is not of type 'number'"),
        (lambda c: c["files"]["train.txt"].update(sha256="abc"), "files.train.txt.sha256: 'abc' does not match"),
        (lambda c: c["sources"][0].pop("version"), "sources.0: 'version' is a required property"),
        (lambda c: c["sources"][0].update(kind="pipy"), "sources.0.kind: 'pipy' is not one of pypi, npm, debian, http"),
        (lambda c: c["reader"].update(kind="xcm"), "did you mean 'xmc'?"),
        (lambda c: c["reader"].pop("kind"), "reader.kind: None is not one of xmc,"),
        (lambda c: c["reader"].update(trian="x"), "reader: unknown key 'trian'; did you mean 'train'?"),
        (lambda c: c["reader"].pop("test"), "reader: 'test' is a required property"),
        (lambda c: c["statistics"].update(n_lables=3), "statistics: unknown key 'n_lables'; did you mean 'n_labels'?"),
    ],
)
def test_schema_errors_name_the_key(change, message):
    problem = problem_of(change)
    assert problem.startswith("config/datasets/x.yaml: ")
    assert message in problem


def test_several_wrong_keys_are_told_at_once():
    problem = problem_of(lambda c: (c.pop("licence"), c["propensity"].pop("A")))
    assert len(problem.splitlines()) == 2


def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path):
    """YAML itself would silently keep the last one."""
    path = tmp_path / "twice.yaml"
    path.write_text("a: 1\nb: 2\na: 3\n")
    with pytest.raises(ConfigError, match=r"twice\.yaml:3: the key 'a' stands here twice"):
        load_yaml(path)


def test_broken_yaml_is_told_with_its_line(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("a: 1\nb: [1, 2\nc: 3\n")
    with pytest.raises(ConfigError, match=r"broken\.yaml:\d+: "):
        load_yaml(path)


def test_a_missing_file_is_told():
    with pytest.raises(ConfigError, match="there is no such file"):
        load_yaml("nowhere.yaml")


def test_pick_suggests_the_nearest_name():
    with pytest.raises(ConfigError, match=r"unknown data set 'eurlex4k'; did you mean 'eurlex-4k'\?"):
        pick("data set", "eurlex4k", {"eurlex-4k": {}, "mnist": {}})
    assert pick("data set", "mnist", {"mnist": 1}) == 1


def test_no_suggestion_for_something_far_off():
    assert did_you_mean("zzzzzz", ["eurlex-4k"]) == ""


def test_every_configuration_file_of_the_project_is_valid():
    config = SCHEMAS.parent
    datasets = load_registry(config / "datasets", SCHEMAS / "dataset.schema.yaml")
    load_folder(config / "methods", SCHEMAS / "method.schema.yaml")
    for paper in ("eagle", "disentangle", "labeltrees", "otseq2set"):
        artefacts = load_yaml(config / "papers" / paper / "artefacts.yaml")
        check(artefacts, load_yaml(SCHEMAS / "artefacts.schema.yaml"), paper)
        for artefact in artefacts.values():
            for names in artefact.get("datasets", {}).values():
                assert {one for name in names for one in name.split(" | ")} <= set(datasets), paper
    encoders = load_encoders(config / "encoders", SCHEMAS / "encoder.schema.yaml", datasets)
    word_vectors = load_word_vector_entries(
        config / "word_vectors", SCHEMAS / "word_vectors.schema.yaml", datasets, encoders
    )
    for name, entry in (datasets | encoders | word_vectors).items():
        assert "files" not in entry or "sources" in entry or "by_hand" in entry, f"{name}: nowhere to get it from"


def test_a_misspelt_option_of_an_overlap_is_refused_for_a_data_set_too():
    method = {"title": "T", "description": "D", "backbone": "b", "overlap": {"copies": 2}}
    schema = load_yaml(SCHEMAS / "method.schema.yaml")
    check(method | {"overlap": {"copies": 2, "per_dataset": {"a": {"copies": 3}}}}, schema, "m")
    for wrong in ({"copys": 3}, {"copies": 1.5}, {"per_dataset": {"b": {"copies": 3}}}):
        with pytest.raises(ConfigError, match="overlap"):
            check(method | {"overlap": {"copies": 2, "per_dataset": {"a": wrong}}}, schema, "m")


def test_an_imputation_goes_in_front_of_any_backbone():
    """`a+b` is b with a's imputation, or with its overlap; only a method that has one can stand in front."""
    methods = {"a": {"estimator": "A", "impute": {"function": "f"}}, "b": {"estimator": "B", "parameters": {"C": 2}}}
    assert method_named("b", methods) is methods["b"]
    assert method_named("a+b", methods) == {"estimator": "B", "parameters": {"C": 2}, "impute": {"function": "f"}}
    methods["o"] = {"estimator": "A", "overlap": {"copies": 2}}
    assert method_named("o+b", methods) == {"estimator": "B", "parameters": {"C": 2}, "overlap": {"copies": 2}}
    with pytest.raises(ConfigError, match="'b\\+a': b adds nothing"):
        method_named("b+a", methods)
    with pytest.raises(ConfigError, match="unknown method 'c'"):
        method_named("a+c", methods)
    methods["w"] = {"estimator": "A", "word_vectors": {"id": None}}
    with pytest.raises(ConfigError, match="w writes sets of labels"):
        method_named("a+w", methods)
    with pytest.raises(ConfigError, match="a has an `impute` itself"):
        method_named("a+a", methods)
    with pytest.raises(ConfigError, match="o has an `overlap` itself"):
        method_named("a+o", methods)


def test_a_backbone_lends_its_estimator_and_parameters():
    """A method over it says no more than what it adds; an unknown backbone is named."""
    plain = {"title": "Plain", "estimator": "B", "parameters": {"C": 2}, "per_dataset": {"small": {"C": 3}}}
    methods = {"plain": plain, "over": {"title": "Over", "backbone": "plain", "overlap": {"copies": 2}}}
    written_out = with_backbones(methods)
    assert written_out["plain"] is plain
    assert written_out["over"] == plain | {"title": "Over", "overlap": {"copies": 2}}
    for has, words in (({"backbone": "plain"}, "backbone"), ({"impute": {}}, "impute"), ({"overlap": {}}, "overlap")):
        with pytest.raises(ConfigError, match=rf"config/methods/over\.yaml: backbone: odd says `{words}` itself"):
            with_backbones({"plain": plain, "odd": plain | has, "over": {"backbone": "odd"}})
    named = r"config/methods/over\.yaml: backbone: unknown method 'plane'; did you mean 'plain'"
    with pytest.raises(ConfigError, match=named):
        with_backbones({"plain": plain, "over": {"backbone": "plane"}})


def test_a_method_like_another_says_only_what_differs():
    model = {"title": "A", "estimator": "A", "parameters": {"C": 2, "D": 1}, "per_dataset": {"s": {"C": 3, "E": 1}}}
    own = {"title": "B", "like": "a", "parameters": {"D": 5}, "per_dataset": {"s": {"C": 4}, "t": {"C": 9}}}
    methods = with_likes({"a": model, "b": own, "c": {"title": "C", "like": "b"}})
    assert methods["a"] is model
    expected = {"title": "B", "estimator": "A", "parameters": {"C": 2, "D": 5}}
    expected["per_dataset"] = {"s": {"C": 4, "E": 1}, "t": {"C": 9}}
    assert methods["b"] == expected
    everywhere = with_likes({"a": model, "b": {"like": "a", "parameters": {"C": 7}}})["b"]
    assert everywhere["parameters"] == {"C": 7, "D": 1}
    assert everywhere["per_dataset"] == {"s": {"E": 1}}
    swept = with_likes({"a": model, "b": {"like": "a", "sweep": {"parameter": "E", "values": [1]}}})["b"]
    assert swept["per_dataset"] == {"s": {"C": 3}}
    assert methods["c"] == expected | {"title": "C"}
    with pytest.raises(ConfigError, match=r"config/methods/b\.yaml: like: unknown method 'aa'; did you mean 'a'"):
        with_likes({"a": model, "b": {"like": "aa"}})
    with pytest.raises(ConfigError, match=r"config/methods/.\.yaml: like: unknown method"):
        with_likes({"b": {"like": "c"}, "c": {"like": "b"}})  # in a circle


def test_a_sweep_is_a_method_for_every_value():
    """The value is in the name, in the words and among the parameters; a method without a sweep is left alone."""
    tree = {
        "title": "Tree, λ′ = {value}",
        "description": "At {value}.",
        "estimator": "a.B",
        "parameters": {"gamma": 0.1},
    }
    methods = with_sweeps({"tree": tree | {"sweep": {"parameter": "lam", "values": [0, 0.5, 100000]}}, "plain": {}})
    assert list(methods) == ["tree@0", "tree@0.5", "tree@100000", "plain"]
    words = {"title": "Tree, λ′ = 0.5", "description": "At 0.5."}
    assert methods["tree@0.5"] == tree | words | {"parameters": {"gamma": 0.1, "lam": 0.5}}
    with pytest.raises(ConfigError, match=r"did you mean 'tree@0\.5'"):
        method_named("tree@0.55", methods)


def load_artefacts():
    folder = Path(__file__).parents[1] / "config/papers"
    return {
        f"{path.parent.name}-{name}": artefact
        for path in sorted(folder.glob("*/artefacts.yaml"))
        for name, artefact in load_yaml(path).items()
    }


@pytest.mark.parametrize(("name", "artefact"), load_artefacts().items())
def test_exceptions_of_artefacts_are_for_things_that_exist(name, artefact):
    """A misspelt data set, method or seed would be no exception, and nobody would notice."""
    config = Path(__file__).parents[1] / "config"
    datasets = {path.stem for path in (config / "datasets").glob("*.yaml")}
    methods = with_sweeps(with_likes({path.stem: load_yaml(path) for path in (config / "methods").glob("*.yaml")}))
    exceptions = [artefact.get("seeds_for", {})]
    swept = [row for scale in SCALES for row in _swept(artefact, scale)] if "rows" in artefact else []
    for line in [*swept, *artefact.get("settings", [])]:
        exceptions += [line.get(key, {}) for key in ("not_run_on", "variant_for", "method_for")]
        replaced = [pair for by_method in line.get("method_for", {}).values() for pair in by_method.items()]
        for method in [*([line["method"]] if "method" in line else []), *(one for pair in replaced for one in pair)]:
            name, slash, search = method.partition("/")
            method_named(name, methods)
            assert not slash or search in SEARCHES
    assert {dataset for one in exceptions for dataset in one} <= datasets
    for scale, shown in artefact.get("datasets", {}).items() if "rows" in artefact else ():
        assert all(seeds_of(artefact, scale, dataset) for dataset in shown)


def test_the_grids_are_those_of_the_paper():
    """labeltrees §5.4.3; the published figures list the same."""
    artefacts = load_artefacts()
    for figure, grid in {"fig3": PARABEL_GRID, "fig4": FASTTEXT_GRID, "fig5": LOGS_GRID}.items():
        for scale in ("laptop", "paper"):
            assert artefacts[f"labeltrees-{figure}"]["sweep"][scale] == list(grid)
        printed = read_published(Path(__file__).parents[1] / "config/papers/labeltrees/published/figures.csv")
        values = [one.number for one in printed if one.setting == f"Figure {figure[-1]}" and "λ'" in one.metric]
        assert values == list(grid)


def test_methods_that_eagle_compares_have_the_same_backbone():
    folder = Path(__file__).parents[1] / "config/methods"
    methods = {path.stem: load_yaml(path) for path in folder.glob("*.yaml")}
    for name, method in methods.items():
        if "impute" in method:
            for key in ("estimator", "parameters"):
                assert method[key] == methods["parabel-eagle"][key], name


@pytest.mark.parametrize("method", ["seq2seq", "sgm", "bm-all-ot-lc", "bm-first"])
def test_the_networks_have_the_settings_of_the_paper(method):
    """otseq2set, Table 2 and section 3.4, on the paper's data sets."""
    root = Path(__file__).parents[1]
    schema = root / "config/schemas/method.schema.yaml"
    entry = with_likes(load_folder(root / "config/methods", schema))[method]
    names = {"E": "epochs", "B": "batch_size", "lr": "learning_rate", "b": "bottleneck", "L_t": "max_tokens"}
    printed = read_published(root / "config/papers/otseq2set/published/table2.csv")
    assert {value.metric for value in printed} == names.keys()
    for value in printed:
        parameters = entry["parameters"] | entry["per_dataset"][value.dataset]
        assert parameters.get(names[value.metric]) == (None if value.value == "-" else value.number)
    strides = {name: one["stride"] for name, one in entry["per_dataset"].items() if "stride" in one}
    assert strides == {"wiki10-31k": 4}  # 3 for all others, the default
    assert {"amazon-670k"} == {name for name, one in entry["per_dataset"].items() if "label_embedding_size" in one} - {
        "smoke-text-sim"
    }
