"""EAGLE's Theorems 3 and 4 on data that meet their assumptions: where they hold, and where not as printed.

Definition 2 is read as follows. f(γ) is a maximum over sets of samples, of which single samples are some: the mean of
several ε cannot be longer than the longest of them, so f(γ) = f = max ‖ε_i‖ for every γ that allows one sample. The
maximum is taken over all samples of all groups, which is the weakest reading of the theorems. q and δ are over all
pairs of labels.
"""

from dataclasses import dataclass
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

ROUNDING = 1e-9


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def at_degrees(angle):
    return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])


@dataclass
class Data:
    """Groups of (sample, label), all unit vectors, and the true embeddings; label 0 is the one that is looked for."""

    embeddings: np.ndarray
    groups: list[list[tuple[np.ndarray, int]]]

    def groups_of(self, label):
        return {j for j, group in enumerate(self.groups) if label in {of for _, of in group}}

    @property
    def wanted(self):
        return [self.groups[j] for j in sorted(self.groups_of(0))]

    @property
    def f(self):
        return max(np.linalg.norm(x - self.embeddings[label]) for group in self.groups for x, label in group)

    @property
    def delta(self):
        return min(np.linalg.norm(one - other) for one, other in combinations(self.embeddings, 2))

    @property
    def q(self):
        of = [self.groups_of(label) for label in range(len(self.embeddings))]
        return max(len(one & other) / min(len(one), len(other)) for one, other in combinations(of, 2))

    def estimate(self):
        """Eq. 2 by trying every choice of one sample per group: the best e is along the longest sum."""
        choices = [sum(x for x, _ in choice) for choice in product(*self.wanted)]
        return unit(max(choices, key=np.linalg.norm))

    def selected(self, e):
        """The closest sample of every group of label 0, with its label."""
        return [max(group, key=lambda sample: e @ sample[0]) for group in self.wanted]


def theorem3_r(data, separations=2):
    """r of Theorem 3, with 2f/δ as printed or another multiple of f/δ; infinite where [·]₊ is zero."""
    left = 1 - data.q - separations * data.f / data.delta
    return 1 / left - 1 if left > 0 else np.inf


def printed_theorem3(r, f):
    return 1 - r * f - (np.sqrt(2) * r + 2) * f**2


def theorem4_right_side(data, e):
    """(α_t, the right side of Theorem 4)."""
    alpha = np.mean([label == 0 for _, label in data.selected(e)])
    star = data.embeddings[0]
    return alpha, alpha + (1 - alpha) * (star @ e - np.linalg.norm(star - e)) - data.f


def next_iterate(data, e):
    """Eq. 26, which is g_t of Algorithm 1."""
    return unit(sum(x for x, _ in data.selected(e)))


def random_data(seed, n_groups=5, others_per_group=2, n_labels=10, d=8, noise=0.03):
    """One sample of label 0 in each of `n_groups` groups, among samples of other labels.

    Every other label has further groups of its own, so that q is the share of label 0's groups that it is in.
    """
    random = np.random.default_rng(seed)
    embeddings = unit(random.normal(size=(n_labels, d)))

    def sample(label):
        return unit(embeddings[label] + noise * random.normal(size=d) / np.sqrt(d)), label

    others = [random.choice(np.arange(1, n_labels), others_per_group, replace=False) for _ in range(n_groups)]
    groups = [[sample(label) for label in [0, *mixed]] for mixed in others]
    groups += [[sample(label)] for label in range(1, n_labels) for _ in range(n_groups)]
    return Data(embeddings, groups)


datasets = st.builds(
    random_data,
    seed=st.integers(0, 2**32 - 1),
    n_groups=st.integers(2, 5),
    others_per_group=st.integers(0, 3),
    n_labels=st.integers(4, 12),
    d=st.integers(2, 12),
    noise=st.floats(0.001, 0.3),
)


