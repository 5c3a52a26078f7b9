"""Write one paper's part of RESULTS.md."""

from orchard.jobs import job

with job(snakemake) as log:
    from pathlib import Path

    from orchard.report.claim_files import judge_all
    from orchard.report.claims_report import RULE, counted, markdown_table
    from orchard.report.effort import effort_behind
    from orchard.report.job_history import JobHistory
    from orchard.report.papers import PAPERS
    from orchard.report.results_page import results_part, update_results

    given = snakemake.params
    claims = judge_all(**given.judging)["claims"]
    told = f"{counted(claims)}. {RULE}\n\n{markdown_table(claims)}"
    effort = effort_behind(JobHistory(Path()), map(str, snakemake.input))
    titles = {paper.key: f"{paper.title} ({paper.venue})" for paper in PAPERS}
    folder = Path(snakemake.input.artefacts[0]).parent
    part = results_part(given.paper, titles[given.paper], given.artefacts, folder, given.options, told, effort)
    update_results("RESULTS.md", given.paper, part, titles)
    log.info("RESULTS.md has a new part on %s: %s", given.paper, counted(claims))
