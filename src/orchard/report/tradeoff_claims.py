"""What labeltrees §5.1 says in words about interpolated trees, each claim judged by our runs.

Differences are those of runs with the same seed and, between curves, the same λ′; ± is their standard deviation over
the seeds, and what is smaller than that is told as such. A point is beaten if a point of the other curve is nowhere
deeper and nowhere less precise, and better in one of both. A curve is worse than another if it is less precise on
average and more of its points are beaten: one that is only further along the same front is no worse.
"""

from dataclasses import dataclass

from orchard.report.differences import BySeed, Difference
from orchard.report.scores import Measured, measured_row, metrics_by_seed, seeds_note, signed, simulated_note
from orchard.report.tables import Table

SMALL = 1  # λ′ up to here is 'small λ > 0': by way of weighted 2-means, before f̃ has a say
DEPTHS = "depth@1", "depth@3", "depth@5"
HOLDS, FAILS = "reproduced", "not reproduced"
NEARLY_HOLDS, NEARLY_FAILS = (f"{verdict}, within the spread over seeds" for verdict in (HOLDS, FAILS))


@dataclass(frozen=True)
class Point:
    """The runs at one λ′ of a curve: {seed: metrics}, and their means."""

    by_seed: BySeed
    measured: Measured

    def __getitem__(self, metric: str) -> float:
        return self.measured.values[metric]


Curve = dict[float, Point]  # by λ′


def claims_table(artefact: dict, scores: list[dict]) -> Table:
    """One line per claim and data set; the artefact's rows are the curves `weighted`, `greedy`, `direct`, `once`."""
    table = Table(
        artefact["title"],
        header=["claim", "data set", "source", "what was measured", "verdict"],
        rows=[],
        record_header=["claim", "data set", "source", "column", "value"],
    )
    shown = []
    for dataset in dict.fromkeys(score["dataset"] for score in scores):
        curves: dict[str, Curve] = {}
        for row in artefact["rows"]:
            if measured := measured_row(row, dataset, scores):
                point = Point(metrics_by_seed(row, dataset, scores), measured)
                curves.setdefault(row["row"], {})[row["at"]] = point
                shown.append((dataset, measured))
        source = next(iter(curves["weighted"].values())).measured.source
        for claim, (told, numbers, verdict) in _judged(curves).items():
            table.rows.append([claim, dataset, source, told, verdict])
            table.records += [[claim, dataset, source, name, value] for name, value in numbers.items()]
    simulated = list(dict.fromkeys(dataset for dataset, measured in shown if measured.simulated))
    table.notes = [
        *artefact.get("notes", []),
        seeds_note([measured for _, measured in shown]),
        *([simulated_note(simulated)] if simulated else []),
    ]
    return table


def _judged(curves: dict[str, Curve]) -> dict[str, tuple[str, dict[str, float], str]]:
    """{claim: (what was measured, its numbers, the verdict)}."""
    weighted, once = curves["weighted"], curves.get("once")
    return {
        "small λ > 0 lowers depth@1 and loses no P@1": less_depth(weighted, SMALL),
        **({"the same, f(λ) normalised once": less_depth(once, SMALL)} if once else {}),
        "some λ > 0 lowers depth@1 and loses no P@1": less_depth(weighted, max(weighted)),
        **({"the same for any λ, f(λ) normalised once": less_depth(once, max(once))} if once else {}),
        "greedy f̃ has lower P@3 than marginal f̃": _worse(weighted, curves["greedy"], beyond=SMALL),
        "without the weighted point P@3 is lower": _worse(weighted, curves["direct"], beyond=0),
    }


def less_depth(curve: Curve, up_to: float) -> tuple[str, dict[str, float], str]:
    """The least deep λ′ in (0, up_to] that loses no P@1 or, where there is none, the most precise."""
    start, others = curve[0], {at: point for at, point in curve.items() if 0 < at <= up_to}
    kept = {at: point for at, point in others.items() if point["P@1"] >= start["P@1"]}
    at = min(kept, key=lambda at: kept[at]["depth@1"]) if kept else max(others, key=lambda at: others[at]["P@1"])
    gain = Difference.between([(others[at].by_seed, start.by_seed)], "P@1")
    shares = {f"{name} (%)": 100 * (others[at][name] / start[name] - 1) for name in DEPTHS}
    depths = ", ".join(f"{name} {start[name]:.2f} → {others[at][name]:.2f}" for name in DEPTHS)
    told = f"λ′ = {at:g}: P@1 {gain}, {depths} ({signed(shares['depth@1 (%)'])} % at 1)"
    if others[at]["depth@1"] >= start["depth@1"]:
        verdict = FAILS
    elif kept:
        verdict = HOLDS if gain.mean >= gain.spread else NEARLY_HOLDS
    else:
        verdict = FAILS if gain.mean < -gain.spread else NEARLY_FAILS
    return told, {"λ′": at, "P@1": gain.mean, "spread of P@1": gain.spread} | shares, verdict


def _worse(weighted: Curve, other: Curve, beyond: float) -> tuple[str, dict[str, float], str]:
    """Another curve against the paper's own at 3, where λ′ is above `beyond`; below they are the same trees."""
    places = [at for at in weighted if at in other and at > beyond]
    pairs = [(other[at].by_seed, weighted[at].by_seed) for at in places]
    gaps = {name: Difference.between(pairs, name) for name in ("P@3", *DEPTHS)}
    lost, won = _beaten(other, weighted, places), _beaten(weighted, other, places)
    told = (
        f"{', '.join(f'{name} {gap}' for name, gap in gaps.items())} on average over {len(places)} λ′ > {beyond:g}; "
        f"{lost} of its points are beaten, and {won} of the other curve's by it"
    )
    precision = gaps["P@3"]
    numbers = {name: gap.mean for name, gap in gaps.items()} | {"spread of P@3": precision.spread}
    numbers |= {"beaten": lost, "beats": won, "points": len(places)}
    if precision.mean >= 0 or lost <= won:
        return told, numbers, FAILS
    return told, numbers, HOLDS if precision.mean < -precision.spread else NEARLY_FAILS


def _beaten(curve: Curve, by: Curve, places: list[float]) -> int:
    """How many points of a curve are beaten by some point of another one, both at these λ′."""
    return sum(any(_beats(by[there], curve[at]) for there in places) for at in places)


def _beats(one: Point, other: Point) -> bool:
    gains = one["P@3"] - other["P@3"], other["depth@3"] - one["depth@3"]
    return min(gains) >= 0 and max(gains) > 0