def ring(f, spread, inner, n_others=3):
    """Labels around a pole, in whose groups label 0 sits at the opposite pole: what misleads Eq. 2 most.

    The other labels lie at the angle spread·f from the pole, their samples at inner·f; the samples of label 0 at the
    angle f from theirs.
    """
    turns = 2 * np.pi * np.arange(n_others) / n_others
    around = np.stack([np.cos(turns), np.sin(turns), np.zeros(n_others)], axis=1)
    pole = np.array([0.0, 0.0, 1.0])

    def tilted(angle, towards):
        return np.cos(angle) * pole + np.sin(angle) * towards

    embeddings = np.array([-pole, *(tilted(spread * f, towards) for towards in around)])
    groups = [
        [(-tilted(f, towards), 0), (tilted(inner * f, towards), label)] for label, towards in enumerate(around, start=1)
    ]
    groups += [[(embeddings[label], label)] for label in range(1, n_others + 1) for _ in range(n_others - 1)]
    return Data(embeddings, groups)


rings = st.builds(
    lambda f, spread, shift, n_others: ring(f, spread, spread - shift, n_others),
    f=st.floats(0.001, 0.2),
    spread=st.floats(1, 8),
    shift=st.floats(0, 1),
    n_others=st.integers(2, 5),
)


@given(datasets)
def test_f_is_the_longest_noise(data):
    """Definition 2 by brute force over the sets of label 0's samples."""
    noise = [x - data.embeddings[0] for group in data.wanted for x, label in group if label == 0]
    subsets = chain.from_iterable(combinations(noise, size) for size in range(1, len(noise) + 1))
    brute = max(np.linalg.norm(np.mean(subset, axis=0)) for subset in subsets)
    assert brute == pytest.approx(max(map(np.linalg.norm, noise)))
    assert brute <= data.f + ROUNDING


@given(datasets, st.integers(0, 2**32 - 1))
def test_the_estimate_solves_equation_2(data, seed):
    """No other direction has a larger sum of the largest inner products."""

    def objective(e):
        return sum(max(x @ e for x, _ in group) for group in data.wanted)

    estimate = data.estimate()
    random = np.random.default_rng(seed)
    rivals = [*unit(random.normal(size=(20, estimate.size))), *unit(estimate + 0.1 * random.normal(size=(20, 1)))]
    assert all(objective(estimate) >= objective(rival) - ROUNDING for rival in [*rivals, *data.embeddings])


@given(st.one_of(datasets, rings))
def test_theorem_3_with_twice_the_noise(data):
    """With 4f/δ in the place of 2f/δ the theorem holds, even without its linear term: 1 − (r + 2)f² (docs/eagle.md)."""
    r = theorem3_r(data, separations=4)
    cosine = data.embeddings[0] @ data.estimate()
    assert cosine >= 1 - (r + 2) * data.f**2 - ROUNDING
    assert 1 - (r + 2) * data.f**2 >= printed_theorem3(r, data.f)


def test_theorem_3_is_not_tested_in_vain():
    """Most data sets of the size used above have a bound that says something."""
    bounds = []
    for seed in range(100):
        data = random_data(seed)
        bounds.append(1 - (theorem3_r(data, separations=4) + 2) * data.f**2)
        assert data.embeddings[0] @ data.estimate() >= bounds[-1]
    assert np.mean(np.array(bounds) > 0.9) > 0.5


@pytest.mark.parametrize("f", [0.001, 0.01, 0.05])
def test_theorem_3_fails_as_printed(f):
    """Three groups of two samples: label 0 at one pole, three labels in a ring of radius 1.95f around the other one.

    Eq. 19 charges δ for every sample that is not the second label's. But unit vectors δ apart lose only about δ² of
    their inner products, so that the estimator goes to the middle of the ring, opposite to e*.
    """
    data = ring(f, spread=1.95, inner=0.96)
    r = theorem3_r(data)
    assert data.q == pytest.approx(1 / 3)
    assert data.f <= f
    assert printed_theorem3(r, data.f) > 0.3
    assert data.embeddings[0] @ data.estimate() == pytest.approx(-1)


def test_two_groups_do_not_suffice():
    """The counterexample is the smallest of its kind: two labels around the pole leave 1 − q − 2f/δ no room."""
    for spread in np.linspace(1.5, 2.2, 50):
        data = ring(0.01, spread, spread - 0.99, n_others=2)
        assert np.isinf(theorem3_r(data)) or data.embeddings[0] @ data.estimate() > 0


