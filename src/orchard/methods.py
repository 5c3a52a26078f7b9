"""A method, made from its configuration: its estimator, its label trees and clusters, and who imputes its labels."""

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from importlib import import_module

from orchard.errors import ConfigError

OVERLAPPING = "orchard.disentanglement"
OF_QUERIES = ("query_beam", "merge", "strategy", "budget")  # parameters that a matcher does not look at


class NotImportable(ConfigError):
    """A method names a module, a class or a function that is not there, or does not compile."""


def make_estimator(estimator: str, parameters: dict, seed: int, threads: int):
    """Construct the named estimator; returns it with all of its parameters, defaults included.

    An estimator that takes a `random_state` gets the seed; one that takes `n_jobs` gets the threads, which are no
    parameter, since results must not depend on them.
    """
    make = _find(estimator)
    resolved, threading = _resolved(estimator, make, (), parameters, seed, threads)
    return make(**resolved, **threading), resolved


def make_imputation(function: str, parameters: dict, seed: int, threads: int) -> tuple[Callable, dict]:
    """The named function of X, Y¹ and Y² that returns Y, with its parameters; seed and threads as for an estimator."""
    impute = _find(function)
    resolved, threading = _resolved(function, impute, ("X", "Y1", "Y2"), parameters, seed, threads)
    return partial(impute, **resolved, **threading), resolved


def _resolved(name: str, make, data: tuple, parameters: dict, seed: int, threads: int) -> tuple[dict, dict]:
    """All parameters of `make` but its `data`, and the one that is none: n_jobs, if it takes it."""
    accepted = {key: p for key, p in inspect.signature(make).parameters.items() if key not in data}
    if unknown := [key for key in parameters if key not in accepted]:
        known = ", ".join(accepted) or "none"
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)} (its parameters: {known})")
    if reserved := [key for key in ("random_state", "n_jobs") if key in parameters]:
        raise ConfigError(f"{name}: {', '.join(reserved)} comes from the run (its seed, its threads)")
    defaults = {key: p.default for key, p in accepted.items() if key != "n_jobs" and p.default is not p.empty}
    resolved = defaults | parameters | ({"random_state": seed} if "random_state" in accepted else {})
    try:
        json.dumps(resolved)  # they go into score.json: better to know before hours of training
    except TypeError as error:
        raise ConfigError(f"{name}: a parameter cannot be written down: {error}") from None
    return resolved, {"n_jobs": threads} if "n_jobs" in accepted else {}


def tree_recipe(estimator: str, parameters: dict) -> dict | None:
    """What a method's label trees depend on, beside data and seed: methods with the same recipe can share them.

    An estimator that builds trees has `build_trees(X, Y)`, takes them in `fit(X, Y, trees=…)`, and names in
    TREE_PARAMETERS the parameters they depend on. Any other has no recipe: whatever it needs, its `fit` makes.
    """
    defaults = _tree_parameters(estimator)
    if defaults is None:
        return None
    values = {name: parameters.get(name, default) for name, default in defaults.items()}
    return {"estimator": estimator, "parameters": values}


@cache
def _tree_parameters(estimator: str) -> dict | None:
    """What an estimator's label trees depend on, with defaults; None if it has none to share."""
    make = _find(estimator)
    names = getattr(make, "TREE_PARAMETERS", ())
    if not names or not hasattr(make, "build_trees"):
        return None
    accepted = inspect.signature(make).parameters
    if unknown := [name for name in names if name not in accepted]:
        raise ConfigError(f"{estimator}: TREE_PARAMETERS names {', '.join(unknown)}, which it does not take")
    return {name: accepted[name].default for name in names}


def match_recipe(estimator: dict, overlap: dict, round_number: int | None = None) -> dict:
    """What the matrix M of a round, the last one by default, depends on, beside data and seed.

    Methods with the same recipe share it. estimator : {estimator, parameters}.  overlap : options of
    `orchard.disentanglement.Overlap`.  From the second round on samples are matched by a model over the clusters that
    were chosen in the round before.
    """
    round_number = overlap.get("rounds", 1) if round_number is None else round_number
    parameters = {key: value for key, value in estimator["parameters"].items() if key not in OF_QUERIES}
    recipe = {"estimator": estimator["estimator"], "parameters": parameters, "folds": overlap.get("folds", 0)}
    if round_number == 1:
        return recipe
    return recipe | {"after": match_recipe(estimator, overlap, round_number - 1), "overlap": one_round(overlap)}


def one_round(overlap: dict) -> dict:
    """The options that say which clusters are chosen in a round, given the matches."""
    return {key: value for key, value in overlap.items() if key not in ("rounds", "retrain_matcher", "folds")}


def make_overlap(options: dict) -> tuple[Callable, dict]:
    """`orchard.disentanglement.overlapping_fit` with these options, and all of the options, defaults included.

    Found by name: an edit of that module re-runs the methods with overlapping clusters alone.
    """
    try:
        overlap = _find(f"{OVERLAPPING}.Overlap")(**options).validate()
    except ValueError as error:
        raise ConfigError(f"overlap: {error}") from None
    return partial(_find(f"{OVERLAPPING}.overlapping_fit"), overlap), asdict(overlap)


def train_method(estimator: str, parameters: dict, overlap: dict | None, X, Y, seed: int, threads: int):
    """A method trained from scratch, trees and overlapping clusters and all, where nothing of it is shared."""
    made, _ = make_estimator(estimator, parameters, seed, threads)
    return _find(f"{OVERLAPPING}.disentangle")(made, X, Y, **overlap) if overlap else made.fit(X, Y)


def recipe_name(recipe: dict) -> str:
    """A recipe as the name of a folder: the class, and a digest of all that is in it."""
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    return f"{recipe['estimator'].rpartition('.')[2]}-{digest[:8]}"


def _find(path: str):
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, SyntaxError) as error:
        raise NotImportable(f"the method's {path!r} cannot be imported: {error}") from None
