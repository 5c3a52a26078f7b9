"""The two sides of a claim compared at a place, seed by seed: what seeds have in common cancels out.

The claim is `reproduced` there if the 95 % confidence interval of the mean slack (t distribution) lies above
−tolerance, `not reproduced` if it lies below, and `inconclusive` in between, or with fewer seeds than the claim asks
for. A claim that asks for one seed is judged by the sign where there is one.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

from orchard.report.claim_expressions import Expression
from orchard.report.claim_records import NotMeasured, Value
from orchard.report.differences import Difference

REPRODUCED, NOT_REPRODUCED, OPEN = "reproduced", "not reproduced", "inconclusive"
DIGITS = 9  # what is equal up to here differs by the arithmetic only


@dataclass(frozen=True)
class Slack:
    """The two sides of an expression at a place: their means, how far it is fulfilled, ± half the 95 % interval."""

    left: float
    right: float
    mean: float
    margin: float | None
    n_seeds: int

    @classmethod
    def of(cls, expression: Expression, values: list[list[Value]]) -> "Slack":
        """values : of the operands, at one place or at several that are averaged before the sides are compared."""
        seeded = [value.by_seed for at_place in values for value in at_place if value.by_seed]
        seeds = sorted(set.intersection(*map(set, seeded))) if seeded else [None]
        if not seeds:
            raise NotMeasured("no seed that all rows were run with")
        sides = [mean_sides(expression, [[value.of_seed(seed) for value in of] for of in values]) for seed in seeds]
        slacks = [expression.slack(*both) for both in sides]
        left, right = (mean(side) for side in zip(*sides, strict=True))
        if len(seeds) > 1:
            gap = Difference(mean(slacks), stdev(slacks), len(seeds))
            return cls(left, right, gap.mean, gap.margin, gap.n_seeds)
        repeated = [value.repetitions for at_place in values for value in at_place if value.repetitions > 1]
        if repeated and seeded:
            raise NotMeasured("it compares runs, seed by seed, with means that have an error of their own")
        if repeated:
            n = min(repeated)
            gap = Difference(slacks[0], _propagated_error(expression, values) * sqrt(n), n)
            return cls(left, right, gap.mean, gap.margin, n)
        return cls(left, right, slacks[0], None, 1)

    def verdict(self, expression: Expression, tolerance: float, seeds: int) -> str:
        if self.n_seeds < seeds:
            return OPEN
        lowest, highest = (round(self.mean + sign * (self.margin or 0.0) + tolerance, DIGITS) for sign in (-1, 1))
        if lowest > 0 or (lowest == 0 and not expression.strict):
            return REPRODUCED
        return NOT_REPRODUCED if highest < 0 or (highest == 0 and expression.strict) else OPEN


def mean_sides(expression: Expression, values: list[list[float]]) -> tuple[float, float]:
    """(left, right), each the mean over the places."""
    try:
        sides = [expression.sides(at_place) for at_place in values]
    except ZeroDivisionError:
        raise NotMeasured("it divides by a measured 0") from None
    return mean(left for left, _ in sides), mean(right for _, right in sides)


def _propagated_error(expression: Expression, values: list[list[Value]]) -> float:
    """The standard error of the slack: how far that of each measurement moves it, as if these were independent.

    The larger of both ways: at the kink of a maximum a derivative would say that nothing moves.
    """

    def slack_with(moved: str | None, errors: int) -> float:
        numbers = [[one.number + errors * one.error * (one.cell == moved) for one in of] for of in values]
        return expression.slack(*mean_sides(expression, numbers))

    middle = slack_with(None, 0)
    cells = {value.cell for of in values for value in of if value.error}
    return sqrt(sum(max(abs(slack_with(cell, sign) - middle) for sign in (-1, 1)) ** 2 for cell in sorted(cells)))
