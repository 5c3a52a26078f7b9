"""Distribution of the number of labels per sample (otseq2set, Figure 4)."""

import numpy as np

from orchard.report.plots import BLUE, ORANGE, PANEL_WIDTH, mark_simulated, new_panels, save_figure
from orchard.report.tables import write_csv


def label_count_figure(title: str, statistics: list[dict], outputs) -> None:
    """For each data set the share of training samples with at most, and with more than, the average label count."""
    figure, (panel,) = new_panels(1)
    figure.set_figwidth(max(PANEL_WIDTH, 1.5 * len(statistics)))
    panel.axhline(0.5, color="black", linewidth=0.6, linestyle=":", zorder=0)
    rows = []
    for position, stats in enumerate(statistics):
        above = share_above_average(stats["label_count_histogram"]["train"])
        source = "simulated" if stats["simulated"] else "measured"
        average = stats["labels_per_train_sample"]
        rows.append([stats["name"], source, f"{average:.4f}", f"{1 - above:.4f}", f"{above:.4f}"])
        shares = ((-0.2, 1 - above, BLUE, "at most average"), (0.2, above, ORANGE, "above average"))
        for offset, share, color, label in shares:
            bar = panel.bar(position + offset, share, width=0.38, color=color, label=None if position else label)
            text_color = "white" if color == BLUE else "black"
            panel.bar_label(bar, fmt="{:.1%}", fontsize=6, label_type="center", color=text_color)
    names = [f"{stats['title']}\naverage {stats['labels_per_train_sample']:.2f}" for stats in statistics]
    panel.set_xticks(range(len(statistics)), names)
    panel.set(ylabel="Fraction of training samples", ylim=(0, 1), title=title)
    panel.grid(visible=False)
    figure.legend(loc="outside lower center", ncols=2, title="Labels of the sample", title_fontsize=7)
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
