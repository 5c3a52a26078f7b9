"""Which pages there are, and what stands on each; how it looks is a matter of `templates/`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from orchard.report.effort import effort_behind
from orchard.report.papers import PAPERS
from orchard.report.site import claims
from orchard.report.site.artefacts import Artefact, all_artefacts
from orchard.report.site.datasets import DataSet, all_datasets, other_fetched
from orchard.report.site.prose import title_of, without_title
from orchard.report.site.runs import HEADLINES, Run, all_runs
from orchard.report.site.sources import Sources

# One figure of each paper for the front page: the one that shows best what the paper is about.
HEADLINE_FIGURES = ("eagle-fig4", "disentangle-fig3", "labeltrees-fig2", "otseq2set-fig5")
RENDERED_DOCUMENTS = {"deviations.md": "deviations.html", "benchmark.md": "benchmark.html"}


@dataclass(frozen=True)
class Page:
    """path : below the report.  simulated : whether generated data touches it; then a banner says so."""

    path: str
    template: str
    title: str
    simulated: bool
    context: dict = field(default_factory=dict)


class Report:
    """Everything that the pages tell, read once."""

    def __init__(self, sources: Sources):
        self.sources = sources
        self.artefacts: dict[str, list[Artefact]] = all_artefacts(sources)
        self.runs: list[Run] = all_runs(sources)
        self.datasets: list[DataSet] = all_datasets(sources)
        self.run_of_path = {run.path: run for run in self.runs}
        self.shown_in: dict[str, list[Artefact]] = {}
        for artefact in self.made:
            for path in artefact.runs:
                self.shown_in.setdefault(path, []).append(artefact)

    @property
    def every_artefact(self) -> list[Artefact]:
        return [artefact for some in self.artefacts.values() for artefact in some]

    @property
    def made(self) -> list[Artefact]:
        return [artefact for artefact in self.every_artefact if artefact.files]

    def pages(self) -> Iterator[Page]:
        yield self._front()
        yield from map(self._paper, PAPERS)
        yield self._claims()
        yield self._beyond()
        yield self._runs()
        yield from map(self._run, self.runs)
        yield self._data()
        yield self._deviations()
        yield self._benchmark()

    def _front(self) -> Page:
        outputs = [path for artefact in self.made for path in artefact.files.values()]
        by_target = {artefact.target: artefact for artefact in self.made}
        context = {
            "effort": effort_behind(self.sources.history, outputs),
            "of_paper": {paper.key: claims.of_paper(self.sources.claims, paper.key) for paper in PAPERS},
            "claims_of_all": self.sources.claims,
            "headline_figures": [by_target[target] for target in HEADLINE_FIGURES if target in by_target],
            "limits": section_of(self.sources.document("README.md"), "Honest limits"),
        }
        return Page("index.html", "index.html", "Overview", self._any_simulated(self.made), context)

    def _paper(self, paper) -> Page:
        mine = self.artefacts[paper.key]
        judged = claims.of_paper(self.sources.claims, paper.key)
        simulated = self._any_simulated(mine) or any(map(claims.touches_simulated, judged))
        context = {"paper": paper, "artefacts": mine, "judged": judged}
        return Page(paper.page, "paper.html", paper.short, simulated, context)

    def _claims(self) -> Page:
        judged = claims.decided_first(self.sources.claims)
        simulated = any(map(claims.touches_simulated, judged))
        return Page("claims.html", "claims.html", "Claims", simulated, {"judged": judged})

    def _beyond(self) -> Page:
        beyond = [artefact for artefact in self.every_artefact if artefact.is_beyond]
        simulated = self._any_simulated(beyond)
        return Page("beyond.html", "beyond.html", "Beyond the papers", simulated, {"artefacts": beyond})

    def _runs(self) -> Page:
        simulated = any(run.is_simulated for run in self.runs)
        return Page("runs.html", "runs.html", "Runs", simulated, {"runs": self.runs, "headlines": HEADLINES})

    def _run(self, run: Run) -> Page:
        title = f"{run.name}, {run.score['variant']}, seed {run.score['seed']}"
        context = {"run": run, "shown_in": self.shown_in.get(run.path, [])}
        return Page(run.page, "run.html", title, run.is_simulated, context)

    def _data(self) -> Page:
        prepared = [one for one in self.datasets if one.stats]
        context = {
            "prepared": prepared,
            "registered": [one for one in self.datasets if not one.stats],
            "other_fetched": other_fetched(self.sources),
        }
        return Page("data.html", "data.html", "Data sets", any(one.is_simulated for one in prepared), context)

    def _deviations(self) -> Page:
        text = self.sources.deviations
        context = {"text": without_title(text)}
        return Page("deviations.html", "document.html", title_of(text) or "Deviations", False, context)

    def _benchmark(self) -> Page:
        text = self.sources.document("docs/benchmark.md")
        measured = [(path, self.sources.document(path)) for path in self.sources.found("results/bench/*.md")]
        plots = self.sources.found("results/bench/*.svg")
        context = {"text": without_title(text), "measured": measured, "plots": plots}
        simulated = "-sim" in text or any("-sim" in other for _, other in measured)
        return Page("benchmark.html", "benchmark.html", title_of(text) or "Benchmark", simulated, context)

    @staticmethod
    def _any_simulated(artefacts: list[Artefact]) -> bool:
        return any(artefact.is_simulated for artefact in artefacts)


def section_of(text: str, heading: str) -> str:
    """What stands below a heading of the second level; nothing without it."""
    match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, flags=re.M | re.S)
    return match[1].strip() if match else ""
