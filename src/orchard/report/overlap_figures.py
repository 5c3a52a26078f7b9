"""What overlapping clusters bring (disentangle, Figures 2 and 3): by how labels were entangled, and by λ.

The paper prints no numbers of these figures, so nothing published is drawn; its words about them are in the notes.
"""

from statistics import mean, stdev

from orchard.report.plots import BLUE, ORANGE, PURPLE, explain, mark_simulated, new_panels, save_figure
from orchard.report.scores import metrics_by_seed, seeds_told
from orchard.report.tables import write_csv

LOOKS = {"easy": (BLUE, "o"), "medium": (ORANGE, "s"), "hard": (PURPLE, "^")}
PLACES = {"k": "Labels fused into one, k", "beam": "Clusters that the matcher keeps (beam)"}
GAIN_HEADER = ["metric", "gain (%)", "spread", "XR-Linear", "+Ours", "seeds"]
SWEEP_HEADER = ["data set", "source", "λ", "metric", "value", "spread", "run", "seeds"]


def gain_figure(artefact: dict, scores: list[dict], outputs, by: str) -> None:
    """Relative gain of the second row over the first, a curve for every mode of entanglement.

    by : one of PLACES, what `at` is; `axis` is the mode.  A gain is one of the same seed: same fusion, same tree.
    """
    metric = artefact["metrics"][0]
    base_name, own_name = dict.fromkeys(row["row"] for row in artefact["rows"])
    base, own = ({_place(row): row for row in artefact["rows"] if row["row"] == name} for name in (base_name, own_name))
    datasets = list(dict.fromkeys(score["dataset"] for score in scores))
    figure, axes = new_panels(len(datasets))
    records = []
    for panel, dataset in zip(axes, datasets, strict=True):
        points = {}
        for place in own:
            before, after = (_by_seed(rows[place], dataset, scores, metric) for rows in (base, own))
            seeds = sorted(before.keys() & after.keys())
            if seeds:
                gains = [100 * (after[seed] / before[seed] - 1) for seed in seeds]
                points[place] = mean(gains), _spread(gains)
                values = (f"{mean(one[seed] for seed in seeds):.6g}" for one in (before, after))
                told = [f"{points[place][0]:.6g}", f"{points[place][1]:.6g}", *values, " ".join(map(str, seeds))]
                records.append([dataset, _source(dataset, scores), *place, metric, *told])
        for mode, (color, marker) in LOOKS.items():
            places, gains, spreads = _curve({at: one for (own_mode, at), one in points.items() if own_mode == mode})
            if places:
                panel.errorbar(places, gains, spreads, color=color, marker=marker, markersize=4, capsize=2, label=mode)
        panel.axhline(0, color="black", linewidth=0.6)
        ticks = sorted({at for _, at in points})
        panel.set(title=dataset, xlabel=PLACES[by], ylabel=f"Relative gain in {metric} (%)", xticks=ticks)
        panel.set_xlim(ticks[0] - 0.5, ticks[-1] + 0.5)
        _mark(panel, dataset, scores)
    explain(figure, axes[0], artefact["title"], [*artefact.get("notes", []), seeds_told(scores)])
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], ["data set", "source", "mode", by, *GAIN_HEADER], records)


def sweep_figure(artefact: dict, scores: list[dict], outputs) -> None:
    """A metric against λ, the rows' `at`; 0 is the backbone, whose value a line carries on."""
    metric = artefact["metrics"][0]
    datasets = list(dict.fromkeys(score["dataset"] for score in scores))
    figure, axes = new_panels(len(datasets))
    records = []
    for panel, dataset in zip(axes, datasets, strict=True):
        points = {}
        for row in artefact["rows"]:
            if values := _by_seed(row, dataset, scores, metric):
                points[row["at"]] = mean(values.values()), _spread(list(values.values()))
                told = [f"{points[row['at']][0]:.6g}", f"{points[row['at']][1]:.6g}", row["method"]]
                records.append(
                    [dataset, _source(dataset, scores), row["at"], metric, *told, " ".join(map(str, sorted(values)))]
                )
        places, heights, spreads = _curve(points)
        panel.errorbar(places, heights, spreads, color=BLUE, marker="o", markersize=4, capsize=2, label="+Ours")
        panel.axhline(points[0][0], color=ORANGE, linestyle="--", linewidth=1, label="XR-Linear (λ = 0)")
        panel.set(title=dataset, xlabel="λ, clusters of a label at most", ylabel=f"{metric} (%)", xticks=places)
        _mark(panel, dataset, scores)
    explain(figure, axes[0], artefact["title"], [*artefact.get("notes", []), seeds_told(scores)])
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], SWEEP_HEADER, records)


def _place(row: dict) -> tuple[str, int]:
    return row["axis"], row["at"]


def _by_seed(row: dict, dataset: str, scores: list[dict], metric: str) -> dict[int, float]:
    return {seed: metrics[metric] for seed, metrics in metrics_by_seed(row, dataset, scores).items()}


def _spread(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def _curve(points: dict[int, tuple[float, float]]) -> tuple[list, list, list | None]:
    """Places, heights and spreads in the order of the places; no spreads where every point is of one seed."""
    places = sorted(points)
    heights, spreads = ([points[place][part] for place in places] for part in (0, 1))
    return places, heights, spreads if any(spreads) else None


def _source(dataset: str, scores: list[dict]) -> str:
    simulated = next(score["simulated"] for score in scores if score["dataset"] == dataset)
    return "simulated" if simulated else "measured"


def _mark(panel, dataset: str, scores: list[dict]) -> None:
    if _source(dataset, scores) == "simulated":
        mark_simulated(panel)
