"""The simulations of EAGLE: when assigning labels to samples helps (Theorem 1, §7.1, B.1), and why centring does.

Every group has g samples, and the rows of a group follow each other in X (n, d). A task turns a random generator and
a value of the horizontal axis into what its estimators reach on one data set; `simulate` repeats it. A repetition has
the same random numbers for every value, so that neighbouring points of a curve differ by the value and not by luck.
"""

from dataclasses import dataclass

import numpy as np

from orchard.errors import ConfigError

READINGS = ("text", "printed")
ITERATIONS, STEP = 20, 0.1  # T and λ of B.2


@dataclass(frozen=True)
class Sizes:
    """The group size g, n samples, d features and l labels (B.1)."""

    g: int
    n: int
    d: int
    l: int  # noqa: E741  the paper's letter

    def __post_init__(self):
        if self.n % self.g:
            raise ConfigError(f"simulation: sizes: n ({self.n}) must be a multiple of the group size g ({self.g})")

    @property
    def m(self) -> int:
        return self.n // self.g


def simulate(task, values, repetitions: int, seed: int = 0) -> np.ndarray:
    """`task(random, value)` for every value and repetition: (len(values), repetitions, numbers of the task)."""
    return np.array([[task(np.random.default_rng([seed, i]), value) for i in range(repetitions)] for value in values])


@dataclass(frozen=True)
class Curve:
    """What one estimator reaches: a mean over repetitions, and its standard error, for every value of the axis."""

    quantity: str
    axis: str
    estimator: str
    at: list[float]
    value: np.ndarray
    error: np.ndarray
    oracle: np.ndarray | None = None  # what `value` was divided by, if anything


def curves(panel: dict, repetitions: int, seed: int = 0) -> list[Curve]:
    """The curves of a panel of artefacts.yaml: its task, sizes and noise, and the values of the axis."""
    settings = dict(panel)
    task, sizes = settings.pop("task"), Sizes(**settings.pop("sizes"))
    if task == "shared component":
        return _shared_component_curves(sizes, settings.pop("shared"), repetitions, seed, **settings)
    values = settings.pop("sigma_2")
    errors_of, quantity = {
        "regression": (regression_errors, "Rel. RMS"),
        "classification": (classification_errors, "Rel. Error"),
    }[task]
    errors = simulate(
        lambda random, value: errors_of(random, sizes, sigma_2=value, **settings), values, repetitions, seed
    )
    ratios, spreads = (np.array(part) for part in zip(*map(relative_to_oracle, errors), strict=True))
    oracle = errors[:, :, -1].mean(axis=1)
    return [
        Curve(quantity, "σ₂", estimator, values, ratios[:, i], spreads[:, i], oracle)
        for i, estimator in enumerate(("NoAS", "AS"))
    ]


def _shared_component_curves(sizes: Sizes, values, repetitions: int, seed: int, **settings) -> list[Curve]:
    drawn = []
    for iterations in (0, ITERATIONS):
        for centre in (False, True):
            options = settings | {"iterations": iterations, "centre": centre}
            qualities = simulate(
                lambda random, c, options=options: shared_component_quality(random, sizes, shared=c, **options),
                values,
                repetitions,
                seed,
            )
            estimator = f"T = {iterations}, {'centred' if centre else 'not centred'}"
            means, spreads = (np.array(part) for part in zip(*map(mean_and_error, qualities), strict=True))
            for i, quantity in enumerate(("labels given to the right sample", "cosine of embedding and truth")):
                drawn.append(Curve(quantity, "c", estimator, values, means[:, i], spreads[:, i]))
    return drawn


