"""Print the verdicts on the papers' claims as a table as wide as the terminal."""

from shutil import get_terminal_size

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.claims_report import for_terminal

    details = f"{snakemake.input.md}, and results/report/claims.html (snakemake report)"
    print(for_terminal(read_json(snakemake.input.json), get_terminal_size((120, 24)).columns, details), flush=True)
