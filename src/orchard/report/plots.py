"""How every plot of Orchard looks, and how it is written: the same bytes for the same numbers."""

import textwrap

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from orchard.files import atomic_file
from orchard.report.hover import values_on_hover

# Okabe and Ito's palette, which people with any kind of colour vision tell apart.
BLUE, ORANGE, PURPLE, GREY = "#0072B2", "#E69F00", "#CC79A7", "#777777"
GREEN, RED = "#009E73", "#D55E00"

LEGEND_SIZE, LEGEND_COLUMNS, LEGEND_MARK = 7, 3, 9  # points, at most, letters that a mark and its margins take
STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "figure.constrained_layout.use": True,
    "font.size": 8,
    "grid.alpha": 0.3,
    "legend.fontsize": LEGEND_SIZE,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "orchard",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}
TITLE_SIZE, NOTE_SIZE = 9, 6  # points
PANEL_WIDTH, PANEL_HEIGHT = 3.3, 2.4  # inches: one column of a paper


def new_panels(count: int, columns: int = 2):
    """A figure with `count` panels in at most `columns` columns; returns (figure, list of axes)."""
    plt.rcParams.update(STYLE)
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(PANEL_WIDTH * columns, PANEL_HEIGHT * rows), squeeze=False)
    for unused in axes.flat[count:]:
        unused.set_axis_off()
    return figure, list(axes.flat[:count])


def wrapped(text: str, figure, size: float) -> str:
    """A text in as many lines as it takes to fit into the width of a figure; size : of the font, in points."""
    return textwrap.fill(text, letters_per_line(figure, size))


def letters_per_line(figure, size: float) -> int:
    letter = 0.55 * size  # as wide as letters are on average, and some more
    return int(72 * figure.get_figwidth() / letter)


def explain(figure, panel, title: str, notes: list[str]) -> None:
    """The title above all panels; what the panel's curves are and the notes below. The figure grows by as much."""
    handles, labels = panel.get_legend_handles_labels()
    explain_marks(figure, dict(zip(labels, handles, strict=True)), title, notes)


def explain_marks(figure, marks: dict, title: str, notes: list[str]) -> None:
    """`explain` for {what it is: what a legend shows of it}, from whatever panels; there may be none."""
    title = wrapped(title, figure, TITLE_SIZE)
    told = "\n".join(wrapped(note, figure, NOTE_SIZE) for note in notes)
    figure.suptitle(title, fontsize=TITLE_SIZE)
    widest = max(map(len, marks), default=0) + LEGEND_MARK  # in letters
    columns = max(1, min(len(marks), LEGEND_COLUMNS, letters_per_line(figure, LEGEND_SIZE) // widest))
    legend = figure.legend(marks.values(), marks.keys(), loc="outside lower center", ncols=columns)
    legend.set_title(told, prop={"size": NOTE_SIZE})
    legend.get_title().set_color(GREY)
    n_rows = -(-len(marks) // columns)
    points = (1 + title.count("\n")) * TITLE_SIZE + (1 + n_rows + told.count("\n")) * NOTE_SIZE
    figure.set_figheight(figure.get_figheight() + 1.3 * points / 72)


def mark_simulated(axes, color: str = GREY, alpha: float = 0.25) -> None:
    """Nobody may take generated data for a real result: say so across the panel."""
    axes.text(
        0.5, 0.5, "simulated data", transform=axes.transAxes, ha="center", va="center", rotation=20, fontsize=16,
        color=color, alpha=alpha,
    )  # fmt: skip


def save_figure(figure, png_path, svg_path) -> None:
    """Write PNG and SVG without dates or version strings; the SVG tells the values of what the pointer is on."""
    with atomic_file(png_path) as temporary:
        figure.savefig(temporary, format="png", dpi=200, metadata={"Software": None})
    with atomic_file(svg_path) as temporary, values_on_hover(figure, temporary):
        figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
