"""Configuration files: YAML checked against a JSON schema, with errors that name the file and the key."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

import yaml

from orchard.errors import ConfigError

ADDITIONS = ("impute", "overlap")  # what a method may add to an estimator


class _UniqueKeyLoader(yaml.CSafeLoader):
    """YAML lets a later key silently win over an earlier one of the same name; here that is an error."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands here twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def load_yaml(path):
    """Read one YAML file; a syntax error is told as `file:line: what is wrong`."""
    path = Path(path)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: {getattr(error, 'problem', None) or error}") from None


def check(value, schema: dict, path, schema_folder="") -> None:
    """Raise a ConfigError that names every wrong key of `value` under the JSON schema `schema`.

    The schema may refer to parts of others in `schema_folder`: {$ref: "dataset.schema.yaml#/properties/files"}.
    """
    import jsonschema
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    if value is None:
        raise ConfigError(f"{path}: the file is empty")
    others = Registry(retrieve=lambda name: DRAFT202012.create_resource(load_yaml(Path(schema_folder) / name)))
    validator = jsonschema.Draft202012Validator(schema, registry=others)
    problems = [_describe(error) for error in validator.iter_errors(value)]
    if problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in sorted(problems)))


def _describe(error) -> str:
    """One schema violation as `key.path: what is wrong`, for the alternative that was meant where there are several."""
    key = ".".join(str(part) for part in error.absolute_path) or "(top level)"
    if error.validator == "oneOf" and error.context:
        kinds = _kinds(error.validator_value)
        if kinds and isinstance(error.instance, dict) and error.instance.get("kind") not in kinds:
            kind = error.instance.get("kind")
            return f"{key}.kind: {kind!r} is not one of {', '.join(kinds)}{did_you_mean(kind, kinds)}"
        # The alternative whose `const`/`enum` tag fits is the one that the author meant: report that one's problem.
        by_alternative = {}
        for cause in error.context:
            by_alternative.setdefault(cause.schema_path[0], []).append(cause)
        meant = min(by_alternative.values(), key=lambda causes: sum(c.validator in ("const", "enum") for c in causes))
        return "; ".join(_describe(cause) for cause in meant)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(error.schema.get("properties", {}))
        unknown = [name for name in error.instance if name not in known]
        return f"{key}: " + "; ".join(f"unknown key {name!r}{did_you_mean(name, known)}" for name in unknown)
    if error.validator == "enum":
        return f"{key}: {error.instance!r} is not one of {', '.join(map(str, error.validator_value))}" + did_you_mean(
            error.instance, error.validator_value
        )
    return f"{key}: {error.message}"


def _kinds(alternatives: list[dict]) -> list[str]:
    """The values of `kind` by which alternatives of a schema are told apart."""
    tags = [alternative.get("properties", {}).get("kind", {}) for alternative in alternatives]
    return [kind for tag in tags for kind in tag.get("enum", [tag["const"]] if "const" in tag else [])]


def load_checked(path, schema_path):
    """Read a YAML file and check it against the schema (itself a YAML file)."""
    value = load_yaml(path)
    check(value, load_yaml(schema_path), path, Path(schema_path).parent)
    return value


def load_folder(folder, schema_path) -> dict[str, dict]:
    """Read every `*.yaml` of a folder, each checked against the schema, by file name: {id: content}."""
    schema = load_yaml(schema_path)
    contents = {}
    for path in sorted(Path(folder).glob("*.yml")):
        raise ConfigError(f"{path}: only files whose name ends in .yaml are read; rename it")
    for path in sorted(Path(folder).glob("*.yaml")):
        contents[path.stem] = load_yaml(path)
        check(contents[path.stem], schema, path, Path(schema_path).parent)
    return contents


