"""What the papers claim, judged by our runs: one verdict per claim and data set, and one per claim.

At a place (a setting, a metric …) a claim is judged seed by seed (`orchard.report.claim_slack`). For every place: all
must be reproduced, and one that is not is enough against it; for some: the other way round. Places that were not run
leave open what the others do not decide.

Only real data decides: the paper's own where any of it was run, else other data, which the verdict then names as its
basis. What simulated data says is shown, and decides nothing; but for the paper's own simulations, which we repeat.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from orchard.report.claim_expressions import Expression, Place, of_both_signs, parse_expression
from orchard.report.claim_records import NotMeasured, Value
from orchard.report.claim_slack import DIGITS, NOT_REPRODUCED, OPEN, REPRODUCED, Slack, mean_sides
from orchard.report.claim_sources import AS_IN_THE_PAPER, ArtefactValues
from orchard.report.published import PublishedValue
from orchard.report.rows import SCALES

NOT_RUN, SIMULATED = "not run", "simulated"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, OPEN, NOT_RUN)
OWN_DATA, OTHER_DATA = "paper's data", "other data"
SEEDS = 3  # that a verdict takes, unless the claim says otherwise


@dataclass(frozen=True)
class Claim:
    """A claim as `config/papers/<paper>/claims.yaml` has it, its expressions read."""

    paper: str
    id: str
    entry: dict
    expressions: list[Expression] = field(default_factory=list)

    @classmethod
    def of(cls, paper: str, name: str, entry: dict) -> "Claim":
        texts = entry.get("expression", [])
        texts = [texts] if isinstance(texts, str) else texts
        return cls(paper, name, entry, [parse_expression(text) for text in texts])

    @property
    def datasets(self) -> list[str]:
        return self.entry.get("datasets", [])

    @property
    def seeds(self) -> int:
        return self.entry.get("seeds", SEEDS)

    @property
    def tolerance(self) -> float:
        return float(self.entry.get("tolerance", 0.0))

    def places(self, key: str) -> list[Place]:
        """The product of what `for_every`, `for_some` or `on_average` lists; one empty place without it."""
        return list(places_of(self.entry.get(key, {})))

    @property
    def all_places(self) -> list[Place]:
        """Every place that it needs values of."""
        lists = product(*map(self.places, ("for_every", "for_some", "on_average")))
        return [every | some | inner for every, some, inner in lists]


def places_of(lists: dict[str, list]) -> Iterator[Place]:
    for values in product(*lists.values()):
        yield dict(zip(lists, values, strict=True))


def judge(claim: Claim, values: ArtefactValues | None, published: list[PublishedValue], registry: dict) -> dict:
    """The verdict on a claim as `claims.json` has it.

    values : of its artefact, None for a claim that nothing here can check.
    registry : {data set: {"simulated": …, "by_hand": …}} of those that Orchard knows.
    """
    told = {
        "paper": claim.paper,
        "id": claim.id,
        "says": claim.entry["says"],
        "where": claim.entry["where"],
        "artefact": claim.entry.get("artefact"),
        "expression": [expression.text for expression in claim.expressions],
        "tolerance": claim.tolerance,
        "seeds": claim.seeds,
        "datasets": claim.datasets,
    }
    if values is None:
        return told | {"verdict": NOT_RUN, "basis": None, "reason": claim.entry["needs"], "on": []}
    on = [judge_on(claim, dataset, values, published, registry) for dataset in _datasets(claim, values)]
    verdict, basis, reason = overall(on)
    return told | {"verdict": verdict, "basis": basis, "reason": reason, "on": on}


def _datasets(claim: Claim, values: ArtefactValues) -> list[str]:
    """The paper's own data sets first, run or not, then those that the artefact shows at this scale."""
    if "simulation" in values.artefact:
        return [AS_IN_THE_PAPER]
    others = values.datasets if claim.entry.get("elsewhere", True) else []
    return list(dict.fromkeys([*claim.datasets, *others]))


