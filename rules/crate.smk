"""A run as a research object, for an archive: what was made from what, by which code."""


rule crate:
    """The whole run in one zip, a Provenance Run RO-Crate: results, code, and which job made which file from which."""
    input:
        [artefact_files(paper) for paper in PAPERS],
        list(claim_files().values()),
    output:
        f"results/crate/{SHOWN}.zip",
    log:
        f"results/logs/crate/{SHOWN}.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("crate.py"),
        shown=SHOWN,
        steps=steps_of_jobs,
        chosen=chosen_options(),
        sources=packed_sources,
    script:
        "../workflow_scripts/crate.py"
