"""The simulations of EAGLE: estimators by hand, the paper's parameters, and the shapes that the paper describes."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.config import load_yaml
from orchard.eagle import impute_labels
from orchard.eagle_simulations import (
    Sizes,
    classification_errors,
    closest_in_group,
    curves,
    grlr,
    group_labels,
    group_sums,
    highest_in_group,
    least_squares,
    majority_probability,
    normalised,
    random_directions,
    regression_data,
    regression_errors,
    relative_to_oracle,
    shared_component_quality,
    simulate,
)
from orchard.report.published import read_published

PAPER = Path(__file__).parent.parent / "config/papers/eagle"
SIZES = Sizes(g=10, n=1000, d=10, l=5)
SHARED = Sizes(g=10, n=500, d=50, l=25)


def ratios(errors_of, values, repetitions=20, **settings):
    """(NoAS, AS), relative to the oracle, for every value of σ₂."""
    errors = simulate(lambda random, x: errors_of(random, SIZES, sigma_2=x, **settings), values, repetitions)
    return np.array([relative_to_oracle(one)[0] for one in errors]).T


def regression(values, **options):
    return ratios(regression_errors, values, sigma_1=1.0, sigma_e=1.0, **options)


def classification(values, **options):
    return ratios(classification_errors, values, sigma_1=0.1, sigma_e=0.0, **options)


def test_the_parameters_are_the_papers():
    """σ₁, σe, g, n, d, l and the values of σ₂, as transcribed; Figure 3's grid is finer than its two printed ends."""
    printed = {}
    for value in read_published(PAPER / "published/figures.csv"):
        printed.setdefault(value.setting, {})[value.metric] = value.number
    artefacts = load_yaml(PAPER / "artefacts.yaml")
    panels = dict(zip(("Figure 6 (left)", "Figure 6 (right)"), artefacts["fig6"]["simulation"]["panels"], strict=True))
    for name, panel in panels.items():
        of_panel = printed[name]
        assert panel["sizes"] == {letter: of_panel[letter] for letter in "gndl"}
        assert (panel["sigma_1"], panel["sigma_e"]) == (of_panel["σ1"], of_panel["σe"])
        assert panel["sigma_2"] == [of_panel[f"σ2 (value {i})"] for i in range(1, 6)]
    (panel,) = artefacts["fig3"]["simulation"]["panels"]
    of_panel = printed["Figure 3"]
    assert panel["sizes"] == panels["Figure 6 (left)"]["sizes"]
    assert (panel["sigma_1"], panel["sigma_e"]) == (of_panel["σ1"], of_panel["σe"])
    assert (panel["sigma_2"][0], panel["sigma_2"][-1]) == (of_panel["σ2 (smallest)"], of_panel["σ2 (largest)"])


def test_least_squares_by_hand():
    """z = 2x₁ − x₂ without noise; one sample too many, by hand: x = 1, 2 and z = 1, 3 give (1 + 6) / 5."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert least_squares(X, X @ [[2.0], [-1.0]]) == pytest.approx(np.array([[2.0], [-1.0]]))
    assert least_squares(np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]])) == pytest.approx(1.4)


def test_least_squares_is_numpys():
    random = np.random.default_rng(0)
    X, Z = random.normal(size=(50, 4)), random.normal(size=(50, 3))
    assert least_squares(X, Z) == pytest.approx(np.linalg.lstsq(X, Z, rcond=None)[0])


def test_groups_by_hand():
    """Two groups of two. With B = 1 the responses 1.9 and 1.2 are closest to x = 2 and x = 1, and 10 and 9 to x = 4."""
    X, Z = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[1.9], [1.2], [10.0], [9.0]])
    assert group_sums(X, 2).tolist() == [[3.0], [7.0]]
    assert closest_in_group(X, Z, np.eye(1), 2).tolist() == [1, 0, 3, 3]
    scores = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 3.0], [3.0, 4.0]])
    assert highest_in_group(scores, np.array([0, 1, 0, 1]), 2).tolist() == [1, 1, 2, 3]


def test_regression_data_is_that_of_section_5():
    random = np.random.default_rng(0)
    X, Z, B = regression_data(random, Sizes(10, 20_000, 10, 5), sigma_1=2.0, sigma_2=0.5, sigma_e=0.1)
    assert np.linalg.norm(B, 2) == pytest.approx(1)
    centres = group_sums(X, 10) / 10
    assert centres.std() == pytest.approx(np.sqrt(2.0**2 + 0.5**2 / 10), rel=0.02)
    assert (X - np.repeat(centres, 10, axis=0)).std() == pytest.approx(0.5 * np.sqrt(0.9), rel=0.02)
    assert (Z - X @ B).std() == pytest.approx(0.1, rel=0.02)


def test_nothing_is_lost_without_noise():
    """σe = 0: sums determine B*, so every response finds its own sample."""
    errors = regression_errors(np.random.default_rng(0), SIZES, sigma_1=1.0, sigma_2=1.0, sigma_e=0.0)
    assert errors == pytest.approx([0, 0, 0], abs=1e-12)


def test_the_order_of_the_responses_in_a_group_does_not_matter():
    """Π is unknown to NoAS and AS: shuffling the responses of every group changes neither."""
    random = np.random.default_rng(0)
    X, Z, _ = regression_data(random, SIZES, 1.0, 2.0, 1.0)
    shuffled = np.concatenate([random.permutation(group) for group in Z.reshape(-1, SIZES.g, SIZES.l)])
    estimates = []
    for responses in (Z, shuffled):
        without = least_squares(group_sums(X, SIZES.g), group_sums(responses, SIZES.g))
        chosen = closest_in_group(X, responses, without, SIZES.g)
        estimates.append((without, least_squares(X[chosen], responses)))
    assert estimates[0][0] == pytest.approx(estimates[1][0])
    assert estimates[0][1] == pytest.approx(estimates[1][1])


def test_identical_samples_in_a_group_make_the_estimators_one():
    assert regression([0.0], repetitions=3) == pytest.approx(1)


def test_no_assignment_costs_what_theorem_1_says():
    """Eq. 4 over the oracle's rate: √((σ₁² + σ₂²) / (σ₁² + σ₂²/g)), and a little for having only m = 100 sums."""
    values = np.array([0.0, 0.5, 1.0, 2.0, 5.0, 10.0])
    expected = np.sqrt((1 + values**2) / (1 + values**2 / SIZES.g))
    assert regression(values)[0] == pytest.approx(expected, rel=0.1)