def judge_on(
    claim: Claim, dataset: str, values: ArtefactValues, published: list[PublishedValue], registry: dict
) -> dict:
    """The verdict on a claim on one data set, with all of its places."""
    of_paper = dataset in claim.datasets or dataset == AS_IN_THE_PAPER
    simulated = is_simulated(dataset, values.scores or [], registry)
    told = {"dataset": dataset, "of_paper": of_paper, "simulated": simulated}
    at_hand = {*values.datasets, AS_IN_THE_PAPER, *(values.records.datasets() if values.records else ())}
    outcome = _every(
        [
            _some([_at_place(claim, every | some, dataset, values, published) for some in claim.places("for_some")])
            for every in claim.places("for_every")
        ]
    )
    told["published_gap"] = outcome.published_gap
    if dataset not in at_hand:
        reason = why_not_run(dataset, values, registry)
        return told | {"verdict": NOT_RUN, "seeds": 0, "measured": "", "reason": reason, "places": []}
    places = [place | ({"verdict": SIMULATED} if simulated and place["seeds"] else {}) for place in outcome.places]
    run = outcome.verdict != NOT_RUN
    return told | {
        "verdict": SIMULATED if simulated and run else outcome.verdict,
        "seeds": min((place["seeds"] for place in places if place["seeds"]), default=0),
        "measured": measured_text(claim, values, outcome) if run else "",
        "reason": outcome.reason(claim),
        "places": places,
    }


def is_simulated(dataset: str, scores: list[dict], registry: dict) -> bool:
    """Whether a data set is simulated: by its entry, by its runs, or by its name."""
    named_so = dataset.endswith("-sim") or "-sim-" in dataset or registry.get(dataset, {}).get("simulated", False)
    return named_so or any(score.get("simulated") for score in scores if score["dataset"] == dataset)


def why_not_run(dataset: str, values: ArtefactValues, registry: dict) -> str:
    if dataset not in registry:
        return "cannot be had: the paper's authors did not publish it"
    scales = values.artefact["datasets"]
    first = next((scale for scale in SCALES if any(dataset in name.split(" | ") for name in scales[scale])), None)
    if first and SCALES.index(first) <= SCALES.index(values.scale):
        return "not among the data sets that were asked for"
    by_hand = "; its files have to be fetched by hand" if registry[dataset].get("by_hand") else ""
    begins = f" (run from `{first}` on{by_hand})" if first else f" ({values.name} shows it at no scale)"
    return f"not part of the scale `{values.scale}`{begins}"


@dataclass(frozen=True)
class Outcome:
    """A verdict over places, all of them as records, and the one that it hangs on.

    published_gap : the same by what the paper prints, as far as it does; of every place the lowest, of some the best.
    """

    verdict: str
    places: list[dict]
    deciding: dict
    published_gap: float | None

    def reason(self, claim: Claim) -> str:
        """Why there is no clear verdict: what was not run, how many seeds are missing, how many intervals are open."""
        if self.verdict not in (OPEN, NOT_RUN):
            return ""
        n, told = number_of(self.places), []
        open_places = [place for place in self.places if place["verdict"] == OPEN]
        if few := [place for place in open_places if place["seeds"] < claim.seeds]:
            needs = f"{min(place['seeds'] for place in few)} of the {claim.seeds} seeds that it takes"
            told.append(needs if number_of(few) == n else f"{needs} at {number_of(few)} of {n} places")
        if unclear := number_of(place for place in open_places if place["seeds"] >= claim.seeds):
            told.append("the interval contains the bound" + (f" at {unclear} of {n} places" if n > 1 else ""))
        if not_run := [place for place in self.places if place["verdict"] == NOT_RUN]:
            reasons = list(dict.fromkeys(place["reason"] for place in not_run))
            more = f"; and {len(reasons) - 2} more" if len(reasons) > 2 else ""
            which = "" if number_of(not_run) == n else f"{number_of(not_run)} of {n} places not run: "
            told.append(f"{which}{'; '.join(reasons[:2])}{more}")
        return "; ".join(told)


