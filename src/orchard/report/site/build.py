"""Write the report: pages by Jinja2 (everything escaped), the files they offer, one style sheet, one script."""

import posixpath
import shutil
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from orchard.files import atomic_folder
from orchard.report.claims_report import evidence
from orchard.report.effort import commit_told, date_told, machine_told
from orchard.report.papers import PAPERS
from orchard.report.site import claims, words
from orchard.report.site.artefacts import MOST_LINES, Artefact
from orchard.report.site.pages import RENDERED_DOCUMENTS, Page, Report
from orchard.report.site.prose import LONG_CELL, SHORT_CELL, Links, render, render_inline, without_title
from orchard.report.site.sources import Sources
from orchard.report.site.svg import inline_svg

ASSETS = ("style.css", "site.js")
FEW_CLAIMS = 4  # so many are shown at once; more are folded
NAVIGATION = (
    ("index.html", "Overview"),
    *((paper.page, paper.short) for paper in PAPERS),
    ("claims.html", "Claims"),
    ("beyond.html", "Beyond the papers"),
    ("runs.html", "Runs"),
    ("data.html", "Data sets"),
    ("deviations.html", "Deviations"),
    ("benchmark.html", "Benchmark"),
)


def build_site(sources: Sources, folder: Path) -> int:
    """Write all pages into `folder`, which appears at once or not at all; returns how many there are."""
    report, environment = Report(sources), _environment()
    written = 0
    with atomic_folder(folder) as temporary:
        for page in report.pages():
            path = temporary / page.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(render_page(page, report, environment), encoding="utf-8")
            written += 1
        for name in ASSETS:
            source = environment.loader.get_source(environment, name)[0]
            (temporary / name).write_text(source, encoding="utf-8")
        _copy_files(report, temporary / "files")
    return written


def render_page(page: Page, report: Report, environment: Environment) -> str:
    def link(target: str) -> str:
        """The address of a page or file of the report, seen from this page; reserved letters in names are quoted."""
        path, hash_sign, anchor = target.partition("#")
        relative = posixpath.relpath(path, posixpath.dirname(page.path) or ".") if path else ""
        return quote(relative, safe="/@+=,-._~") + hash_sign + anchor

    titles = report.sources.deviation_titles
    links = Links(
        {one: link(f"deviations.html#{one}" if page.path != "deviations.html" else f"#{one}") for one in titles},
        {name: link(target) for name, target in RENDERED_DOCUMENTS.items()},
    )
    return environment.get_template(page.template).render(
        page=page,
        report=report,
        sources=report.sources,
        papers=PAPERS,
        navigation=NAVIGATION,
        link=link,
        prose=lambda text, label="Table": render(text, links, label),
        sentence=lambda text: render_inline(text, links),
        table_of=lambda artefact: _table_of(artefact, links),
        plot_of=_plot_of,
        **page.context,
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("orchard.report.site"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "number": words.number_told,
        "value": words.value_told,
        "seconds": words.seconds_told,
        "bytes": words.bytes_told,
        "machine": machine_told,
        "commit": commit_told,
        "date": date_told,
        "claims": claims,
        "evidence": evidence,
        "few_claims": FEW_CLAIMS,
        "most_lines": MOST_LINES,
        "short_cell": SHORT_CELL,
        "long_cell": LONG_CELL,
    }
    return environment


def _table_of(artefact: Artefact, links: Links) -> Markup:
    text = artefact.sources.document(artefact.files["md"])
    return render(without_title(text), links, artefact.title)


def _plot_of(artefact: Artefact) -> Markup:
    """Ours, rendered by matplotlib, and rid of whatever could run."""
    text = artefact.sources.document(artefact.files["svg"])
    return Markup(inline_svg(text, f"{artefact.target}-", artefact.title))


def _copy_files(report: Report, folder: Path) -> None:
    """What pages offer for download, so that the report can be moved as a whole."""
    folder.mkdir()
    bench = report.sources.found("results/bench/*.svg")
    for path in [*(path for artefact in report.made for path in artefact.files.values()), *bench]:
        shutil.copyfile(report.sources.root / path, folder / Path(path).name)
