"""Label imbalance (labeltrees, Figures 1 and 6): what share of the samples the most frequent labels serve."""

import numpy as np
import scipy.sparse as sp

from orchard.data.statistics import label_frequencies
from orchard.report.plots import BLUE, GREY, ORANGE, PURPLE, mark_simulated, new_panels, save_figure
from orchard.report.published import PublishedValue, read_published
from orchard.report.tables import write_csv

WANTED = {1: "one label per point", 3: "three labels per point", None: "all labels"}
CURVE_POINTS = 200  # as many as a plot can show
CSV_HEADER = [
    "panel",
    "data set",
    "source",
    "labels wanted",
    "what",
    "labels",
    "% of labels",
    "fraction of data points",
]


def imbalance_figure(
    artefact: dict, labels: list[sp.csr_matrix], statistics: list[dict], published_csv, outputs
) -> None:
    """Draw the panels that artefacts.yaml lists; the published share of labels is written in, with its data set.

    labels, statistics : Y_train and stats.json of the data sets at hand.
    """
    published = {
        value.setting: value for value in read_published(published_csv) if value.metric == "most frequent labels"
    }
    panels = artefact["panels"]
    figure, axes = new_panels(len(panels))
    figure.suptitle(artefact["title"], fontsize=9)
    rows = []
    for letter, axis, wanted in zip("abcdefgh", axes, panels, strict=False):
        which, k = min(wanted["dataset"], len(labels) - 1), None if wanted["labels"] == "all" else wanted["labels"]
        needed = labels_needed(labels[which], k)
        name = f"({letter}) " if len(panels) > 1 else ""
        axis.set_title(f"{name}{statistics[which]['title']}: {WANTED[k]}")
        rows += _draw(axis, letter, k, needed, statistics[which], published[wanted["figure"]])
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], CSV_HEADER, rows)


def _draw(axis, letter: str, k: int | None, needed: np.ndarray, stats: dict, published: PublishedValue) -> list[list]:
    """Draw one panel, and return its numbers as rows of the figure's CSV."""
    n_labels = stats["n_labels"]
    half = labels_for_half(needed)
    m, fraction = coverage_curve(needed, n_labels)
    axis.step(m, fraction, where="post", color=BLUE)
    axis.plot([0, half], [0.5, 0.5], color=ORANGE, linestyle="--", linewidth=1)
    axis.plot(half, 0.5, "o", color=ORANGE, markersize=4, clip_on=False, zorder=3)
    axis.set(xlabel="Labels, most frequent first", ylabel="Fraction of training points", ylim=(0, 1.02), xlim=(0, None))
    axis.ticklabel_format(axis="x", style="sci", scilimits=(0, 4))
    # The text goes where the curve is not: below a curve that rises early, above one that rises late.
    x, y, side = (0.97, 0.06, "right") if half < 0.4 * n_labels else (0.04, 0.66, "left")
    place = {"transform": axis.transAxes, "ha": side}
    count = f"{half:,} label{'' if half == 1 else 's'}"
    axis.text(x, y + 0.18, f"half of the points need\n{count} ({half / n_labels:.2%})", **place)
    axis.text(x, y, f"in the paper, for\n{published.dataset}: {published.value}", color=GREY, **place)
    if published.dataset == stats["name"]:
        axis.plot(published.number / 100 * n_labels, 0.5, "x", color=PURPLE, label="published")
        axis.legend(loc="center right")
    if stats["simulated"]:
        mark_simulated(axis)
    source, wanted = "simulated" if stats["simulated"] else "measured", "all" if k is None else k
    half_row = ("half of the points", half, 0.5)
    rows = [
        [letter, stats["name"], source, wanted, what, count, f"{100 * count / n_labels:.6g}", f"{share:.6g}"]
        for what, count, share in [half_row, *(("curve", *point) for point in _thinned(m, fraction))]
    ]
    rows.append([letter, published.dataset, "published", wanted, half_row[0], "", f"{published.number:g}", "0.5"])
    return rows


def labels_needed(Y: sp.csr_matrix, k: int | None) -> np.ndarray:
    """For each sample, how many of the most frequent labels it takes to hold `k` of its own (labeltrees, Fig. 1 and 6).

    A sample with fewer than k labels needs all of its own, since only those can be recalled; `k=None` asks for all
    labels of every sample. Samples without labels are left out. Ties in frequency go to the lower label id.
    """
    order = np.argsort(-label_frequencies(Y), kind="stable")
    rank = np.empty(Y.shape[1], dtype=np.int64)
    rank[order] = np.arange(1, Y.shape[1] + 1)
    lengths = np.diff(Y.indptr)
    rows = np.repeat(np.arange(Y.shape[0]), lengths)
    ranks = rank[Y.indices]
    ranks = ranks[np.lexsort((ranks, rows))]
    filled = lengths > 0
    wanted = lengths if k is None else np.minimum(lengths, k)
    return ranks[Y.indptr[:-1][filled] + wanted[filled] - 1]


def labels_for_half(needed: np.ndarray) -> int:
    """How many labels, most frequent first, serve half of the samples (what Figure 6 prints, as a share)."""
    return int(np.sort(needed)[(len(needed) - 1) // 2])


def coverage_curve(needed: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Fraction of samples served by the m most frequent labels, at every m where it changes: (m, fraction)."""
    m, counts = np.unique(needed, return_counts=True)
    fractions = np.cumsum(counts) / len(needed)
    return np.concatenate([[0], m, [n_labels]]), np.concatenate([[0.0], fractions, [1.0]])


def _thinned(m: np.ndarray, fraction: np.ndarray) -> list[tuple[int, float]]:
    """Points of the curve that are about evenly spaced along both axes together."""
    along = np.cumsum(np.diff(m, prepend=0) / max(m[-1], 1) + np.diff(fraction, prepend=0))
    kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], CURVE_POINTS)).clip(max=len(m) - 1))
    return [(int(m[i]), float(fraction[i])) for i in kept]
