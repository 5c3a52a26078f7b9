"""The plots of the bench: every engine beside the others, cost against the number of labels, cost of the imputation."""

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from bench import imputation_tables, settings, summary
from bench.settings import QUANTITIES
from bench.summary import Summary
from orchard.report.plots import BLUE, GREY, ORANGE, PURPLE, mark_simulated, new_panels, save_figure

_GREEN = "#009E73"  # Okabe and Ito's bluish green
_COLOURS = {"orchard": BLUE, "pecos": ORANGE, "omikuji": _GREEN, "napkinxc": PURPLE, "fasttext": GREY}
_CUT = 20  # medians; a bar that is longer is cut
_SHOWN = ("train_s", "batch_ms", "single_median_ms", "train_peak_bytes", "model_bytes", "P@1")
_SHORT_FAMILY = {"binary": "binary", "2-ary": "2-ary", "16-ary": "16-ary", "three": "3 trees", "other": ""}


def plot_peers(summaries: list[Summary], png_path, svg_path) -> None:
    """A row of panels per data set, a panel per quantity, a bar per engine; shorter is better, except for P@1."""
    datasets = list(dict.fromkeys(one.dataset for one in summaries))
    figure, axes = new_panels(len(datasets) * len(_SHOWN), columns=len(_SHOWN))
    tallest = max(sum(one.dataset == dataset for one in summaries) for dataset in datasets)
    figure.set_size_inches(2.5 * len(_SHOWN) + 1.2, (0.22 * tallest + 0.7) * len(datasets))
    quantities = {quantity.key: quantity for quantity in QUANTITIES}
    for number, panel in enumerate(axes):
        dataset, key = datasets[number // len(_SHOWN)], _SHOWN[number % len(_SHOWN)]
        here = [one for one in summaries if one.dataset == dataset]
        _draw_bars(panel, here, key, quantities.get(key))
        if number % len(_SHOWN) == 0:
            panel.set_yticks(range(len(here)), [_name(one) for one in here])
            panel.set_title(dataset, loc="left", fontweight="bold")
        else:
            panel.set_yticks(range(len(here)), [])
        if dataset.endswith("-sim"):
            mark_simulated(panel)
    save_figure(figure, png_path, svg_path)


def _draw_bars(panel, here, key, quantity):
    ends = []  # of the bars: value, place, text
    for place, one in enumerate(here):
        if not one.ok:
            panel.text(0.02, place, "failed", transform=panel.get_yaxis_transform(), va="center", fontsize=6)
            continue
        colour = _COLOURS[one.configuration.engine]
        if quantity is None:
            panel.barh(place, one.precision[key], color=colour)
            value = one.precision[key]
            text = f"{value:.1f}"
        else:
            found = one.figures[key]
            low, value, high = (part * quantity.scale for part in (found.low, found.median, found.high))
            panel.barh(place, value, color=colour)
            panel.plot([low, high], [place, place], color="black", linewidth=1)
            text = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
            value = high
        ends.append((value, place, text))
    # One engine that is a hundred times slower would make slivers of all others: its bar is cut, its number stays.
    median = np.median([value for value, _, _ in ends]) if ends else 1.0
    limit = max((value for value, _, _ in ends if value <= _CUT * median), default=1.0)
    for value, place, text in ends:
        cut = " (bar cut)" if value > limit else ""
        panel.annotate(f" {text}{cut}", (min(value, 0.8 * limit if cut else limit), place), va="center", fontsize=6)
    panel.set_ylim(len(here) - 0.4, -0.6)
    panel.set_xlim(0, 1.25 * max(limit, 1e-9))
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("P@1, %" if quantity is None else f"{quantity.title}, {quantity.unit}")


def _name(one: Summary) -> str:
    family = _SHORT_FAMILY[one.configuration.family]
    engine = one.configuration.title.partition(",")[0]
    return f"{engine}{', ' if family else ''}{family}"


def plot_labels(curve: dict[str, list[Summary]], png_path, svg_path) -> None:
    """Training, batch prediction and memory against L, in logarithms, with the fit of L log L through training."""
    shown = (
        ("train_s", "training, s", 1),
        ("batch_ms", "batch prediction, ms per sample", 1),
        ("train_peak_bytes", "peak memory of training, GB", 1e-9),
    )
    figure, axes = new_panels(len(shown), columns=len(shown))
    for panel, (key, title, scale) in zip(axes, shown, strict=True):
        for points, colour, marker in zip(curve.values(), (BLUE, ORANGE), "os", strict=False):
            labels = [settings.CURVE_DATASETS[one.dataset] for one in points]
            costs = [one.figures[key].median * scale for one in points]
            exponent = summary.fit_exponent(labels, costs)
            panel.plot(labels, costs, marker, color=colour, label=f"{_name(points[0])}: L^{exponent:.2f}")
            if key == "train_s":
                factor, _ = summary.fit_l_log_l(labels, costs)
                fit = [factor * summary.l_log_l(n) for n in labels]
                panel.plot(labels, fit, "--", color=colour, linewidth=1, label="fit of L log L")
            else:
                panel.plot(labels, costs, "-", color=colour, linewidth=1)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(top=6 * panel.get_ylim()[1])  # room for the legend
        panel.set_xlabel("labels L")
        panel.set_title(title)
        panel.legend(loc="upper left")
        mark_simulated(panel)
    save_figure(figure, png_path, svg_path)


def plot_imputation(found: list[imputation_tables.Point], png_path, svg_path) -> None:
    """Wall and CPU time against ḡ and against n, in logarithms; the lines are proportion through the first point."""
    group_curve = imputation_tables.group_curve(found)
    left = {settings.IMPUTATION_DATASET: group_curve} if group_curve else {}
    shown = (
        (left, "g", "mean size of the groups ḡ", lambda one: one.group_size),
        (imputation_tables.row_curves(found), "n", "samples n (-sim: simulated data)", lambda one: one.record["n"]),
    )
    shown = [one for one in shown if one[0]]
    figure, axes = new_panels(len(shown))
    figure.set_size_inches(3.6 * len(shown), 3.2)
    for panel, (curves, letter, label, of) in zip(axes, shown, strict=True):
        for (dataset, curve), colour, marker in zip(curves.items(), (BLUE, ORANGE, _GREEN), "os^", strict=False):
            x = [of(one) for one in curve]
            cpu, wall = ([one.figures[key].median for one in curve] for key in ("cpu_s", "seconds"))
            exponent = imputation_tables.exponent(curve, of)
            panel.plot(x, cpu, marker + "-", color=colour, label=f"{dataset}, CPU: {letter}^{exponent:.2f}")
            panel.plot(x, wall, marker + ":", color=colour, markerfacecolor="white")
            panel.plot(x, [cpu[0] * value / x[0] for value in x], "--", color=GREY, linewidth=1)
        panel.plot([], [], "o:", color=GREY, markerfacecolor="white", label=f"wall time, {settings.THREADS} threads")
        panel.plot([], [], "--", color=GREY, linewidth=1, label="proportional to the first point (CPU)")
        panel.set_xscale("log")
        panel.set_yscale("log")
        if letter == "g":
            panel.set_xticks([round(of(one)) for one in group_curve])
        else:
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(top=(4 if letter == "g" else 12) * panel.get_ylim()[1])  # room for the legend
        panel.set_xlabel(label)
        panel.set_ylabel("imputation, s")
        panel.legend(loc="upper left")
    save_figure(figure, png_path, svg_path)