def mean_and_error(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the repetitions (the first axis), and its standard error."""
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))


def relative_to_oracle(errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean error of each estimator over the mean error of the oracle, the last column, and its standard error.

    A ratio of means, because an oracle that makes no error in one repetition has no ratio there; its standard error is
    the jackknife's over the repetitions (the first axis).
    """
    repetitions = len(errors)
    without_one = (errors.sum(axis=0) - errors) / (repetitions - 1)
    ratios = without_one[:, :-1] / without_one[:, -1:]
    spread = ((ratios - ratios.mean(axis=0)) ** 2).sum(axis=0)
    means = errors.mean(axis=0)
    return means[:-1] / means[-1], np.sqrt((repetitions - 1) / repetitions * spread)


def least_squares(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """LR of Eq. 3: (Σ x xᵀ)⁻¹ Σ x zᵀ, of shape (d, l)."""
    return np.linalg.solve(X.T @ X, X.T @ Z)


def group_sums(rows: np.ndarray, g: int) -> np.ndarray:
    """1ᵀ X_{N_j} of every group: (n, d) becomes (m, d)."""
    return rows.reshape(-1, g, rows.shape[1]).sum(axis=1)


def closest_in_group(X: np.ndarray, Z: np.ndarray, B: np.ndarray, g: int) -> np.ndarray:
    """i' of Eq. 3: for each response z_i the sample of its group with the smallest ‖z_i − Bᵀx‖.

    Several responses may take the same sample, as in the paper. Ties go to the first.
    """
    responses, predicted = (rows.reshape(-1, g, Z.shape[1]) for rows in (Z, X @ B))
    squared = ((responses[:, :, None, :] - predicted[:, None, :, :]) ** 2).sum(axis=3)
    return _rows_of_groups(squared.argmin(axis=2), g)


def highest_in_group(scores: np.ndarray, labels: np.ndarray, g: int) -> np.ndarray:
    """For each label of a group the sample of the group with the highest score for it (Algorithm 2); ties: the first.

    scores : (n, l).  labels : the label of each sample (n,), of which only the group is taken to be known.
    """
    best = scores.reshape(-1, g, scores.shape[1]).argmax(axis=1)
    return _rows_of_groups(np.take_along_axis(best, labels.reshape(-1, g), axis=1), g)


def _rows_of_groups(within: np.ndarray, g: int) -> np.ndarray:
    return (within + g * np.arange(len(within))[:, None]).ravel()


def regression_data(random, sizes: Sizes, sigma_1: float, sigma_2: float, sigma_e: float):
    """(X, Z, B*) of section 5: x_i = x̄_j + d_i and z_i = B*ᵀx_i + e_i, with ‖B*‖ = 1 in the spectral norm."""
    B = random.normal(size=(sizes.d, sizes.l))
    B /= np.linalg.norm(B, 2)
    centres = sigma_1 * random.normal(size=(sizes.m, sizes.d))
    X = np.repeat(centres, sizes.g, axis=0) + sigma_2 * random.normal(size=(sizes.n, sizes.d))
    return X, X @ B + sigma_e * random.normal(size=(sizes.n, sizes.l)), B


def regression_errors(random, sizes: Sizes, sigma_1: float, sigma_2: float, sigma_e: float) -> list[float]:
    """Root mean square of B̂ − B* for NoAS and AS (Eq. 3), and for least squares with known correspondences.

    None of the three depends on the order of the responses in a group, so Π is left out.
    """
    X, Z, B = regression_data(random, sizes, sigma_1, sigma_2, sigma_e)
    without = least_squares(group_sums(X, sizes.g), group_sums(Z, sizes.g))
    assigned = least_squares(X[closest_in_group(X, Z, without, sizes.g)], Z)
    oracle = least_squares(X, Z)
    return [float(np.sqrt(np.mean((estimate - B) ** 2))) for estimate in (without, assigned, oracle)]


def majority_probability(sigma_2: float, n_labels: int, reading: str = "text") -> float:
    """The probability of a group's main label (B.1); the other labels share the rest evenly.

    The main label has weight w and every other label weight 1. `printed`: w = exp(σ₂), so that σ₂ = 0 makes even
    groups and a large σ₂ groups of one label. The text and Figure 6 say the opposite, heterogeneity grows with σ₂:
    `text` reads w = exp(1/σ₂), one label at σ₂ = 0 and nearly even groups at σ₂ = 10.
    """
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {', '.join(READINGS)}, not {reading!r}")
    if reading == "text" and sigma_2 == 0:
        return 1.0
    exponent = sigma_2 if reading == "printed" else 1 / sigma_2
    return float(1 / (1 + (n_labels - 1) * np.exp(-exponent)))


def group_labels(random, sizes: Sizes, majority: float) -> np.ndarray:
    """The class that each sample is drawn from (n,): its group's main one with probability `majority`."""
    main = np.repeat(random.integers(sizes.l, size=sizes.m), sizes.g)
    others = (main + random.integers(1, sizes.l, size=sizes.n)) % sizes.l
    return np.where(random.random(sizes.n) < majority, main, others)


def normalised(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def random_directions(random, count: int, d: int) -> np.ndarray:
    """Unit vectors, evenly distributed (count, d)."""
    return normalised(random.normal(size=(count, d)))


def classification_errors(
    random,
    sizes: Sizes,
    sigma_1: float,
    sigma_2: float,
    sigma_e: float,
    norm: float = 0.5,
    reading: str = "text",
    baseline: str = "group labels",
    n_test: int = 5000,
) -> list[float]:
    """Share of fresh samples that NoAS, AS and the oracle label wrongly (B.1, Figure 6 right).

    A sample of class k is x = e*_k + noise (σ₁), and its label is argmax_k ⟨e*_k, x⟩ + noise (σe). All three learn
    B by least squares on one-hot labels, and predict argmax_k ⟨b_k, x⟩.

    norm : of the e*_k, whose directions are random. The paper does not give it; at 0.5 the oracle errs on about one
        sample in 75, at 1 on one in 1000.
    baseline : what NoAS learns from. `group labels`: every sample with all labels of its group, Y¹Y² (section 3), and
        AS then gives each label to the sample with the highest score (Algorithm 2). `group sums`: Eq. 3 to the letter.
    """
    directions = norm * random_directions(random, sizes.l, sizes.d)
    drawn_from = group_labels(random, sizes, majority_probability(sigma_2, sizes.l, reading))
    X, labels = _labelled(random, directions, drawn_from, sigma_1, sigma_e)
    X_test, labels_test = _labelled(random, directions, random.integers(sizes.l, size=n_test), sigma_1, sigma_e)
    Z = np.eye(sizes.l)[labels]
    if baseline == "group labels":
        without = least_squares(X, np.repeat(group_sums(Z, sizes.g), sizes.g, axis=0))
        chosen = highest_in_group(X @ without, labels, sizes.g)
    elif baseline == "group sums":
        without = least_squares(group_sums(X, sizes.g), group_sums(Z, sizes.g))
        chosen = closest_in_group(X, Z, without, sizes.g)
    else:
        raise ValueError(f"baseline must be 'group labels' or 'group sums', not {baseline!r}")
    estimates = without, least_squares(X[chosen], Z), least_squares(X, Z)
    return [float(np.mean((X_test @ B).argmax(axis=1) != labels_test)) for B in estimates]


def _labelled(random, directions, drawn_from, sigma_1: float, sigma_e: float):
    X = directions[drawn_from] + sigma_1 * random.normal(size=(len(drawn_from), directions.shape[1]))
    scores = X @ directions.T
    return X, (scores + sigma_e * random.normal(size=scores.shape)).argmax(axis=1)


def grlr(groups: np.ndarray, iterations: int = ITERATIONS, step: float = STEP) -> np.ndarray:
    """Algorithm 1 for groups of one size: a label's embedding (d,) from the samples of its groups (m_k, g, d)."""
    embedding = _unit(groups.sum(axis=(0, 1)))
    for _ in range(iterations):
        scores = groups @ embedding
        selected = scores == scores.max(axis=1, keepdims=True)
        embedding = _unit(embedding + step * _unit(groups[selected].sum(axis=0)))
    return embedding


def _unit(vector: np.ndarray) -> np.ndarray:
    """Proj of Table 4; the zero vector stays."""
    return vector / (np.linalg.norm(vector) or 1.0)


def shared_component_quality(
    random, sizes: Sizes, sigma_1: float, shared: float, iterations: int, centre: bool, unit: bool = True
) -> list[float]:
    """How well GRLR finds the labels where all samples share a component: x = e*_k + noise (σ₁) + c·u, c = `shared`.

    With group size g a fraction (g − 1)/g of the sum e₀ is other samples; their class-specific parts average out, the
    shared part c·u adds up coherently, so e₀ → u as c grows, and ⟨u, x⟩ ranks the samples of a group by their noise
    instead of their class. Subtracting the mean row removes c·u from every sample (docs/eagle.md).

    unit : compare rows by their cosine, as EAGLE does (Table 4), and not by their inner product.

    Returns the share of the labels of the groups that go to a sample which has them, and the mean cosine of e_k and
    e*_k. Groups are random; a group that has a label several times counts once in Algorithm 1.
    """
    directions, u = random_directions(random, sizes.l, sizes.d), random_directions(random, 1, sizes.d)
    labels = random.integers(sizes.l, size=sizes.n)
    X = directions[labels] + sigma_1 * random.normal(size=(sizes.n, sizes.d)) + shared * u
    X = normalised(X) if unit else X
    if centre:
        X = X - X.mean(axis=0)
    groups, labels_of_group = X.reshape(sizes.m, sizes.g, sizes.d), labels.reshape(sizes.m, sizes.g)
    present = np.unique(labels)
    embeddings = np.zeros((sizes.l, sizes.d))
    for k in present:
        embeddings[k] = grlr(groups[(labels_of_group == k).any(axis=1)], iterations)
    chosen = highest_in_group(X @ embeddings.T, labels, sizes.g)
    cosines = (embeddings * directions).sum(axis=1)[present]
    return [float(np.mean(labels[chosen] == labels)), float(cosines.mean())]
