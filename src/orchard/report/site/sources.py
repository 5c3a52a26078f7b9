"""What the report is made of: the configuration, the results, the documents, all read from one project folder."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchard.config import load_yaml
from orchard.files import read_json
from orchard.report.job_history import JobHistory
from orchard.report.papers import PAPERS
from orchard.report.site.prose import defined_deviations


@dataclass(frozen=True)
class Sources:
    """root : the project's folder. scale : what was run. shown : the folder of its artefacts, `own-data` or the scale.

    options : what follows `--config` on a command line that makes the same again.
    """

    root: Path
    scale: str
    shown: str
    options: str

    @cached_property
    def artefacts(self) -> dict[str, dict[str, dict]]:
        """{paper: {artefact: its entry}}, in the order of the configuration."""
        return {paper.key: load_yaml(self.root / f"config/papers/{paper.key}/artefacts.yaml") for paper in PAPERS}

    @cached_property
    def registry(self) -> dict[str, dict]:
        return {path.stem: load_yaml(path) for path in sorted((self.root / "config/datasets").glob("*.yaml"))}

    @cached_property
    def history(self) -> JobHistory:
        return JobHistory(self.root)

    @cached_property
    def claims(self) -> list[dict]:
        """What the rule `claims` judged; nothing where it was not run."""
        path = self.root / self.artefact_folder / "claims.json"
        return read_json(path)["claims"] if path.is_file() else []

    @cached_property
    def deviations(self) -> str:
        return self.document("docs/deviations.md")

    @cached_property
    def deviation_titles(self) -> dict[str, str]:
        return defined_deviations(self.deviations)

    @property
    def artefact_folder(self) -> str:
        return f"results/artefacts/{self.shown}"

    def document(self, path: str) -> str:
        """The text of a file; nothing where there is none."""
        file = self.root / path
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def found(self, pattern: str) -> list[str]:
        """The files that fit a pattern, as paths below the root."""
        return [path.relative_to(self.root).as_posix() for path in sorted(self.root.glob(pattern))]

    def is_simulated(self, dataset: str) -> bool:
        """By the registry; a data set that is no longer there still says it by its name."""
        return self.registry.get(dataset, {}).get("simulated", "-sim" in dataset)
