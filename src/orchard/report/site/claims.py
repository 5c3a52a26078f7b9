"""The judged claims of the papers, counted and told with signs that need no colour."""

from collections import Counter
from dataclasses import dataclass

from orchard.report.claim_sources import AS_IN_THE_PAPER


@dataclass(frozen=True)
class Verdict:
    """key : as claims.json has it.  css : a class name.  sign : for those who do not see the colour."""

    key: str
    css: str
    sign: str


NOT_RUN = "not run"
VERDICTS = (
    Verdict("reproduced", "reproduced", "✓"),
    Verdict("not reproduced", "not-reproduced", "✗"),
    Verdict("inconclusive", "inconclusive", "≈"),
    Verdict(NOT_RUN, "not-run", "–"),
)
SIMULATED = Verdict("simulated", "by-simulated-data", "◇")  # on a data set that decides nothing


def verdict(key: str) -> Verdict:
    """An unknown one is shown as it is, rather than not at all."""
    return next((one for one in (*VERDICTS, SIMULATED) if one.key == key), Verdict(key, "unknown", "?"))


def counts(claims: list[dict]) -> dict[str, int]:
    """{verdict: number of claims}, in the order of VERDICTS, none left out."""
    counted = Counter(claim["verdict"] for claim in claims)
    return {one.key: counted.pop(one.key, 0) for one in VERDICTS} | dict(counted)


def decided_first(claims: list[dict]) -> list[dict]:
    """By verdict, and as they were otherwise."""
    order = [one.key for one in VERDICTS]
    return sorted(claims, key=lambda claim: order.index(claim["verdict"]) if claim["verdict"] in order else len(order))


def of_paper(claims: list[dict], paper: str) -> list[dict]:
    return [claim for claim in claims if claim["paper"] == paper]


def of_artefact(claims: list[dict], paper: str, artefact: str) -> list[dict]:
    """A claim names its artefact as the configuration of its paper does, or as people type it."""
    names = (artefact, f"{paper}-{artefact}")
    return [claim for claim in of_paper(claims, paper) if claim.get("artefact") in names]


def judged_on(claim: dict) -> list[dict]:
    """The data sets on which there was something to judge."""
    return [one for one in claim.get("on") or [] if one["verdict"] != NOT_RUN]


def not_run_on(claim: dict) -> dict[str, list[str]]:
    """{reason: the data sets that were not run for it}."""
    by_reason: dict[str, list[str]] = {}
    for one in claim.get("on") or []:
        if one["verdict"] == NOT_RUN:
            by_reason.setdefault(one.get("reason") or "no reason told", []).append(one["dataset"])
    return by_reason


def places(claim: dict) -> list[tuple[str, dict]]:
    """(data set, place) of every single comparison behind the verdict."""
    return [(one["dataset"], place) for one in judged_on(claim) for place in one.get("places") or []]


def is_simulated(one: dict) -> bool:
    """Of a data set that a claim was judged on; the simulations of a paper, which we repeat, are no data set."""
    return bool(one.get("simulated")) or one["dataset"] == AS_IN_THE_PAPER


def touches_simulated(claim: dict) -> bool:
    return any(map(is_simulated, judged_on(claim)))


def anchor(claim: dict) -> str:
    return f"claim-{claim['id']}"


def told(value) -> str:
    """An expression, a list of places or seeds: as text, whatever shape the file gives it."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {told(one)}" for key, one in value.items())
    if isinstance(value, list):
        return "; ".join(map(told, value))
    return "" if value is None else str(value)
