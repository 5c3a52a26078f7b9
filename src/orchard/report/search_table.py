"""The search for a batch size and a learning rate (eagle, Table 6): a grid of accuracies for every data set.

The published grid stands first, below it one of ours for every data set: test accuracy at the epoch that was best on
validation data. Bold is the point that was chosen.
"""

import re
from math import sqrt

from orchard.errors import ConfigError
from orchard.hyperparameters import choose_point, scores_by_point
from orchard.report.published import read_published
from orchard.report.scores import MISSING, Measured, not_run_notes, seeds_note, simulated_note
from orchard.report.tables import Table

PUBLISHED_CHOICE = 64, 1e-4  # "We select bs = 64, lr = 1e-4 for our experiments", the caption
SEARCHED = "batch_size", "learning_rate"
_ERRORS = "spread", "standard error", "repetitions"
RECORD_HEADER = ["data set", "source", "bs", "lr", "column", "value", *_ERRORS, "chosen"]
_SETTING = re.compile(r"bs = (\d+), lr = ([\d.e-]+)")


def search_table(artefact: dict, scores: list[dict], published_csv) -> Table:
    """A line for every data set, source and batch size, a column for every learning rate.

    artefact : {title, notes, rows}. If there are no scores, its rows tell why, as `orchard.report.rows.without` does.
    scores : one for every point and seed, as `orchard.hyperparameters.choose_point` takes them, of any number of data
        sets; `params` holds how many `epochs` were allowed.
    """
    published, dataset_of_paper = _published(published_csv)
    searches = {}
    for score in scores:
        searches.setdefault(score["dataset"], []).append(score)
    grids = {
        name: {_place(dict(point), name): Measured.of(at_point) for point, at_point in scores_by_point(own).items()}
        for name, own in searches.items()
    }
    rates = sorted({rate for grid in (published, *grids.values()) for _, rate in grid}, reverse=True)
    table = Table(
        artefact["title"],
        header=["data set", "source", "bs", *(f"lr = {rate:g}" for rate in rates)],
        rows=[],
        record_header=RECORD_HEADER,
    )
    printed = {point: value.value for point, value in published.items()}
    _add_grid(table, [dataset_of_paper, "published"], printed, rates, PUBLISHED_CHOICE)
    for point, value in published.items():
        spread = value.spread if value.spread == value.spread else ""
        chosen = "yes" if point == PUBLISHED_CHOICE else ""
        table.records.append([dataset_of_paper, "published", *point, "accuracy", value.number, spread, "", "", chosen])
    notes = []
    for name, grid in grids.items():
        choice = choose_point(searches[name])
        point = tuple(choice["parameters"][key] for key in SEARCHED)
        source = grid[point].source
        printed = {place: measured.printed("accuracy") for place, measured in grid.items()}
        _add_grid(table, [name, source], printed, rates, point)
        table.records += [
            [name, source, *place, metric, value, *_errors(measured, metric), "yes" if place == point else ""]
            for place, measured in sorted(grid.items(), key=lambda item: (item[0][0], -item[0][1]))
            for metric, value in measured.values.items()
        ]
        notes.append(_choice_note(choice, searches[name], grid, point))
    with_epochs = any("epoch" in score for score in scores)
    notes += _run_notes(grids, with_epochs) if grids else not_run_notes(artefact["rows"], [])
    table.notes = [*artefact.get("notes", []), *_published_note(published), *notes]
    return table


def _errors(measured: Measured, metric: str) -> tuple:
    """Standard deviation over the seeds, standard error of their mean, and how many they are."""
    n = len(measured.seeds)
    spread = measured.spreads.get(metric)
    return ("", "", n) if spread is None else (spread, spread / sqrt(n), n)


def _published(path) -> tuple[dict, str]:
    """{(batch size, learning rate): value}, and the data set that the paper searched on."""
    values = read_published(path)
    points = {}
    for value in values:
        if not (match := _SETTING.fullmatch(value.setting)):
            raise ConfigError(f"{path}: setting {value.setting!r}: it should read bs = 32, lr = 0.1")
        points[int(match[1]), float(match[2])] = value
    if len({value.dataset for value in values}) != 1 or len(points) < len(values):
        raise ConfigError(f"{path}: there must be one value for every point, all of one data set")
    return points, values[0].dataset


