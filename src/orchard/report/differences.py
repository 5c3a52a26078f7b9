"""Differences between two methods seed by seed: what seeds have in common, such as their groups, cancels out."""

from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

from orchard.report.scores import signed

HOLDS, FAILS, OPEN, ONE_SEED = "holds", "does not hold", "inconclusive", "one seed, no verdict"

BySeed = dict[int, dict[str, float]]  # {seed: metrics}, the runs of one method


@dataclass(frozen=True)
class Difference:
    """The mean of differences over the seeds and their standard deviation, 0 for a single seed."""

    mean: float
    spread: float
    n_seeds: int

    @classmethod
    def between(cls, one: BySeed, other: BySeed, metric: str) -> "Difference | None":
        """one − other, over the seeds that both have; None without any."""
        seeds = [seed for seed in one if metric in one[seed] and metric in other.get(seed, {})]
        gaps = [one[seed][metric] - other[seed][metric] for seed in seeds]
        return cls(mean(gaps), stdev(gaps) if len(gaps) > 1 else 0.0, len(gaps)) if gaps else None

    @property
    def margin(self) -> float:
        """Half the 95 % confidence interval of the mean, by the t distribution; for two seeds or more."""
        from scipy.stats import t

        return float(t.ppf(0.975, self.n_seeds - 1)) * self.spread / sqrt(self.n_seeds)

    @property
    def verdict(self) -> str:
        """Whether the first one is better: the mean difference is more than its margin above 0."""
        if self.n_seeds == 1:
            return ONE_SEED
        return HOLDS if self.mean > self.margin else FAILS if self.mean < -self.margin else OPEN

    def __str__(self) -> str:
        return signed(self.mean) + (f" ± {self.spread:.2f}" if self.n_seeds > 1 else "")
