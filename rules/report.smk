"""What the papers claim, judged by what was run, and the pages that show everything."""

from orchard.files import sha256_of_file
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


rule judge_claims:
    """Judge every claim of the four papers by the runs and the artefacts."""
    input:
        claim_inputs(),
    output:
        **claim_files(),
    log:
        f"{LOG_FOLDER}/judge_claims.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/judge_claims.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("claims.py"),
        judging=judging(),
    script:
        "../workflow_scripts/claims.py"


rule claims:
    """Print what the papers claim, and whether it was reproduced, not reproduced, inconclusive or not run."""
    input:
        **claim_files(),
    log:
        f"{LOG_FOLDER}/claims.log",
    localrule: True
    conda:
        "../environment.yml"
    script:
        "../workflow_scripts/print_claims.py"


def told_documents():
    """What the report quotes, where it is there: a copy of the workflow may lack it."""
    return [path for path in ("docs/deviations.md", "docs/benchmark.md") if Path(path).is_file()]


def edition_of_readme():
    """It tells the limits. As an input it would be taken for a mistyped target, which have no folder either."""
    return sha256_of_file("README.md") if Path("README.md").is_file() else None


def shown_options():
    """What is shown, and what follows `--config` to make it again."""
    datasets = config.get("datasets", [])
    names = datasets if isinstance(datasets, str) else ",".join(datasets)
    return {"scale": SCALE, "shown": SHOWN, "options": f"scale={SCALE}" + (f" datasets={names}" if names else "")}


rule:
    """Static pages over all results: results/report/index.html."""
    name:
        "report"
    input:
        [artefact_files(paper) for paper in ARTEFACTS],
        claim_files().values(),
        told_documents(),
        templates=sorted(map(str, Path("src/orchard/report/site/templates").glob("*"))),
    output:
        directory("results/report"),
    log:
        f"{LOG_FOLDER}/report.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/report.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("report.py"),
        shown=shown_options(),
        readme=edition_of_readme(),
    script:
        "../workflow_scripts/report.py"


for paper in PAPERS:

    rule:
        """Write one paper's part of RESULTS.md: everything published and measured, and every claim, judged."""
        name:
            f"{paper}-results"
        input:
            artefacts=artefact_files(paper),
            claims=claim_inputs([paper]),
        log:
            f"{LOG_FOLDER}/{paper}-results.log",
        localrule: True
        conda:
            "../environment.yml"
        params:
            paper=paper,
            artefacts=ARTEFACTS[paper],
            folder=ARTEFACT_FOLDER,
            judging=judging([paper]),
        script:
            "../workflow_scripts/results.py"
