"""Distribution of the number of labels per sample (otseq2set, Figure 4)."""

import numpy as np

from orchard.report.plots import BLUE, ORANGE, mark_simulated, new_panels, save_figure
from orchard.report.tables import write_csv


def label_count_figure(statistics: list[dict], outputs) -> None:
    """For each data set the share of training samples with at most, and with more than, the average label count."""
    figure, (panel,) = new_panels(1)
    rows = []
    for position, stats in enumerate(statistics):
        above = share_above_average(stats["label_count_histogram"]["train"])
        source = "simulated" if stats["simulated"] else "measured"
        rows.append(
            [stats["name"], source, f"{stats['labels_per_train_sample']:.4f}", f"{1 - above:.4f}", f"{above:.4f}"]
        )
        for offset, share, color, label in (
            (-0.2, 1 - above, BLUE, "at most average"),
            (0.2, above, ORANGE, "above average"),
        ):
            bar = panel.bar(position + offset, share, width=0.38, color=color, label=label if position == 0 else None)
            panel.bar_label(bar, fmt="{:.1%}", fontsize=6)
    panel.axhline(0.5, color="black", linewidth=0.6, linestyle=":")
    panel.set_xticks(range(len(statistics)), [stats["title"].replace(" (", "\n(") for stats in statistics])
    panel.set(ylabel="Fraction of training samples", ylim=(0, 1.15), title="Samples by their number of labels")
    panel.grid(axis="x", visible=False)
    panel.legend(loc="upper center", ncols=2)
    if any(stats["simulated"] for stats in statistics):
        mark_simulated(panel)
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], ["data set", "source", "labels per sample", "at most average", "above average"], rows)


def share_above_average(histogram: list[int]) -> float:
    """Share of samples with more labels than the average sample (otseq2set, Fig. 4's `gt average`)."""
    counts = np.asarray(histogram)
    sizes = np.arange(len(counts))
    average = (sizes * counts).sum() / counts.sum()
    return float(counts[sizes > average].sum() / counts.sum())
