include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/variants.smk"
include: "rules/models.smk"
include: "rules/searches.smk"
include: "rules/writers.smk"
include: "rules/neural.smk"
include: "rules/eagle.smk"
include: "rules/disentangle.smk"
include: "rules/labeltrees.smk"
include: "rules/otseq2set.smk"
include: "rules/claims.smk"
include: "rules/summaries.smk"
include: "rules/report.smk"
include: "rules/crate.smk"


onstart:
    # Snakemake's rate limit (100 jobs a second, meant for clusters) has the scheduler look at all open jobs again once a
    # second for every job that has ever ended: after some hundred jobs it takes a core for itself. Ends of jobs wake it anyway.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


rule:
    """Every table and figure that is alive, of all four papers, a verdict on every claim, and the report."""
    name:
        "reproduce-all"
    default_target: True
    input:
        [artefact_files(paper) for paper in ARTEFACTS],
        claim_files().values(),
        "results/report",
    localrule: True
    message:
        "All tables and figures are in {ARTEFACT_FOLDER}/; results/report/index.html shows them"


rule unknown_target:
    """Snakemake would only say that no rule makes a mistyped target; say which one may have been meant."""
    input:
        suggest_target,
    output:
        "{target,[^/]+}",
    localrule: True
