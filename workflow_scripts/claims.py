"""Judge what the papers claim by the runs and the artefacts."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import write_json
    from orchard.report.claim_files import judge_all
    from orchard.report.claims_report import write_claims

    judged = judge_all(**snakemake.params.judging)
    write_json(snakemake.output.json, judged)
    write_claims(judged, snakemake.output.md, snakemake.output.csv)
