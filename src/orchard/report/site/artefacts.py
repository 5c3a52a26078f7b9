"""A table or figure as its page shows it: its files, what is published beside it, where it comes from."""

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchard.report.effort import Effort, effort_behind
from orchard.report.job_history import Origin
from orchard.report.rows import runs_of
from orchard.report.site.claims import of_artefact
from orchard.report.site.prose import deviations_naming, ids_in
from orchard.report.site.published_tables import PlainTable, published_table, stated_numbers
from orchard.report.site.sources import Sources

KINDS = {"table": ("md", "csv"), "figure": ("svg", "png", "csv")}
MOST_LINES = 400  # of a figure's numbers on its page; the file has all


@dataclass(frozen=True)
class Artefact:
    paper: str
    name: str
    entry: dict
    sources: Sources

    @property
    def target(self) -> str:
        """What people type."""
        return f"{self.paper}-{self.name}"

    @property
    def title(self) -> str:
        return self.entry["title"]

    @property
    def is_beyond(self) -> bool:
        return self.entry.get("beyond", False)

    @property
    def is_picture(self) -> bool:
        """Label embeddings drawn as images: their colours must not be turned round in the dark."""
        return "embeddings" in self.entry

    @property
    def command(self) -> str:
        return f"snakemake {self.target} --config {self.sources.options}"

    @cached_property
    def files(self) -> dict[str, str]:
        """{kind: path} of all its files, or nothing if one of them is missing."""
        folder = self.sources.artefact_folder
        paths = {kind: f"{folder}/{self.target}.{kind}" for kind in KINDS[self.entry["kind"]]}
        return paths if all((self.sources.root / path).is_file() for path in paths.values()) else {}

    @cached_property
    def records(self) -> list[dict[str, str]]:
        """The lines of its CSV file."""
        text = self.sources.document(self.files["csv"]) if self.files else ""
        return list(csv.DictReader(io.StringIO(text)))

    @property
    def numbers(self) -> PlainTable:
        """The first lines of the same, as a table."""
        header = list(self.records[0]) if self.records else []
        return PlainTable(header, [list(record.values()) for record in self.records[:MOST_LINES]])

    @cached_property
    def measured_datasets(self) -> list[str]:
        """The data sets behind its own numbers, not those that it only quotes."""
        names = [record.get("data set") for record in self.records if record.get("source") != "published"]
        return list(dict.fromkeys(filter(None, names)))

    @cached_property
    def is_simulated(self) -> bool:
        """Whether any number of it comes from generated data; of simulations, all do."""
        told = any(record.get("source") == "simulated" for record in self.records)
        return told or any(map(self.sources.is_simulated, self.measured_datasets))

    @property
    def is_simulation(self) -> bool:
        """Drawn at random from a model, without any data set: the paper's theory figures are, too."""
        return "simulation" in self.entry

    @cached_property
    def published(self) -> PlainTable | None:
        return published_table(self._published_folder, self.name)

    @cached_property
    def stated(self) -> PlainTable | None:
        return stated_numbers(self._published_folder, self.name)

    @property
    def _published_folder(self) -> Path:
        return self.sources.root / f"config/papers/{self.paper}/published"

    @cached_property
    def origin(self) -> Origin | None:
        return self.sources.history.origins(self.files.values()) if self.files else None

    @cached_property
    def inputs(self) -> list[str]:
        """What the recorded job read."""
        return list(self.origin.record["inputs"]) if self.origin and self.origin.record else []

    @cached_property
    def effort(self) -> Effort | None:
        """Of the job and all jobs behind it; other artefacts share most of these."""
        if not self.origin or not self.origin.record:
            return None
        return effort_behind(self.sources.history, self.files.values())

    @cached_property
    def runs(self) -> list[str]:
        """The runs that it shows, as paths of their score.json: by its record, or by the configuration without one."""
        paths = self.inputs or self._configured_runs()
        return [path for path in paths if path.startswith("results/runs/") and path.endswith("score.json")]

    def _configured_runs(self) -> list[str]:
        if "rows" not in self.entry or self.is_simulation:
            return []
        runs = runs_of(self.entry, self.sources.scale, self.measured_datasets)
        paths = (f"results/runs/{'/'.join(run)}/seed-{seed}/score.json" for *run, seed in runs)
        return [path for path in paths if (self.sources.root / path).is_file()]

    @property
    def seeds(self) -> list[int]:
        return sorted({int(path.split("/")[-2].removeprefix("seed-")) for path in self.runs})

    @cached_property
    def claims(self) -> list[dict]:
        return of_artefact(self.sources.claims, self.paper, self.name)

    @cached_property
    def deviations(self) -> list[str]:
        """The ids that its notes name, and those whose paragraph names it."""
        notes = " ".join(self.entry.get("notes", []))
        if "md" in self.files:
            notes += self.sources.document(self.files["md"])
        ids = [*ids_in(notes), *deviations_naming(self.sources.deviations, self.target)]
        return [one for one in dict.fromkeys(ids) if one in self.sources.deviation_titles]


def all_artefacts(sources: Sources) -> dict[str, list[Artefact]]:
    """{paper: its artefacts}: everything that the configuration names, made or not."""
    return {
        paper: [Artefact(paper, name, entry, sources) for name, entry in entries.items()]
        for paper, entries in sources.artefacts.items()
    }
