"""Judge what the label-tree paper says about its curves."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.tables import write_table
    from orchard.report.tradeoff_claims import claims_table

    scores = [read_json(path) for path in snakemake.input.scores]
    write_table(claims_table(snakemake.params.artefact, scores), snakemake.output.csv, snakemake.output.md)