def test_assignment_helps_regression_in_heterogeneous_groups():
    """§7.1: much better for large σ₂, where it is nearly optimal; worse for small σ₂."""
    without, assigned = regression([0.1, 0.5, 5.0, 10.0])
    assert (assigned[:2] > 1.2 * without[:2]).all()
    assert (assigned[2:] < 0.5 * without[2:]).all()
    assert assigned[3] == pytest.approx(1, abs=0.02)


def test_two_readings_of_the_groups():
    """As printed, groups become pure as σ₂ grows; in the text and in Figure 6 they become mixed."""
    values = [0.0, 0.1, 1.0, 5.0, 10.0]
    text, printed = ([majority_probability(x, 5, reading) for x in values] for reading in ("text", "printed"))
    assert text == sorted(text, reverse=True)
    assert printed == sorted(printed)
    assert text[0] == 1
    assert printed[0] == pytest.approx(1 / 5)
    assert text[-1] == pytest.approx(np.exp(0.1) / (4 + np.exp(0.1)))
    assert printed[-1] == pytest.approx(np.exp(10) / (4 + np.exp(10)))
    with pytest.raises(ValueError, match="reading must be one of text, printed, not 'paper'"):
        majority_probability(1.0, 5, "paper")


def test_groups_have_a_main_label():
    sizes = Sizes(g=10, n=20_000, d=1, l=5)
    random = np.random.default_rng(0)
    groups = group_labels(random, sizes, majority=1.0).reshape(-1, 10)
    assert (groups == groups[:, :1]).all()
    even = group_labels(random, sizes, majority=1 / 5)
    assert np.bincount(even) / sizes.n == pytest.approx(np.full(5, 0.2), abs=0.02)
    mixed = group_labels(random, sizes, majority=0.7).reshape(-1, 10)
    largest = np.array([np.bincount(group).max() for group in mixed])
    assert largest.mean() / 10 == pytest.approx(0.7, abs=0.02)


def test_assignment_helps_classification_in_heterogeneous_groups():
    """B.1, in the reading that fits its text: slightly worse in pure groups, far better in mixed ones."""
    without, assigned = classification([0.0, 1.0, 10.0])
    assert without[0] == pytest.approx(1, abs=0.1)
    assert without[0] < assigned[0] < 1.5 * without[0]
    assert (assigned[1:] < 0.7 * without[1:]).all()


def test_the_printed_probabilities_turn_the_figure_around():
    without, assigned = classification([0.0, 10.0], reading="printed")
    assert assigned[0] < 0.7 * without[0]
    assert assigned[1] > without[1]


def test_equation_3_to_the_letter_has_the_same_winner():
    """With sums over groups in the place of Y¹Y², AS is as good as NoAS in pure groups and better in mixed ones."""
    without, assigned = classification([0.0, 10.0], repetitions=50, baseline="group sums")
    assert assigned[0] == pytest.approx(without[0], rel=0.1)
    assert assigned[1] < 0.9 * without[1]
    with pytest.raises(ValueError, match="baseline must be 'group labels' or 'group sums', not 'sums'"):
        classification([0.0], baseline="sums")


