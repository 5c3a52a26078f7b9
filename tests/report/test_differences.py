"""Two methods are compared seed by seed, and who is ahead is said only where the seeds agree."""

import pytest

from orchard.report.differences import FAILS, HOLDS, ONE_SEED, OPEN, Difference


def between(*gaps):
    """Seeds lie ten points apart, which says nothing against a difference that every one of them has."""
    one = {seed: {"P@1": 50.0 + 10 * seed + gap} for seed, gap in enumerate(gaps)}
    return Difference.between(one, {seed: {"P@1": 50.0 + 10 * seed} for seed in one}, "P@1")


@pytest.mark.parametrize(
    ("gaps", "told", "verdict"),
    [
        ((2.0, 3.0, 4.0), "+3.00 ± 1.00", HOLDS),
        ((1.0, 2.0, 3.0), "+2.00 ± 1.00", OPEN),  # 4.303 standard errors: 2.48
        ((-1.0, -2.0, -3.0), "−2.00 ± 1.00", OPEN),
        ((-2.0, -3.0, -4.0), "−3.00 ± 1.00", FAILS),
        ((0.0, 2.0, 0.0, 2.0, 1.0, 2.0), "+1.17 ± 0.98", HOLDS),  # 2.571 standard errors: 1.03
        ((4.0,), "+4.00", ONE_SEED),
    ],
)
def test_a_difference_is_judged_by_its_interval(gaps, told, verdict):
    difference = between(*gaps)
    assert (str(difference), difference.verdict) == (told, verdict)


def test_margins_are_those_of_the_t_distribution():
    """Quantiles of a printed table: 12.706 for one degree of freedom, 2.776 for four."""
    assert Difference(1.0, 1.0, 2).margin == pytest.approx(12.706 / 2**0.5, rel=1e-4)
    assert Difference(1.0, 3.0, 5).margin == pytest.approx(3 * 2.776 / 5**0.5, rel=1e-3)


def test_only_seeds_that_both_have_count():
    """Seed 2 was run with one method only, and seed 3 of the other has no such metric."""
    one = {seed: {"P@1": 90.0 if seed > 1 else 50.0} for seed in range(4)}
    other = {0: {"P@1": 50.0}, 1: {"P@1": 50.0}, 3: {"P@3": 1.0}}
    assert Difference.between(one, other, "P@1") == Difference(0.0, 0.0, 2)
    assert Difference.between(one, {}, "P@1") is None
