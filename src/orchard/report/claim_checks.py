"""Claims are checked before any job is started: every name in them must be one that the artefact or the paper has.

What a CSV file will hold is known before it is there as far as artefacts.yaml, the published table and the modules
that write it tell; a name that only the file itself could know is not refused here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchard.config import did_you_mean, pick
from orchard.errors import ConfigError
from orchard.report import costs_table, relative_table, training_table
from orchard.report.claim_expressions import Operand, Place
from orchard.report.claim_records import ROLES, same
from orchard.report.claim_sources import LINE_KEYS, ArtefactValues, lines_at, metric_of, printed_of
from orchard.report.claims import Claim
from orchard.report.published import PublishedValue, read_published

PLACES = ("for_every", "for_some", "on_average")
# Columns of CSV files that may choose a line or hold the value, beside those that `ROLES` names.
COLUMNS = (
    *("panel", "task", "axis", "source", "run", "cost", "front", "chosen", "bs", "lr", "what", "labels wanted"),
    *("title", "label", "told apart", "meaning", "seeds", "decrement", "oracle", "error of the oracle"),
    *("labels", "% of labels", "fraction of data points", "labels per sample", "at most average", "above average"),
    *("mean cosine to the others", "samples", "share there", "VI", "VI, random"),
)
SIMULATED = {  # {task of a simulation: (estimators, quantities)}
    "regression": (("NoAS", "AS"), ("Rel. RMS",)),
    "classification": (("NoAS", "AS"), ("Rel. Error",)),
    "shared component": (
        tuple(f"T = {iterations}, {centred}" for iterations in (0, 20) for centred in ("not centred", "centred")),
        ("labels given to the right sample", "cosine of embedding and truth"),
    ),
}
OF_COSTS = ("training (s)", "query (ms)", *costs_table.EXTRA)
OF_STEPS = training_table.COLUMNS
OF_SCHEMES = (relative_table.IMPROVEMENT, relative_table.DIFFERENCE, relative_table.F1, relative_table.SHARE)


@dataclass(frozen=True)
class Known:
    """What the claims of a paper may speak of.

    datasets : all that Orchard knows.  score_metrics : that some run has.
    scored : {artefact}, those of the paper whose rule reads scores.  published : the folder of its published tables.
    """

    artefacts: dict[str, dict]
    datasets: Iterable[str]
    score_metrics: set[str]
    scored: set[str]
    published: Path

    @cached_property
    def known_datasets(self) -> set[str]:
        """Data that nobody outside can have is known by the numbers that the paper prints of it."""
        tables = (read_published(path) for path in sorted(self.published.glob("*.csv")))
        return {*self.datasets, *(value.dataset for table in tables for value in table)} - {""}

    def printed(self, claim: Claim) -> list[PublishedValue]:
        """The published table of a claim: the one that it names, or its artefact's if there is one."""
        stem = claim.entry.get("published", claim.entry["artefact"])
        path = self.published / f"{stem}.csv"
        if not path.is_file() and "published" not in claim.entry:
            return []
        if not path.is_file():
            known = sorted(one.stem for one in self.published.glob("*.csv"))
            raise ConfigError(f"published: there is no {path}{did_you_mean(stem, known)}")
        return read_published(path)


def check_claims(path, paper: str, entries: dict[str, dict], known: Known) -> list[Claim]:
    """The claims of a file; the first thing wrong in each is told as `file: id: what is wrong`, all at once."""
    claims, problems = [], []
    for name, entry in entries.items():
        try:
            claim = Claim.of(paper, name, entry)
            _check_claim(claim, known)
            claims.append(claim)
        except ConfigError as error:
            problems.append(f"{path}: {name}: {error}")
    if problems:
        raise ConfigError("\n".join(problems))
    return claims


def _check_claim(claim: Claim, known: Known) -> None:
    _check_datasets(claim, known)
    if "needs" in claim.entry:
        return
    artefact = pick("artefact", claim.entry["artefact"], known.artefacts)
    if not claim.datasets and "simulation" not in artefact:
        raise ConfigError("datasets: which of the paper's own data sets is it claimed for?")
    keys = [key for lists in PLACES for key in claim.entry.get(lists, {})]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise ConfigError(f"{', '.join(twice)} stands in more than one of {', '.join(PLACES)}")
    printed = known.printed(claim)
    scores = [] if claim.entry["artefact"] in known.scored else None
    values = ArtefactValues(claim.entry["artefact"], artefact, "paper", [], known.score_metrics, scores)
    names = vocabulary(values, printed)
    for lists in PLACES:
        for key, parts in claim.entry.get(lists, {}).items():
            for part in parts:
                _check_part(lists, key, part, names)
    for expression in claim.expressions:
        for operand in expression.operands:
            if operand.published:
                _check_published(operand, printed, claim, artefact)
            else:
                _check_measured(operand, claim.all_places, values, names)


def _check_datasets(claim: Claim, known: Known) -> None:
    for name in claim.datasets:
        if name not in known.known_datasets:
            raise ConfigError(f"datasets: unknown data set {name!r}{did_you_mean(name, known.known_datasets)}")


