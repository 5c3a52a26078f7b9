"""The judged claims of the papers, counted and told with signs that need no colour."""

from collections import Counter
from dataclasses import dataclass

from orchard.report import claims as judging
from orchard.report.claim_sources import AS_IN_THE_PAPER
from orchard.report.claims_report import SIGNS


@dataclass(frozen=True)
class Verdict:
    """key : as claims.json has it.  css : a class name.  sign : for those who do not see the colour."""

    key: str
    css: str
    sign: str


VERDICTS = tuple(Verdict(key, key.replace(" ", "-"), SIGNS[key]) for key in judging.VERDICTS)
SIMULATED = Verdict(judging.SIMULATED, "by-simulated-data", "◇")  # on a data set that decides nothing


def verdict(key: str) -> Verdict:
    return next(one for one in (*VERDICTS, SIMULATED) if one.key == key)


def counts(claims: list[dict]) -> dict[str, int]:
    """{verdict: number of claims}, in the order of VERDICTS, none left out."""
    counted = Counter(claim["verdict"] for claim in claims)
    return {one.key: counted[one.key] for one in VERDICTS}


def decided_first(claims: list[dict]) -> list[dict]:
    """By verdict, and as they were otherwise."""
    return sorted(claims, key=lambda claim: judging.VERDICTS.index(claim["verdict"]))


def of_paper(claims: list[dict], paper: str) -> list[dict]:
    return [claim for claim in claims if claim["paper"] == paper]


def of_artefact(claims: list[dict], paper: str, artefact: str) -> list[dict]:
    return [claim for claim in of_paper(claims, paper) if claim["artefact"] == artefact]


def judged_on(claim: dict) -> list[dict]:
    """The data sets on which there was something to judge."""
    return [one for one in claim["on"] if one["verdict"] != judging.NOT_RUN]


def not_run_on(claim: dict) -> dict[str, list[str]]:
    """{reason: the data sets that were not run for it}."""
    by_reason: dict[str, list[str]] = {}
    for one in claim["on"]:
        if one["verdict"] == judging.NOT_RUN:
            by_reason.setdefault(one["reason"], []).append(one["dataset"])
    return by_reason


def places(claim: dict) -> list[tuple[str, dict]]:
    """(data set, place) of every single comparison behind the verdict."""
    return [(one["dataset"], place) for one in judged_on(claim) for place in one["places"]]


def is_simulation(one: dict) -> bool:
    """Whether a claim was judged on a simulation of the paper, which we repeat; that is no data set."""
    return one["dataset"] == AS_IN_THE_PAPER


def is_simulated(one: dict) -> bool:
    return one["simulated"] or is_simulation(one)


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
