"""What the papers claim, judged by what was run, and the pages that show everything."""


rule judge_claims:
    """Judge every claim of the four papers by the runs and the artefacts."""
    input:
        claim_inputs(),
    output:
        **claim_files(),
    log:
        f"{LOG_FOLDER}/judge_claims.log",
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


rule:
    """Static pages over all results: results/report/index.html."""
    name:
        "report"
    input:
        [artefact_files(paper) for paper in ARTEFACTS],
        claim_files().values(),
        told_files(),
        templates=sorted(map(str, Path("src/orchard/report/site/templates").glob("*"))),
    output:
        directory("results/report"),
    log:
        f"{LOG_FOLDER}/report.log",
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
            options=shown_options()["options"],
            judging=judging([paper]),
        script:
            "../workflow_scripts/results.py"
