"""What the papers claim, read and checked, and which files the verdicts depend on."""

from orchard.report.claim_checks import Known, check_claims
from orchard.report.claim_files import JUDGED_PARTS, needs_records
from orchard.report.claim_sources import ArtefactValues

SCORE_METRICS = {
    metric for paper in PAPERS for entry in ARTEFACTS[paper].values() for metric in entry.get("metrics", [])
}


def scores_behind(paper, artefact):
    """The score files that the rule of an artefact reads, whatever folder they are in; None if it reads none."""
    inputs = workflow.get_rule(f"{paper}-{artefact}").input
    return [str(path) for path in inputs.scores] if "scores" in inputs.keys() else None


def load_claims(paper):
    """The claims of a paper, every name in them checked."""
    path = f"config/papers/{paper}/claims.yaml"
    entries = load_checked(path, "config/schemas/claims.schema.yaml")
    scored = {artefact for artefact in ARTEFACTS[paper] if scores_behind(paper, artefact) is not None}
    published = Path(f"config/papers/{paper}/published")
    return check_claims(path, paper, entries, Known(ARTEFACTS[paper], DATASETS, SCORE_METRICS, scored, published))


CLAIMS = {paper: load_claims(paper) for paper in PAPERS}


def claim_source(paper, artefact):
    """What the claims about an artefact are judged by (`orchard.report.claim_files.judge_all`)."""
    claims = [claim for claim in CLAIMS[paper] if claim.entry.get("artefact") == artefact]
    entry, scores = ARTEFACTS[paper][artefact], scores_behind(paper, artefact)
    datasets = shown_datasets(paper, artefact) if "datasets" in entry else []
    values = ArtefactValues(artefact, entry, SCALE, datasets, SCORE_METRICS, None if scores is None else [])
    csv = f"{ARTEFACT_FOLDER}/{paper}-{artefact}.csv" if any(needs_records(claim, values) for claim in claims) else None
    stems = sorted({claim.entry.get("published", artefact) for claim in claims})
    published = {stem: f"config/papers/{paper}/published/{stem}.csv" for stem in stems}
    return {
        "artefact": {key: value for key, value in entry.items() if key in JUDGED_PARTS},
        "datasets": datasets,
        "scores": scores,
        "csv": csv,
        "published": {stem: path for stem, path in published.items() if Path(path).is_file()},
    }


def claim_sources():
    """{paper: {artefact: its sources}} of every artefact that a claim speaks of."""
    spoken_of = {paper: dict.fromkeys(claim.entry.get("artefact") for claim in CLAIMS[paper]) for paper in PAPERS}
    return {
        paper: {artefact: claim_source(paper, artefact) for artefact in artefacts if artefact}
        for paper, artefacts in spoken_of.items()
    }


CLAIM_SOURCES = claim_sources()


def claim_inputs(papers=PAPERS):
    """Every file that a verdict on these papers depends on, once."""
    sources = [source for paper in papers for source in CLAIM_SOURCES[paper].values()]
    paths = [
        path
        for source in sources
        for path in (*(source["scores"] or []), source["csv"], *source["published"].values())
        if path
    ]
    return list(dict.fromkeys(paths))


def judging(papers=PAPERS):
    """All that a verdict depends on beside files: an edited claim is judged anew, an edited comment is not."""
    named = {name for claims in CLAIMS.values() for claim in claims for name in claim.datasets}
    shown = {
        name for artefacts in CLAIM_SOURCES.values() for source in artefacts.values() for name in source["datasets"]
    }
    return {
        "scale": SCALE,
        "claims": {paper: {claim.id: claim.entry for claim in CLAIMS[paper]} for paper in papers},
        "sources": {paper: CLAIM_SOURCES[paper] for paper in papers},
        "metrics": sorted(SCORE_METRICS),
        "registry": {name: registered(name) for name in sorted(named | shown) if name in DATASETS},
    }


def registered(name):
    entry = DATASETS[name]
    return {"simulated": entry["simulated"], "by_hand": "files" in entry and "sources" not in entry}


def claim_files():
    return {kind: f"{ARTEFACT_FOLDER}/claims.{kind}" for kind in ("json", "md", "csv")}