def vocabulary(values: ArtefactValues, printed: list[PublishedValue]) -> dict[str, list[str]]:
    """{row, setting, metric, at, axis: the names that an artefact may have}; nothing known, nothing refused."""
    artefact, lines = values.artefact, list(values.lines)
    tasks = [panel["task"] for panel in artefact.get("simulation", {}).get("panels", [])]
    has_rows = bool(lines or tasks or artefact.get("columns"))
    rows = [line[0] for line in lines]
    if any("beside" in row for row in artefact.get("rows", [])):
        rows += [f"{row}, {loss}" for row in rows for loss in (training_table.PLAIN, training_table.ONE_BY_ONE)]
    rows += [column["published"] for column in artefact.get("columns", [])]
    rows += [estimator for task in tasks for estimator in SIMULATED[task][0]]
    rows += [value.method or value.metric for value in printed]
    rows += artefact.get("metrics", [])  # of a search, whose file has no column of methods
    metrics = [*artefact.get("metrics", []), *(sorted(values.score_metrics) if values.scores is not None else [])]
    metrics += [quantity for task in tasks for quantity in SIMULATED[task][1]]
    metrics += [value.metric for value in printed]
    simulated_at = [
        at
        for panel in artefact.get("simulation", {}).get("panels", [])
        for at in panel.get("sigma_2", panel.get("shared"))
    ]
    known = {
        "row": [*rows, *OF_SCHEMES, *COLUMNS] if has_rows else [],
        "setting": [line[1] for line in lines] + [value.setting for value in printed],
        "metric": [*metrics, *OF_COSTS, *OF_STEPS, *OF_SCHEMES, "validation accuracy"] if has_rows else [],
        "axis": [line[2] for line in lines] + (["σ₂", "c"] if tasks else []),
        "at": [line[3] for line in lines] + [f"{at:g}" for at in simulated_at],
    }
    return {key: [name for name in dict.fromkeys(names) if name] for key, names in known.items()}


def _check_part(where: str, key: str, name, known: dict[str, list[str]]) -> None:
    """A key of a place, and what it is there."""
    keys = [*ROLES, *LINE_KEYS, *COLUMNS, *(column for columns in ROLES.values() for column in columns)]
    if key not in keys or key == "row":
        raise ConfigError(f"{where}: unknown key {key!r}{did_you_mean(key, keys)}")
    names = known.get(key, [])
    if key in LINE_KEYS and not names and known["row"]:
        raise ConfigError(f"{where}: the artefact has no {key} ({key} {name})")
    if names and not any(same(name, other) for other in names):
        raise ConfigError(f"{where}: unknown {key} {str(name)!r}{_or_which(name, names)}")


def _or_which(name, names: list[str]) -> str:
    """What may have been meant, or else what there is."""
    return did_you_mean(name, names) or f" (known: {', '.join(map(str, names[:12]))}{', …' if len(names) > 12 else ''})"


def _check_measured(operand: Operand, places: list[Place], values: ArtefactValues, known: dict) -> None:
    if known["row"] and operand.row not in known["row"]:
        raise ConfigError(f"{operand}: unknown row {operand.row!r}{_or_which(operand.row, known['row'])}")
    for key, name in operand.place.items():
        _check_part(str(operand), key, name, known)
    has_lines = any(line[0] == operand.row for line in values.lines)
    if not has_lines or values.scores is None:
        return
    for place in places:
        if metric_of(values.artefact, operand, place) is None and not {*operand.place, *place} - {*LINE_KEYS}:
            raise ConfigError(f"{operand}: which metric? ({', '.join(values.artefact['metrics'])})")
        if values.is_scored(operand, place):
            _check_one_line(operand, place, values)


def _check_one_line(operand: Operand, place: Place, values: ArtefactValues) -> None:
    fitting = lines_at(values, operand, place)
    told = ", ".join(f"{key} {value}" for key, value in place.items() if key in LINE_KEYS)
    if not fitting:
        raise ConfigError(f"{operand}: the artefact has no such line{f' at {told}' if told else ''}")
    if len(fitting) > 1:
        differing = [key for i, key in enumerate(LINE_KEYS, start=1) if len({line[i] for line in fitting}) > 1]
        raise ConfigError(f"{operand}: {len(fitting)} lines fit; say which {' or '.join(differing)}")


def _check_published(operand: Operand, printed: list[PublishedValue], claim: Claim, artefact: dict) -> None:
    stem = claim.entry.get("published", claim.entry["artefact"])
    if not printed:
        raise ConfigError(f"{operand}: there is no published table {stem!r} (`published:` may name another one)")
    if not (mine := printed_of(printed, operand, artefact)):
        names = list(dict.fromkeys(value.method or value.metric for value in printed))
        raise ConfigError(f"{operand}: unknown published row {operand.row!r}{_or_which(operand.row, names)}")
    for key, name in operand.place.items():
        if key in (*LINE_KEYS[1:], *COLUMNS):
            continue  # chooses the line of a figure or the point of a search, whose setting is then what is printed
        if key not in ("setting", "metric"):
            raise ConfigError(f"{operand}: unknown key {key!r}{did_you_mean(key, ('setting', 'metric', *LINE_KEYS))}")
        names = list(dict.fromkeys(getattr(value, key) for value in mine))
        if name not in names:
            raise ConfigError(f"{operand}: unknown published {key} {name!r}{_or_which(name, names)}")
