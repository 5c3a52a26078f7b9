"""The search for hyper-parameters: a method's grid on a data set, what is fixed before, and which point is best.

A method's `search` (config/schemas/method.schema.yaml) names a grid of parameters, and either the variants, seeds and
epochs of its own, or a method that it comes `after`: what that one has chosen is fixed, as EAGLE fixes the batch size,
the learning rate and the epochs of Deep-MIML for all of its methods (§7.3). Only validation samples are looked at.
"""

import math
import re
from itertools import product
from statistics import mean

from orchard.config import pick
from orchard.errors import ConfigError


def search_of(name: str, methods: dict[str, dict], dataset: str) -> dict:
    """The search of a method on a data set, all written out: grid, seeds, variants; epochs and patience, or after."""
    method = pick("method", name, methods)
    if "search" not in method:
        raise ConfigError(f"method {name!r} has no `search`: it does not learn from groups")
    search = {key: value for key, value in method["search"].items() if key != "per_dataset"}
    search |= method["search"].get("per_dataset", {}).get(dataset, {})
    if "after" not in search:
        return search
    first = methods.get(search["after"], {}).get("search")
    if first is None or "after" in first:
        raise ConfigError(
            f"config/methods/{name}.yaml: search.after: {search['after']!r} is no method with a `search` of its own"
        )
    shared = search_of(search["after"], methods, dataset)
    return {key: shared[key] for key in ("seeds", "variants")} | search


def points_of(search: dict) -> dict[str, dict]:
    """{name: {parameter: value}} of every point of the grid; none if there is nothing to choose."""
    grid = search["grid"]
    if not grid:
        return {}
    points = (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
    return {point_name(point): point for point in points}


def point_name(point: dict) -> str:
    """As a folder is called: `batch_size=32,learning_rate=0.001`."""
    return ",".join(f"{key}={value:g}" for key, value in point.items())


def searched_variant(variant: str, search: dict) -> str:
    """The variant whose search counts for this one: itself, or the one whose group size is nearest, by its ratio."""
    if variant in search["variants"]:
        return variant
    size = _group_size(variant)
    if size is None or len(search["variants"]) == 1:
        return search["variants"][0]
    sizes = {other: _group_size(other) for other in search["variants"]}
    known = {other: known for other, known in sizes.items() if known}
    if not known:
        return search["variants"][0]
    return min(known, key=lambda other: abs(math.log(known[other] / size)))


def _group_size(variant: str) -> int | None:
    named = re.fullmatch(r"aggregated/random-(\d+)(-set)?", variant)
    return int(named[1]) if named else None


def choose_point(scores: list[dict]) -> dict:
    """The point with the best mean validation accuracy, and how many epochs it takes there; nothing else is looked at.

    scores : of one search (data set, variant and method), one for every point and seed:
        {"dataset", "variant", "method", "seed", "metrics": {"validation accuracy", …}, "epoch": the best one,
        "point": {parameter: value}}; none of them has an "epoch" if the epochs were fixed before
    Returns {"parameters": those of the point and `epochs`, "validation accuracy", "seeds"}; `epochs` is the mean over
    the seeds, rounded, and missing if the scores have none. Ties go to the larger batch size, then to the smaller value
    of the other parameters.
    """
    if not scores:
        raise ValueError("there are no scores to choose a point from")
    searches = sorted({tuple(score[key] for key in ("dataset", "variant", "method")) for score in scores})
    if len(searches) > 1:
        told = " and ".join("/".join(search) for search in searches[:2])
        raise ValueError(f"the scores are of more than one search: {told}")
    by_point = scores_by_point(scores)
    seeds = sorted({score["seed"] for score in scores})
    for point, own in by_point.items():
        if (tried := [score["seed"] for score in own]) != seeds:
            raise ValueError(f"{dict(point)}: every point needs the seeds {seeds}, each once; this one has {tried}")
    if len({"epoch" in score for score in scores}) > 1:
        raise ValueError("some of the scores have an epoch and some have none")
    accuracy = {
        point: mean(score["metrics"]["validation accuracy"] for score in own) for point, own in by_point.items()
    }
    best = max(accuracy, key=lambda point: (accuracy[point], *_preference(point)))
    parameters = dict(best)
    if "epoch" in scores[0]:
        parameters["epochs"] = math.floor(mean(score["epoch"] for score in by_point[best]) + 0.5)
    return {"parameters": parameters, "validation accuracy": accuracy[best], "seeds": seeds}


def scores_by_point(scores: list[dict]) -> dict[tuple[tuple[str, float], ...], list[dict]]:
    """{((parameter, value), …): its scores, by seed}."""
    by_point = {}
    for score in sorted(scores, key=lambda score: score["seed"]):
        by_point.setdefault(tuple(sorted(score["point"].items())), []).append(score)
    return by_point


def _preference(point: tuple[tuple[str, float], ...]) -> list[float]:
    return [value if parameter == "batch_size" else -value for parameter, value in point]
