"""Label imbalance (labeltrees, Figures 1 and 6): what share of the samples the most frequent labels serve."""

import numpy as np
import scipy.sparse as sp

from orchard.data.statistics import label_frequencies
from orchard.report.plots import BLUE, GREY, ORANGE, PURPLE, mark_simulated, new_panels, save_figure
from orchard.report.published import read_published
from orchard.report.tables import write_csv

WANTED = {1: "one label per point", 3: "three labels per point", None: "all labels"}
ON_WHITE = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1}


def imbalance_figure(
    panels: list[dict], labels: list[sp.csr_matrix], statistics: list[dict], published_csv, outputs
) -> None:
    """Draw the panels that artefacts.yaml lists; the published share of labels is written in, with its data set.

    labels, statistics : Y_train and stats.json of the data sets at hand.
    """
    published_shares = {
        value.setting: value for value in read_published(published_csv) if value.metric == "most frequent labels"
    }
    figure, axes = new_panels(len(panels))
    rows = []
    for letter, panel, wanted in zip("abcdefgh", axes, panels, strict=False):
        which, published = min(wanted["dataset"], len(labels) - 1), published_shares[wanted["figure"]]
        stats, k = statistics[which], None if wanted["labels"] == "all" else wanted["labels"]
        needed = labels_needed(labels[which], k)
        share = label_share_for_half(needed, stats["n_labels"])
        m, fraction = coverage_curve(needed, stats["n_labels"])
        panel.step(m, fraction, where="post", color=BLUE)
        panel.plot([0, share * stats["n_labels"]], [0.5, 0.5], color=ORANGE, linestyle="--", linewidth=1)
        panel.plot(share * stats["n_labels"], 0.5, "o", color=ORANGE, markersize=4)
        panel.set(
            title=f"({letter}) {stats['title']}: {WANTED[k]}",
            xlabel="Labels, most frequent first",
            ylabel="Fraction of data points",
            ylim=(0, 1.02),
            xlim=(0, None),
        )
        panel.ticklabel_format(axis="x", style="sci", scilimits=(0, 4))
        panel.text(
            0.97, 0.32, f"50% of data points need\n{share:.2%} of the labels", transform=panel.transAxes, ha="right",
            bbox=ON_WHITE,
        )  # fmt: skip
        panel.text(
            0.97, 0.16, f"published for {published.dataset}: {published.value}", transform=panel.transAxes, ha="right",
            color=GREY, bbox=ON_WHITE,
        )  # fmt: skip
        if published.dataset == stats["name"]:
            panel.plot(published.number / 100 * stats["n_labels"], 0.5, "x", color=PURPLE, label="published")
            panel.legend(loc="center right")
        if stats["simulated"]:
            mark_simulated(panel)
        rows.append(
            [
                letter,
                stats["name"],
                "simulated" if stats["simulated"] else "measured",
                "all" if k is None else k,
                f"{100 * share:.4f}",
                published.dataset,
                published.value,
            ]
        )
    save_figure(figure, outputs["png"], outputs["svg"])
    header = ["panel", "data set", "source", "labels wanted", "% of labels for 50% of data points"]
    write_csv(outputs["csv"], [*header, "published for", "published"], rows)


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


def coverage_curve(needed: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Fraction of samples served by the m most frequent labels, at every m where it changes: (m, fraction)."""
    m, counts = np.unique(needed, return_counts=True)
    fractions = np.cumsum(counts) / len(needed)
    return np.concatenate([[0], m, [n_labels]]), np.concatenate([[0.0], fractions, [1.0]])


def label_share_for_half(needed: np.ndarray, n_labels: int) -> float:
    """The share of labels (most frequent first) that serves half of the samples, as Figure 6 prints it."""
    return float(np.sort(needed)[(len(needed) - 1) // 2]) / n_labels
