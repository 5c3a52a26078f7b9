"""A run as its page shows it: what it scored, what it took, what made it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from orchard.files import read_json
from orchard.report.job_history import Origin
from orchard.report.site.sources import Sources

HEADLINES = ("P@1", "P@3", "P@5")
OTHERS = ("accuracy", "F1")  # the main metric of networks that learn from groups, and of those that write labels


@dataclass(frozen=True)
class Run:
    """path : of its score.json."""

    path: str
    score: dict
    cost: dict
    sources: Sources

    @property
    def page(self) -> str:
        """The tree of results/runs once more."""
        return f"{PurePosixPath(self.path).parent.relative_to('results')}.html"

    @property
    def name(self) -> str:
        return f"{self.score['method']} on {self.score['dataset']}"

    @property
    def is_simulated(self) -> bool:
        return self.score["simulated"]

    @property
    def headlines(self) -> list[float | None]:
        return [self.score["metrics"].get(metric) for metric in HEADLINES]

    @property
    def other_headline(self) -> tuple[str, float] | None:
        """The main metric of a run that is not scored by precision at k."""
        metrics = self.score["metrics"]
        return next(((name, metrics[name]) for name in OTHERS if name in metrics), None)

    @cached_property
    def origin(self) -> Origin:
        return self.sources.history.origin(self.path)


def all_runs(sources: Sources) -> list[Run]:
    """Every run in the results, of whatever scale."""
    runs = []
    for path in sources.found("results/runs/**/score.json"):
        score, cost = sources.root / path, (sources.root / path).with_name("cost.json")
        runs.append(Run(path, read_json(score), read_json(cost) if cost.is_file() else {}, sources))
    return runs