def did_you_mean(name, known: Iterable) -> str:
    """`; did you mean 'x'?` for the nearest known name, or nothing."""
    close = get_close_matches(str(name), [str(other) for other in known], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def pick(kind: str, name: str, known: dict):
    """`known[name]`, or a ConfigError that says which names there are and which one may have been meant."""
    if name not in known:
        raise ConfigError(
            f"unknown {kind} {name!r}{did_you_mean(name, known)} (known: {', '.join(sorted(known)) or 'none'})"
        )
    return known[name]


def with_backbones(methods: dict[str, dict]) -> dict[str, dict]:
    """The same methods; one with a `backbone` has that method's estimator and parameters written out."""
    return {name: _written_out(name, method, methods) for name, method in methods.items()}


def _written_out(name: str, method: dict, methods: dict[str, dict]) -> dict:
    if "backbone" not in method:
        return method
    where, plain = f"config/methods/{name}.yaml: backbone", {key: one for key, one in methods.items() if key != name}
    try:
        backbone = pick("method", method["backbone"], plain)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    if has := [key for key in ("backbone", *ADDITIONS) if key in backbone]:
        raise ConfigError(f"{where}: {method['backbone']} says `{has[0]}` itself; name a plain one")
    return backbone | {key: value for key, value in method.items() if key != "backbone"}


def with_likes(methods: dict[str, dict]) -> dict[str, dict]:
    """The same methods; one that is `like` another has all of it that it does not say otherwise.

    Parameters and those for data sets are merged one by one; what it says for all data sets goes before what the other
    one says for some. The other one may be like a third.
    """
    return {name: _like(name, methods, ()) for name in methods}


def _like(name: str, methods: dict[str, dict], behind: tuple[str, ...]) -> dict:
    method = methods[name]
    if "like" not in method:
        return method
    where = f"config/methods/{name}.yaml: like"
    others = {key: one for key, one in methods.items() if key not in (name, *behind)}
    try:
        pick("method", method["like"], others)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    model = _like(method["like"], methods, (*behind, name))
    own = {key: value for key, value in method.items() if key != "like"}
    if "parameters" in model or "parameters" in own:
        own["parameters"] = model.get("parameters", {}) | own.get("parameters", {})
    said = {*method.get("parameters", {}), method.get("sweep", {}).get("parameter")}
    inherited = {
        name: {key: value for key, value in parameters.items() if key not in said}
        for name, parameters in model.get("per_dataset", {}).items()
    }
    if datasets := inherited | own.get("per_dataset", {}):
        own["per_dataset"] = {name: inherited.get(name, {}) | parameters for name, parameters in datasets.items()}
    return model | own


def with_sweeps(methods: dict[str, dict]) -> dict[str, dict]:
    """The same methods; one with a `sweep` stands for as many as there are values, `<name>@<value>`.

    Its title and description have the value in the place of {value}.
    """
    written_out = {}
    for name, method in methods.items():
        sweep = method.get("sweep")
        for value in sweep["values"] if sweep else [None]:
            one = {key: part for key, part in method.items() if key != "sweep"}
            if sweep:
                words = {key: method[key].replace("{value}", f"{value:g}") for key in ("title", "description")}
                parameters = method.get("parameters", {}) | {sweep["parameter"]: value}
                one |= words | {"parameters": parameters}
            written_out[f"{name}@{value:g}" if sweep else name] = one
    return written_out


def method_named(name: str, methods: dict[str, dict]) -> dict:
    """The configuration of a method.

    `eagle+bonsai` has the imputation of `eagle` in front of all that is `bonsai`, `disentangle-2+bonsai` has Bonsai's
    labels in overlapping clusters as `disentangle-2` has XR-Linear's.
    """
    adding, plus, backbone = name.partition("+")
    method = pick("method", adding, methods)
    if not plus:
        return method
    added = {key: method[key] for key in ADDITIONS if key in method}
    if not added:
        raise ConfigError(
            f"method {name!r}: {adding} adds nothing to another one (it has no `impute` and no `overlap`)"
        )
    behind = pick("method", backbone, methods)
    if "search" in behind:
        raise ConfigError(
            f"method {name!r}: {backbone} learns from groups itself; put one that does not behind {adding}"
        )
    if "word_vectors" in behind:
        raise ConfigError(f"method {name!r}: {backbone} writes sets of labels; put one that ranks behind {adding}")
    if has := [key for key in ADDITIONS if key in behind]:
        raise ConfigError(f"method {name!r}: {backbone} has an `{has[0]}` itself; put a plain one behind {adding}")
    return behind | added