def test_relative_error_by_hand():
    """A ratio of means, 6 / 2; leaving one repetition out gives 8 / 3 and 4 / 1. One oracle may make no error."""
    errors = np.array([[4.0, 1.0], [8.0, 3.0]])
    value, spread = relative_to_oracle(errors)
    assert value == pytest.approx([3.0])
    left_out = np.array([8 / 3, 4 / 1])
    assert spread == pytest.approx([np.sqrt(((left_out - left_out.mean()) ** 2).sum() / 2)])
    assert relative_to_oracle(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]))[0] == pytest.approx([1.5])


def test_the_same_seed_gives_the_same_numbers():
    panel = {"task": "classification", "sizes": vars(SIZES), "sigma_1": 0.1, "sigma_e": 0.0, "sigma_2": [0.0, 5.0]}
    first, again, other = (curves(panel, 2, seed) for seed in (0, 0, 1))
    assert [curve.estimator for curve in first] == ["NoAS", "AS"]
    for one, same, different in zip(first, again, other, strict=True):
        assert one.value.tolist() == same.value.tolist()
        assert one.error.tolist() == same.error.tolist()
        assert one.value.tolist() != different.value.tolist()


def test_algorithm_1_by_hand():
    """Every step is along the sum of the closest samples, all of them where they tie (once in the second example).

    In the toy of Figure 1 the samples cancel out: the sum is zero, and stays so.
    """
    east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    groups = np.array([[east, north], [east, -north]])
    assert grlr(groups, iterations=0) == pytest.approx(east)
    assert grlr(groups) == pytest.approx(east)
    groups = np.array([[east, east], [east, north]])
    first = np.array([3.0, 1.0]) / np.sqrt(10)
    assert grlr(groups, iterations=0) == pytest.approx(first)
    step = first + 0.1 * east  # east is selected three times, as the first group ties
    assert grlr(groups, iterations=1) == pytest.approx(step / np.linalg.norm(step))
    assert grlr(np.array([[east, -east]] * 3)) == pytest.approx(np.zeros(2))


@pytest.mark.parametrize("iterations", [0, 20])
@pytest.mark.parametrize("centre", [False, True])
def test_the_dense_algorithm_is_the_librarys(iterations, centre):
    """The simulation and `impute_labels` give every label of every group to the same sample."""
    random = np.random.default_rng(1)
    labels = random.integers(SHARED.l, size=SHARED.n)
    X = random_directions(random, SHARED.l, SHARED.d)[labels] + 0.1 * random.normal(size=(SHARED.n, SHARED.d)) + 0.1
    X = normalised(X)
    of_group = labels.reshape(-1, SHARED.g)
    Y1 = sp.csr_matrix(np.repeat(np.eye(SHARED.m), SHARED.g, axis=0))
    Y2 = sp.csr_matrix((np.arange(SHARED.l) == of_group[:, :, None]).any(axis=1).astype(float))
    imputed = impute_labels(X=sp.csr_matrix(X), Y1=Y1, Y2=Y2, iterations=iterations, centre=centre)
    X = X - X.mean(axis=0) if centre else X
    groups = X.reshape(SHARED.m, SHARED.g, SHARED.d)
    embeddings = np.array([grlr(groups[(of_group == k).any(axis=1)], iterations) for k in range(SHARED.l)])
    ours = np.zeros((SHARED.n, SHARED.l))
    ours[highest_in_group(X @ embeddings.T, labels, SHARED.g), labels] = 1
    assert (imputed.toarray() == ours).all()


def shared(c, **options):
    """(share of labels given to the right sample, cosine), means of five repetitions."""
    options = {"sigma_1": 0.1, "iterations": 20, "centre": False} | options
    qualities = simulate(lambda random, c: shared_component_quality(random, SHARED, shared=c, **options), [c], 5)
    return qualities[0].mean(axis=0)


def test_centring_removes_what_all_samples_share():
    """With plain inner products the centred result does not depend on c at all, by cosines it hardly does."""
    assert shared(0.0, centre=True, unit=False) == pytest.approx(shared(4.0, centre=True, unit=False))
    assert shared(4.0, centre=True) == pytest.approx(shared(0.0, centre=True), abs=0.03)
    for iterations in (0, 20):
        assert shared(4.0, centre=True, iterations=iterations)[0] > 0.95


def test_without_centring_the_shared_part_wins():
    """The embeddings turn to u, away from e*; by inner products the labels are then given nearly at random."""
    right, cosine = np.array([shared(c) for c in (0.0, 0.5, 1.0)]).T
    assert (np.diff(right) < -0.05).all()
    assert (np.diff(cosine) < -0.1).all()
    chance = 1 / SHARED.g + (1 - 1 / SHARED.g) / SHARED.l
    assert shared(4.0, unit=False)[0] < 2 * chance
