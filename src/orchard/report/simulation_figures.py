"""Figures of the simulations (eagle, Figures 3 and 6, and one of ours): a panel for every quantity, with error bars."""

from string import ascii_lowercase

from orchard.eagle_simulations import Curve
from orchard.report.plots import BLUE, GREY, ORANGE, new_panels, save_figure
from orchard.report.tables import write_csv

LOOKS = {
    "NoAS": {"color": ORANGE, "marker": "s"},
    "AS": {"color": BLUE, "marker": "o"},
    "T = 0, not centred": {"color": ORANGE, "marker": "^", "linestyle": "--", "markerfacecolor": "white"},
    "T = 0, centred": {"color": BLUE, "marker": "v", "linestyle": "--", "markerfacecolor": "white"},
    "T = 20, not centred": {"color": ORANGE, "marker": "s"},
    "T = 20, centred": {"color": BLUE, "marker": "o"},
}
AXES = {
    "σ₂": "σ₂: heterogeneity within a group",
    "c": "c: length of what all samples share",
    "Rel. RMS": "RMS of B̂ − B*, oracle = 1",
    "Rel. Error": "Prediction error, oracle = 1",
    "labels given to the right sample": "Labels given to the right sample",
    "cosine of embedding and truth": "Cosine of eₖ and eₖ*",
}
TICKS = {"σ₂": (0, 0.1, 0.5, 1, 2, 5, 10), "c": (0, 0.125, 0.25, 0.5, 1, 2, 4)}
WIDTH_OF_ONE = 4.2  # inches; a title needs more than a panel
CSV_HEADER = [
    "panel",
    "task",
    "quantity",
    "axis",
    "at",
    "estimator",
    "source",
    "value",
    "standard error",
    "error of the oracle",
    "repetitions",
]


def simulation_figure(artefact: dict, panels: list[tuple[str, list[Curve]]], repetitions: int, outputs) -> None:
    """Draw each quantity of each task in a panel of its own.

    panels : the name of a task and its curves, in the order in which they are drawn.
    """
    drawn = [
        (task, [curve for curve in of_task if curve.quantity == quantity])
        for task, of_task in panels
        for quantity in dict.fromkeys(curve.quantity for curve in of_task)
    ]
    figure, axes = new_panels(len(drawn))
    if len(drawn) == 1:
        figure.set_figwidth(WIDTH_OF_ONE)
    figure.set_figheight(figure.get_figheight() + 0.5)
    figure.suptitle(artefact["title"], fontsize=9)
    rows = []
    for letter, axis, (task, same) in zip(ascii_lowercase, axes, drawn, strict=False):
        if len(drawn) > 1:
            axis.set_title(f"({letter}) {task.capitalize()}")
        _draw(axis, same)
        rows += [
            [letter, task, curve.quantity, curve.axis, f"{at:g}", curve.estimator, "simulated", *numbers, repetitions]
            for curve in same
            for at, numbers in zip(curve.at, _numbers(curve), strict=True)
        ]
    handles, labels = axes[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=4)
    legend.set_title("\n".join(artefact["notes"]), prop={"size": 6.5})
    legend.get_title().set_color(GREY)
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], CSV_HEADER, rows)


def _draw(axis, same: list[Curve]) -> None:
    first = same[0]
    for curve in same:
        look = {"markersize": 4, "capsize": 2, "elinewidth": 1} | LOOKS[curve.estimator]
        axis.errorbar(curve.at, curve.value, yerr=curve.error, label=curve.estimator, **look)
    if first.oracle is not None:
        axis.axhline(1, color=GREY, linestyle=":", linewidth=1, label="oracle")
    ticks = TICKS[first.axis]
    # Linear up to the first tick and logarithmic above: the axis begins at zero.
    axis.set_xscale("symlog", linthresh=ticks[1], linscale=0.5)
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set(xlim=(-0.2 * ticks[1], 1.15 * ticks[-1]), ylim=(0, None))
    axis.set(xlabel=AXES[first.axis], ylabel=AXES[first.quantity])


def _numbers(curve: Curve) -> list[list[str]]:
    """Value, standard error and the oracle's error, for every place of the axis."""
    oracle = [""] * len(curve.at) if curve.oracle is None else [f"{error:.6g}" for error in curve.oracle]
    return [
        [f"{value:.6g}", f"{round(error, 6):g}", of_oracle]
        for value, error, of_oracle in zip(curve.value, curve.error, oracle, strict=True)
    ]
