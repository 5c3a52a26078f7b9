"""The judged claims of the papers, counted and told with signs that need no colour."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """key : as claims.json has it.  css : a class name.  sign : for those who do not see the colour."""

    key: str
    css: str
    sign: str


VERDICTS = (
    Verdict("reproduced", "reproduced", "✓"),
    Verdict("not reproduced", "not-reproduced", "✗"),
    Verdict("inconclusive", "inconclusive", "≈"),
    Verdict("not run", "not-run", "–"),
)


def verdict(key: str) -> Verdict:
    """An unknown one is shown as it is, rather than not at all."""
    return next((one for one in VERDICTS if one.key == key), Verdict(key, "unknown", "?"))


def counts(claims: list[dict]) -> dict[str, int]:
    """{verdict: number of claims}, in the order of VERDICTS, none left out."""
    counted = Counter(claim["verdict"] for claim in claims)
    return {one.key: counted.pop(one.key, 0) for one in VERDICTS} | dict(counted)


def of_paper(claims: list[dict], paper: str) -> list[dict]:
    return [claim for claim in claims if claim["paper"] == paper]


def of_artefact(claims: list[dict], paper: str, artefact: str) -> list[dict]:
    """A claim names its artefact as the configuration of its paper does, or as people type it."""
    names = (artefact, f"{paper}-{artefact}")
    return [claim for claim in of_paper(claims, paper) if claim.get("artefact") in names]


def touches_simulated(claim: dict) -> bool:
    return any(one.get("simulated") for one in claim.get("on") or [])


def anchor(claim: dict) -> str:
    return f"claim-{claim['id']}"


def told(value) -> str:
    """An expression, a list of places or seeds: as text, whatever shape the file gives it."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {told(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(told, value))
    return "" if value is None else str(value)