def with_iterate(data, seed, away):
    """A unit vector e_t around e*."""
    direction = np.random.default_rng(seed).normal(size=data.embeddings.shape[1])
    return data, unit(data.embeddings[0] + away * direction)


iterates = st.builds(with_iterate, datasets, st.integers(0, 2**32 - 1), st.floats(0.01, 1.0))


@given(iterates)
def test_theorem_4_where_its_right_side_is_not_negative(pair):
    """For the step of Eq. 26. The sum itself obeys it everywhere; Proj divides by less than |M_k|."""
    data, e = pair
    _, right = theorem4_right_side(data, e)
    star, chosen = data.embeddings[0], [x for x, _ in data.selected(e)]
    assert star @ np.mean(chosen, axis=0) >= right - ROUNDING
    if right >= 0:
        assert star @ next_iterate(data, e) >= right - ROUNDING


def test_theorem_4_is_not_tested_in_vain():
    """Both kinds of groups occur, and the right side is often far above zero."""
    rights, alphas = [], []
    for seed in range(200):
        data = random_data(seed, noise=0.1, d=3)
        _, e = with_iterate(data, seed + 1, away=0.4)
        alpha, right = theorem4_right_side(data, e)
        alphas.append(alpha)
        rights.append(right)
    rights, alphas = np.array(rights), np.array(alphas)
    assert np.mean(rights > 0.3) > 0.5
    assert np.mean((alphas < 1) & (rights > 0)) > 0.3


def test_theorem_4_fails_where_its_right_side_is_negative():
    """Three groups without noise, in the plane: (36) replaces the norm by |M_k|, which is wrong for a negative sum."""
    star, other = at_degrees(0), at_degrees(130)
    data = Data(np.array([star, other]), [[(star, 0)], [(star, 0), (other, 1)], [(star, 0), (other, 1)]])
    e = at_degrees(65.1)
    alpha, right = theorem4_right_side(data, e)
    assert alpha == pytest.approx(1 / 3)
    assert star @ next_iterate(data, e) < right - 0.05


def test_theorem_4_is_not_about_the_step_of_algorithm_1():
    """One group with one sample, e* itself: the right side is 1, but a step of λ = 0.1 goes only a part of the way."""
    star = at_degrees(0)
    data = Data(np.array([star, at_degrees(90)]), [[(star, 0)]])
    e = at_degrees(30)
    _, right = theorem4_right_side(data, e)
    step = unit(e + 0.1 * next_iterate(data, e))
    assert right == pytest.approx(1)
    assert star @ next_iterate(data, e) == pytest.approx(1)
    assert star @ e < star @ step < 0.9


def contracts(alpha, f, distance):
    """When Theorem 4's right side is at least ⟨e*, e_t⟩ = 1 − s²/2: αs²/2 − (1 − α)s − f ≥ 0, for s = ‖e* − e_t‖."""
    return alpha * distance >= 1 - alpha + np.sqrt((1 - alpha) ** 2 + 2 * alpha * f)


@given(iterates)
def test_contraction_where_the_right_side_of_theorem_4_says_so(pair):
    data, e = pair
    star = data.embeddings[0]
    alpha, right = theorem4_right_side(data, e)
    distance = np.linalg.norm(star - e)
    assume(alpha > 0 and star @ e >= 0)
    assert (right >= star @ e) == contracts(alpha, data.f, distance) or right == pytest.approx(star @ e)
    if contracts(alpha, data.f, distance):
        assert star @ next_iterate(data, e) >= star @ e - ROUNDING


def test_the_printed_condition_for_contraction_is_not_sufficient():
    """Its f has the wrong sign: noise would make contraction easier. Two groups in the plane show that it does not.

    The first holds e*, the second a sample of label 0 at −34° and one of another label at 132°, which e_t at 50° takes.
    """
    star, other = at_degrees(0), at_degrees(132)
    data = Data(np.array([star, other]), [[(star, 0)], [(at_degrees(-34), 0), (other, 1)]])
    e = at_degrees(50)
    alpha, _ = theorem4_right_side(data, e)
    assert star @ e <= 1 - 2 * ((1 - data.f / 2) / alpha - 1) ** 2
    assert star @ next_iterate(data, e) < star @ e - 0.2
    assert not contracts(alpha, data.f, np.linalg.norm(star - e))
