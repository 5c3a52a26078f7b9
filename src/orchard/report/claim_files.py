"""From files to verdicts: which files the claims of an artefact are judged by, and all claims judged by them."""

from orchard.files import read_json
from orchard.report.claim_records import Records
from orchard.report.claim_sources import ArtefactValues
from orchard.report.claims import Claim, judge
from orchard.report.published import read_published
from orchard.report.scores import list_of_scores, merged

# What of an artefact's entry a verdict depends on; an edited title or note does not judge anew.
JUDGED_PARTS = ("datasets", "simulation", "columns", "metrics", "rows", "settings", "sweep")


def needs_records(claim: Claim, values: ArtefactValues) -> bool:
    """Whether some operand of a claim stands in the CSV file of its artefact, and is not measured by runs."""
    measured = [one for expression in claim.expressions for one in expression.operands if not one.published]
    return any(not values.is_scored(operand, place) for operand in measured for place in claim.all_places)


def judge_all(
    scale: str, claims: dict[str, dict[str, dict]], sources: dict, metrics: list[str], registry: dict
) -> dict:
    """The content of `claims.json`.

    claims : {paper: {id: entry}}.  registry : {data set: {"simulated", "by_hand"}}.
    sources : {paper: {artefact: {"artefact": its entry, "datasets": those shown at this scale, "scores": files or
        None, "csv": file or None, "published": {stem: file}}}}, of every artefact that a claim speaks of.
    metrics : that runs may have.
    """
    values = {
        (paper, name): _values(f"{paper}-{name}", source, scale, metrics)
        for paper, of_paper in sources.items()
        for name, source in of_paper.items()
    }
    judged = []
    for paper, entries in claims.items():
        for name, entry in entries.items():
            artefact = entry.get("artefact")
            path = sources[paper][artefact]["published"].get(entry.get("published", artefact)) if artefact else None
            published = read_published(path) if path else []
            judged.append(judge(Claim.of(paper, name, entry), values.get((paper, artefact)), published, registry))
    return {"scale": scale, "claims": judged}


def _values(name: str, source: dict, scale: str, metrics: list[str]) -> ArtefactValues:
    scores = None if source["scores"] is None else merged(list_of_scores(map(read_json, source["scores"])))
    records = Records.read(source["csv"]) if source["csv"] else None
    return ArtefactValues(name, source["artefact"], scale, source["datasets"], {*metrics}, scores, records)