def _add_grid(table: Table, lead: list[str], printed: dict, rates: list[float], chosen: tuple[int, float]) -> None:
    for size in sorted({size for size, _ in printed}):
        cells = [printed.get((size, rate), MISSING) for rate in rates]
        cells = [f"**{cell}**" if (size, rate) == chosen else cell for rate, cell in zip(rates, cells, strict=True)]
        table.rows.append([*lead, size, *cells])


def _choice_note(choice: dict, scores: list[dict], grid: dict[tuple, Measured], point: tuple[int, float]) -> str:
    """What was chosen, where more could have been tried, and what it gives; what the test set would have chosen."""
    accuracies = {place: measured.values["accuracy"] for place, measured in grid.items()}
    best = max(accuracies, key=lambda place: (accuracies[place], place == point))
    chosen = (
        f"Chosen on {scores[0]['dataset']} by validation accuracy alone: {_name(point)}{_epochs(choice, scores)} "
        f"(validation {choice['validation accuracy']:.2f}, test {accuracies[point]:.2f}){_edges(grid, point)}."
    )
    if best == point:
        return f"{chosen} It is the best on the test set, too."
    cost = f"{accuracies[best] - accuracies[point]:.2f} points"
    return f"{chosen} The test set would have chosen {_name(best)} ({accuracies[best]:.2f}); the choice costs {cost}."


def _epochs(choice: dict, scores: list[dict]) -> str:
    if "epochs" not in choice["parameters"]:
        return ""
    epochs = choice["parameters"]["epochs"]
    allowed = max(score["params"]["epochs"] for score in scores)
    return f", {epochs} epoch{'s' if epochs > 1 else ''}{', the most that was allowed' if epochs >= allowed else ''}"


def _edges(grid: dict[tuple, Measured], point: tuple[int, float]) -> str:
    """Which of both is the smallest or the largest that was tried, of several."""
    tried = [set(values) for values in zip(*grid, strict=True)]
    at_edge = [
        name
        for name, value, values in zip(_names(point), point, tried, strict=True)
        if len(values) > 1 and value in (min(values), max(values))
    ]
    return f"; on the edge of the grid: {', '.join(at_edge)}" if at_edge else ""


def _place(parameters: dict, dataset: str) -> tuple[int, float]:
    if set(parameters) != set(SEARCHED):
        told = ", ".join(sorted(parameters))
        raise ConfigError(f"{dataset}: the table shows a search for {' and '.join(SEARCHED)}, this one is for {told}")
    return tuple(parameters[key] for key in SEARCHED)


def _names(point: tuple[int, float]) -> tuple[str, str]:
    return f"bs = {point[0]}", f"lr = {point[1]:g}"


def _name(point: tuple[int, float]) -> str:
    return ", ".join(_names(point))


def _published_note(published: dict) -> list[str]:
    if PUBLISHED_CHOICE not in published:
        return []
    higher = sum(value.number > published[PUBLISHED_CHOICE].number for value in published.values())
    told = f"; {higher} of its points {'is' if higher == 1 else 'are'} higher" if higher else ""
    return [f"Bold: the point that was chosen. The paper chose {_name(PUBLISHED_CHOICE)} (caption){told}."]


def _run_notes(grids: dict[str, dict], with_epochs: bool) -> list[str]:
    shown = [measured for grid in grids.values() for measured in grid.values()]
    simulated = [name for name, grid in grids.items() if next(iter(grid.values())).simulated]
    at_best = " at the epoch with the best validation accuracy" if with_epochs else ""
    epochs = " Epochs are the mean over the seeds of that epoch, rounded." if with_epochs else ""
    return [
        f"Measured: test accuracy{at_best}. {seeds_note(shown)}{epochs}",
        *([simulated_note(simulated)] if simulated else []),
    ]
