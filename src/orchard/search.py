"""A search for hyper-parameters: of points that were all tried with the same seeds, the best on validation data."""

from math import floor
from statistics import mean


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
        parameters["epochs"] = floor(mean(score["epoch"] for score in by_point[best]) + 0.5)
    return {"parameters": parameters, "validation accuracy": accuracy[best], "seeds": seeds}


def scores_by_point(scores: list[dict]) -> dict[tuple[tuple[str, float], ...], list[dict]]:
    """{((parameter, value), …): its scores, by seed}."""
    by_point = {}
    for score in sorted(scores, key=lambda score: score["seed"]):
        by_point.setdefault(tuple(sorted(score["point"].items())), []).append(score)
    return by_point


def _preference(point: tuple[tuple[str, float], ...]) -> list[float]:
    return [value if parameter == "batch_size" else -value for parameter, value in point]
