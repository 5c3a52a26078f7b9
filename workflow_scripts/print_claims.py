"""Print the verdicts on the papers' claims at the width of the terminal."""

from shutil import get_terminal_size

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.claims_report import for_terminal

    print(for_terminal(read_json(snakemake.input.json), get_terminal_size((100, 24)).columns), flush=True)
