"""The search for a batch size and a learning rate (eagle, Table 6): a grid of accuracies for every data set.

The published grid stands first, below it one of ours for every data set: test accuracy at the epoch that was best on
validation data. Bold is the point that was chosen.
"""

import re

from orchard.errors import ConfigError
from orchard.report.published import read_published
from orchard.report.scores import MISSING, Measured, not_run_notes, seeds_note, simulated_note
from orchard.report.tables import Table
from orchard.search import choose_point, scores_by_point

PUBLISHED_CHOICE = 64, 1e-4  # "We select bs = 64, lr = 1e-4 for our experiments", the caption
RECORD_HEADER = ["data set", "source", "bs", "lr", "column", "value", "spread", "chosen"]
_SETTING = re.compile(r"bs = (\d+), lr = ([\d.e-]+)")


def search_table(artefact: dict, scores: list[dict], published_csv) -> Table:
    """A line for every data set, source and batch size, a column for every learning rate.

    artefact : {title, notes, rows, not_run}. Why there are no scores, if there are none, its rows tell or `not_run`.
    scores : one for every point and seed, as `orchard.search.choose_point` takes them, of any number of data sets.
    """
    published, dataset_of_paper = _published(published_csv)
    searches = {}
    for score in scores:
        searches.setdefault(score["dataset"], []).append(score)
    grids = {
        name: {_place(dict(point)): Measured.of(at_point) for point, at_point in scores_by_point(own).items()}
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
        table.records.append([dataset_of_paper, "published", *point, "accuracy", value.number, spread, chosen])
    notes = []
    for name, grid in grids.items():
        choice = choose_point(searches[name])
        point = _place(choice["parameters"])
        source = grid[point].source
        printed = {place: measured.printed("accuracy") for place, measured in grid.items()}
        _add_grid(table, [name, source], printed, rates, point)
        table.records += [
            [name, source, *place, metric, value, measured.spreads.get(metric, ""), "yes" if place == point else ""]
            for place, measured in sorted(grid.items(), key=lambda item: (item[0][0], -item[0][1]))
            for metric, value in measured.values.items()
        ]
        notes.append(_choice_note(name, choice, grid, point))
    table.notes = [*artefact.get("notes", []), *_published_note(published), *notes, *_run_notes(artefact, grids)]
    return table


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


def _choice_note(dataset: str, choice: dict, grid: dict[tuple, Measured], point: tuple[int, float]) -> str:
    """What was chosen and what that gives; what the test set would have chosen."""
    accuracies = {place: measured.values["accuracy"] for place, measured in grid.items()}
    best = max(accuracies, key=lambda place: (accuracies[place], place == point))
    chosen = (
        f"Chosen on {dataset} by validation accuracy alone: {_name(point)}, {choice['parameters']['epochs']} epochs "
        f"(validation {choice['validation accuracy']:.2f}, test {accuracies[point]:.2f})."
    )
    if best == point:
        return f"{chosen} It is the best on the test set, too."
    cost = f"{accuracies[best] - accuracies[point]:.2f} points"
    return f"{chosen} The test set would have chosen {_name(best)} ({accuracies[best]:.2f}); the choice costs {cost}."


def _place(parameters: dict) -> tuple[int, float]:
    return parameters["batch_size"], parameters["learning_rate"]


def _name(point: tuple[int, float]) -> str:
    return f"bs = {point[0]}, lr = {point[1]:g}"


def _published_note(published: dict) -> list[str]:
    if PUBLISHED_CHOICE not in published:
        return []
    higher = sum(value.number > published[PUBLISHED_CHOICE].number for value in published.values())
    told = f"; {higher} of its points are higher" if higher else ""
    return [f"Bold: the point that was chosen. The paper chose {_name(PUBLISHED_CHOICE)} (caption){told}."]


def _run_notes(artefact: dict, grids: dict[str, dict]) -> list[str]:
    if not grids:
        told = [f"Not run: {artefact['not_run']}."] if "not_run" in artefact else ["Not run."]
        return not_run_notes(artefact.get("rows", []), []) or told
    shown = [measured for grid in grids.values() for measured in grid.values()]
    simulated = [name for name, grid in grids.items() if next(iter(grid.values())).simulated]
    return [
        f"Measured: test accuracy at the epoch with the best validation accuracy. {seeds_note(shown)} Epochs are the "
        "mean over the seeds of that epoch, rounded.",
        *([simulated_note(simulated)] if simulated else []),
    ]