def number_of(places: Iterable[dict]) -> int:
    """How many there are; a distance is judged twice at each."""
    return len({(str(place["place"]), place["expression"]) for place in places})


def _at_place(
    claim: Claim, place: Place, dataset: str, values: ArtefactValues, published: list[PublishedValue]
) -> Outcome:
    """All expressions of a claim at one place.

    Of a distance that is to be small, both signs must hold, of one that is to be large, either; but for averages over
    places, where deviations would cancel out: there it is the distances that are averaged.
    """
    outcomes = []
    for expression in claim.expressions:
        signed = [expression] if "on_average" in claim.entry else of_both_signs(expression)
        either_or_all = _some if expression.upward else _every
        outcomes.append(either_or_all([_judged_place(claim, one, place, dataset, values, published) for one in signed]))
    return _every(outcomes)


def _judged_place(claim, expression: Expression, place: Place, dataset: str, values, published) -> Outcome:
    averaged = [place | inner for inner in claim.places("on_average")]
    record = {"place": place, "expression": expression.text, "left": None, "right": None, "mean": None, "margin": None}
    record["published_gap"] = published_gap(expression, averaged, dataset, values, published)
    try:
        found = [
            [_value(operand, at, dataset, values, published) for operand in expression.operands] for at in averaged
        ]
        slack = Slack.of(expression, found)
    except NotMeasured as missing:
        record |= {"verdict": NOT_RUN, "seeds": 0, "reason": str(missing)}
    else:
        verdict = slack.verdict(expression, claim.tolerance, claim.seeds)
        numbers = {name: rounded(getattr(slack, name)) for name in ("left", "right", "mean", "margin")}
        record |= numbers | {"verdict": verdict, "seeds": slack.n_seeds, "reason": ""}
    return Outcome(record["verdict"], [record], record, record["published_gap"])


def _value(operand, place: Place, dataset: str, values: ArtefactValues, published: list[PublishedValue]) -> Value:
    if not operand.published:
        return values.measured(operand, place, dataset)
    number = values.published(operand, place, dataset, published)
    if number is None:
        raise NotMeasured(f"the paper prints no {operand} for {dataset}")
    return Value(number=number)


def published_gap(expression: Expression, places: list[Place], dataset: str, values, published) -> float | None:
    """The slack of the same expression by the numbers that the paper prints; None where one is missing.

    A claim that sets our numbers beside printed ones has none: the printed ones agree with themselves.
    """
    if any(operand.published for operand in expression.operands):
        return None
    numbers = [[values.published(one, at, dataset, published) for one in expression.operands] for at in places]
    if any(number is None for at_place in numbers for number in at_place):
        return None
    try:
        return rounded(expression.slack(*mean_sides(expression, numbers)))
    except NotMeasured:
        return None


def rounded(number: float | None) -> float | None:
    """To the digits that arithmetic leaves alone: the same bytes on every machine."""
    return None if number is None else round(number, DIGITS)


def _every(outcomes: list[Outcome]) -> Outcome:
    """All reproduced: reproduced. Any not reproduced: not reproduced. Nothing run: not run. Else inconclusive."""
    return _combined(outcomes, decisive=NOT_REPRODUCED, order=(NOT_REPRODUCED, OPEN, REPRODUCED, NOT_RUN), sign=1)


def _some(outcomes: list[Outcome]) -> Outcome:
    """The dual of it: any reproduced is enough."""
    return _combined(outcomes, decisive=REPRODUCED, order=(REPRODUCED, OPEN, NOT_REPRODUCED, NOT_RUN), sign=-1)


