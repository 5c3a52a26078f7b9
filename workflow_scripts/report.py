"""Write the report: static pages over all results."""

from orchard.jobs import job

with job(snakemake) as logger:
    from pathlib import Path

    from orchard.report.site.build import build_site
    from orchard.report.site.sources import Sources

    folder = Path(snakemake.output[0])
    pages = build_site(Sources(Path(), **snakemake.params.shown), folder)
    logger.info("%d pages: open %s", pages, folder / "index.html")
