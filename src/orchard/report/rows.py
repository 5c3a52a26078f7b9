"""Which runs an artefact shows: its rows, crossed with its settings, at a scale, on a data set, with which seeds.

An artefact has one of `rows` for every method that the paper compares:

    row : the method as the paper prints it
    method, variant : the run that measures it, or instead of them
    not_run : why nothing does
    not_run_on : {data set: why}, where it is too large for the method
    from : the smallest scale that runs it (smoke if there is none)
    at : in a figure, its place on the axis

A row whose method is `<id>/<search>` shows a search of its model (`orchard.latency`), no run.
A row whose method is `<id>@*` stands for one at each of the artefact's `sweep` values, which are their `at`; {value} in
its name is the value.

`settings`, if there are any, stand for the groups of lines in which the paper prints all of those methods. Every row
without a variant of its own is crossed with every setting; a row with one (the oracle on clean labels) stands alone.

    setting : the group of lines as printed
    variant : of the labels, and `variant_for` {data set: variant}, where a data set has another one
    method_for : {data set: {method: the method that takes its place there}}
    from : the smallest scale that runs it (smoke if there is none)
    not_at : {scale: rows} that take too long there, and are left to the next scale
    seeds : at each scale, instead of the artefact's
    not_run_on : {data set: why}, of all rows; what a row itself says of a data set goes first
    axis, at : in a figure, the x axis (or the curve, or the panel) that it belongs to and its place there, if rows
        have no `at`
    published : in a figure, the setting whose published values it is set beside, if not its own name
"""

from collections.abc import Container

SCALES = ("smoke", "demo", "laptop", "paper")
_OF_SETTING = ("setting", "axis", "at", "published")


def resolve_rows(artefact: dict, scale: str, datasets: list[str]) -> list[dict]:
    """The rows of an artefact, one for every line: those that stand alone first, then setting by setting.

    What is not run at this scale keeps its line, and says in `from` which scale it begins with. Exceptions for data
    sets that are not shown are left out, so that a rendering depends on nothing that it does not show.
    """
    rows = [_at_scale(row, row.get("from"), scale) for row in _swept(artefact, scale)]
    if "settings" not in artefact:
        return rows
    crossed = [row for row in rows if "variant" not in row]
    lines = [row for row in rows if "variant" in row]
    return lines + [_crossed(row, setting, scale, datasets) for setting in artefact["settings"] for row in crossed]


def _swept(artefact: dict, scale: str) -> list[dict]:
    """The rows, those with a sweep written out."""
    rows = []
    for row in artefact["rows"]:
        method, star, rest = row.get("method", "").partition("@*")
        if not star:
            rows.append(row)
            continue
        for value in artefact["sweep"][scale]:
            name = row["row"].replace("{value}", f"{value:g}")
            rows.append(row | {"row": name, "method": f"{method}@{value:g}{rest}", "at": value})
    return rows


def _at_scale(row: dict, first: str | None, scale: str) -> dict:
    """A row without `from`; or, at a scale before that one, with it and without its method."""
    if first and SCALES.index(scale) < SCALES.index(first):
        return {key: value for key, value in row.items() if key != "method"} | {"from": first}
    return {key: value for key, value in row.items() if key != "from"}


def _crossed(row: dict, setting: dict, scale: str, datasets: list[str]) -> dict:
    line = row | {key: setting[key] for key in _OF_SETTING if key in setting}
    if "from" in row:
        line["from"] = max(row["from"], setting.get("from", SCALES[0]), key=SCALES.index)
    if "method" not in row:
        return line
    first = setting.get("from")
    if row["row"] in setting.get("not_at", {}).get(scale, ()):
        first = SCALES[SCALES.index(scale) + 1]
    line = _at_scale(line, first, scale)
    if reasons := setting.get("not_run_on", {}) | row.get("not_run_on", {}):
        line["not_run_on"] = reasons
    if "method" not in line:
        return line
    line["variant"] = setting["variant"]
    if "seeds" in setting:
        line["seeds"] = setting["seeds"][scale]
    others = {
        "variant_for": setting.get("variant_for", {}),
        "method_for": {
            name: methods[row["method"]]
            for name, methods in setting.get("method_for", {}).items()
            if row["method"] in methods
        },
    }
    for key, by_dataset in others.items():
        if shown := {name: value for name, value in by_dataset.items() if name in datasets}:
            line[key] = shown
    return line


def without(artefact: dict, methods: Container[str], reason: str) -> dict:
    """The artefact with every row whose method is among these not run, for this reason; nothing else of it changes.

    Swept rows and a setting's `method_for` are left as they are.
    """
    gone = ("method", "from", "not_run_on")
    rows = [
        {key: value for key, value in row.items() if key not in gone} | {"not_run": reason}
        if row.get("method") in methods
        else row
        for row in artefact["rows"]
    ]
    return artefact | {"rows": rows}


def run_of(row: dict, dataset: str) -> tuple[str, str] | None:
    """(variant, method) of the run behind a resolved row on a data set; None if nothing is run."""
    if "method" not in row or dataset in row.get("not_run_on", {}):
        return None
    variant = row.get("variant_for", {}).get(dataset, row.get("variant", "clean"))
    return variant, row.get("method_for", {}).get(dataset, row["method"])


def seeds_of(artefact: dict, scale: str, dataset: str, row: dict | None = None) -> list[int]:
    """The seeds of a scale, or of a resolved row that has its own.

    Of them only those in `seeds_for`, for a data set that stands there.
    """
    seeds = (row or {}).get("seeds", artefact["seeds"][scale])
    return [seed for seed in seeds if seed in artefact.get("seeds_for", {}).get(dataset, seeds)]


def runs_of(artefact: dict, scale: str, datasets: list[str]) -> list[tuple[str, str, str, int]]:
    """(data set, variant, method, seed) of every run that an artefact shows, each once."""
    rows = resolve_rows(artefact, scale, datasets)
    runs = [
        (dataset, *run, seed)
        for dataset in datasets
        for row in rows
        if (run := run_of(row, dataset))
        for seed in seeds_of(artefact, scale, dataset, row)
    ]
    return list(dict.fromkeys(runs))


def methods_of(rows: list[dict]) -> list[str]:
    """The methods behind resolved rows, each once. `<method>/<search>` (orchard.latency.SEARCHES) is its method."""
    return list(dict.fromkeys(row["method"].partition("/")[0] for row in rows if "method" in row))
