"""The verdicts on the papers' claims for people (Markdown, the terminal) and for programs (CSV)."""

import re
from textwrap import fill

from orchard.files import write_text
from orchard.report.claim_slack import NOT_REPRODUCED, OPEN, REPRODUCED
from orchard.report.claims import NOT_RUN, OTHER_DATA, OWN_DATA, SIMULATED, VERDICTS, told_number
from orchard.report.tables import write_csv

CSV_HEADER = [
    *("paper", "claim", "verdict", "basis", "tolerance", "data set", "of the paper", "simulated"),
    *("verdict there", "seeds", "measured", "published gap", "reason"),
]
SIGNS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", OPEN: "≈", NOT_RUN: "–"}
ELSEWHERE = "*"  # marks a verdict by other data in the terminal
VERDICT_WIDTH = max(map(len, SIGNS)) + 3  # with sign and mark
_PLACES = re.compile(r" \((?:worst|best) of \d+ places(?: run)?: .*\)$")
RULE = (
    "Measured: by how much the claim holds, over runs with the same seed, ± half the 95 % confidence interval of the "
    "mean (t distribution; single intervals, not corrected for the number of places or claims). A claim with a "
    "tolerance may fall short by so much. What does not depend on a seed (sizes; times, each a median) has no interval "
    "and is judged by its sign. Published: the same by the paper's numbers. A claim is judged by the paper's own data "
    "where any of it was run, and fails if it fails on one of these sets; else by other real data (marked so), and is "
    "inconclusive where they differ. Simulated data decides nothing, but for the simulations that a paper makes itself."
)


def counted(claims: list[dict]) -> str:
    """`12 claims: 5 reproduced, 1 not reproduced, 2 inconclusive, 4 not run`."""
    numbers = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS}
    told = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items())
    return f"{len(claims)} claim{'' if len(claims) == 1 else 's'}: {told}"


def told_verdict(claim: dict) -> str:
    return f"{claim['verdict']} (on other data)" if claim["basis"] == OTHER_DATA else claim["verdict"]


def evidence(claim: dict) -> list[str]:
    """What the verdict stands on, data set by data set; what simulated data shows; what was not run and why."""
    decided = [one for one in claim["on"] if _decides(one, claim)]
    told = [f"{one['dataset']}: {one['measured']}{_as_told(one, claim)}" for one in decided]
    told += _tolerance(claim) if decided else []
    told += [f"({one['dataset']}, simulated: {one['measured']})" for one in claim["on"] if one["verdict"] == SIMULATED]
    if claim["reason"]:
        told.append(claim["reason"])
    return told


def _tolerance(claim: dict) -> list[str]:
    return [f"may fall short by {claim['tolerance']:g}"] if claim["tolerance"] else []


def _decides(one: dict, claim: dict) -> bool:
    return one["verdict"] not in (NOT_RUN, SIMULATED) and (one["of_paper"] or claim["basis"] != OWN_DATA)


def _as_told(one: dict, claim: dict) -> str:
    return "" if one["verdict"] == claim["verdict"] else f" ({one['verdict']})"


def published_gaps(claim: dict) -> str:
    """`+0.85 on eurlex-4k`, for every data set that the paper prints numbers of."""
    known = [one for one in claim["on"] if one["published_gap"] is not None]
    return "; ".join(f"{told_number(one['published_gap'], None)} on {one['dataset']}" for one in known)


def by_paper(claims: list[dict]) -> dict[str, list[dict]]:
    papers = {}
    for claim in claims:
        papers.setdefault(claim["paper"], []).append(claim)
    return papers


def markdown(judged: dict) -> str:
    """One table per paper, with a line per claim."""
    claims = judged["claims"]
    lines = [f"# What the papers claim, judged at the scale `{judged['scale']}`", "", f"{counted(claims)}.", "", RULE]
    for paper, own in by_paper(claims).items():
        lines += ["", f"## {paper}", "", f"{counted(own)}.", "", markdown_table(own)]
    return "\n".join(lines) + "\n"


def markdown_table(claims: list[dict]) -> str:
    """A line per claim."""
    lines = [_row(["claim", "where", "verdict", "measured", "published"]), "|---|---|---|---|---|"]
    for claim in claims:
        cells = [claim["says"], claim["where"], f"**{told_verdict(claim)}**", "; ".join(evidence(claim))]
        lines.append(_row([*cells, published_gaps(claim)]))
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def for_terminal(judged: dict, width: int, details: str) -> str:
    """A table for a terminal of this width: per paper what was decided first, a line per claim, and the totals.

    details : where all of it is told in full.
    """
    blocks = []
    for paper, own in by_paper(judged["claims"]).items():
        ordered = sorted(own, key=lambda claim: VERDICTS.index(claim["verdict"]))
        id_width = min(max(len(claim["id"]) for claim in own), 2 * width // 5)
        lines = [_terminal_line(claim, id_width, width) for claim in ordered]
        blocks.append("\n".join([_wrapped(f"{paper}, {counted(own)}", width), *lines]))
    totals = [f"At the scale {judged['scale']}, {counted(judged['claims'])}"]
    if any(claim["basis"] == OTHER_DATA for claim in judged["claims"]):
        totals.append(f"{ELSEWHERE} by other real data: none of the paper's own was run")
    totals.append(f"In full: {details}")
    blocks.append("\n".join(_wrapped(line, width) for line in totals))
    return "\n\n".join(blocks) + "\n"


def _terminal_line(claim: dict, id_width: int, width: int) -> str:
    """`✓ reproduced     eagle-ahead  eurlex-4k P@1 +0.85 ± 0.20`, cut to the width."""
    mark = ELSEWHERE if claim["basis"] == OTHER_DATA else ""
    verdict = f"{SIGNS[claim['verdict']]} {claim['verdict']}{mark}"
    cells = [f"{verdict:{VERDICT_WIDTH}}", f"{_cut(claim['id'], id_width):{id_width}}", _in_short(claim)]
    return _cut("  ".join(cells).rstrip(), width)


def _in_short(claim: dict) -> str:
    """The numbers that the verdict stands on without their places, and why it is not clearer than that."""
    decided = [one for one in claim["on"] if _decides(one, claim)]
    told = [f"{one['dataset']} {_PLACES.sub('', one['measured'])}" for one in decided]
    told += _tolerance(claim) if decided else []
    return " ".join("; ".join([*told, claim["reason"]] if claim["reason"] else told).split())


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _wrapped(text: str, width: int) -> str:
    """Paths stay whole, so that they can be copied."""
    return fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def records(judged: dict) -> list[list]:
    """One line per claim and data set; a claim without any has a line too."""
    nowhere = {
        **dict.fromkeys(("dataset", "measured", "of_paper", "simulated"), ""),
        **{"verdict": NOT_RUN, "seeds": 0, "published_gap": None, "reason": ""},
    }
    return [
        [
            *(claim["paper"], claim["id"], claim["verdict"], claim["basis"] or "", claim["tolerance"]),
            *(one["dataset"], _yes(one["of_paper"]), _yes(one["simulated"]), one["verdict"], one["seeds"]),
            *(one["measured"], "" if one["published_gap"] is None else one["published_gap"]),
            one["reason"] or ("" if claim["on"] else claim["reason"]),
        ]
        for claim in judged["claims"]
        for one in claim["on"] or [nowhere]
    ]


def _yes(truth) -> str:
    return "yes" if truth else ""


def write_claims(judged: dict, markdown_path, csv_path) -> None:
    write_text(markdown_path, markdown(judged))
    write_csv(csv_path, CSV_HEADER, records(judged))