def _combined(outcomes: list[Outcome], decisive: str, order: tuple, sign: int) -> Outcome:
    """`order` tells which place to show: the first verdict in it, and of those the lowest (or highest) slack."""
    verdicts = {outcome.verdict for outcome in outcomes}
    verdict = decisive if decisive in verdicts else verdicts.pop() if len(verdicts) == 1 else OPEN
    deciding = min(outcomes, key=lambda one: (order.index(one.verdict), sign * (one.deciding["mean"] or 0.0)))
    gaps = [sign * outcome.published_gap for outcome in outcomes if outcome.published_gap is not None]
    places = [place for outcome in outcomes for place in outcome.places]
    return Outcome(verdict, places, deciding.deciding, sign * min(gaps) if gaps else None)


def measured_text(claim: Claim, values: ArtefactValues, outcome: Outcome) -> str:
    """`P@1 +1.20 ± 0.30 (worst of 9 places: R-4, P@1)`; ± is half the 95 % interval."""
    deciding = outcome.deciding
    n = number_of(outcome.places)
    n_run = number_of(place for place in outcome.places if place["verdict"] != NOT_RUN)
    expression = next(one for one in claim.expressions if one.text == deciding["expression"])
    metric = shared_metric(expression, deciding["place"], values)
    told = f"{metric} {told_number(deciding['mean'], deciding['margin'])}".strip()
    if n == 1:
        return told
    which = "best" if "for_some" in claim.entry and "for_every" not in claim.entry else "worst"
    place = [f"{value}" for value in deciding["place"].values()]
    place += [deciding["expression"]] if len(claim.expressions) > 1 else []
    return f"{told} ({which} of {n_run} places{' run' if n_run < n else ''}: {', '.join(place)})"


def shared_metric(expression: Expression, place: Place, values: ArtefactValues) -> str:
    """The metric that all measured values of an expression are of; nothing where they differ or are of none."""
    metrics = {values.told_metric(operand, place) for operand in expression.operands if not operand.published}
    return (metrics.pop() or "") if len(metrics) == 1 else ""


def told_number(number: float, margin: float | None) -> str:
    """Two decimals, or two digits where that would hide it."""
    decimals = 2 if abs(number) >= 0.1 or not number else 4
    spread = "" if margin is None else f" ± {margin:.{decimals}f}"
    return f"{number:+.{decimals}f}".replace("-", "−") + spread


def overall(on: list[dict]) -> tuple[str, str | None, str]:
    """(verdict, basis, reason) of a claim, by the paper's own data where any was run, else by other real data.

    A paper claims for all of its own data sets: where one of them contradicts, the claim is not reproduced. Other data
    sets that differ leave it open.
    """
    real = [one for one in on if one["verdict"] in (REPRODUCED, NOT_REPRODUCED, OPEN)]
    own = [one for one in real if one["of_paper"]]
    if not real:
        return NOT_RUN, None, _why_nothing(on)
    deciding = own or real
    verdicts = list(dict.fromkeys(one["verdict"] for one in deciding))
    basis = OWN_DATA if own else OTHER_DATA
    if len(verdicts) > 1:
        by_verdict = {
            verdict: ", ".join(one["dataset"] for one in deciding if one["verdict"] == verdict) for verdict in verdicts
        }
        verdict = NOT_REPRODUCED if own and NOT_REPRODUCED in verdicts else OPEN
        return verdict, basis, "; ".join(f"{verdict} on {names}" for verdict, names in by_verdict.items())
    reasons = list(dict.fromkeys(one["reason"] for one in deciding if one["reason"]))
    return verdicts[0], basis, "; ".join([*reasons, *_how_much_of_it(on, own)])


def _how_much_of_it(on: list[dict], own: list[dict]) -> list[str]:
    """That a verdict by the paper's data is by a part of it only."""
    of_paper = [one for one in on if one["of_paper"]]
    return [f"on {len(own)} of the paper's {len(of_paper)} data sets"] if own and len(own) < len(of_paper) else []


def _why_nothing(on: list[dict]) -> str:
    if any(one["verdict"] == SIMULATED for one in on):
        return "only simulated data at this scale"
    by_reason = {}
    for one in on:
        by_reason.setdefault(one["reason"], []).append(one["dataset"])
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
