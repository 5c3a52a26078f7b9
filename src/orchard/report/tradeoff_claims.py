"""What labeltrees §5.1 says in words about interpolated trees, each claim judged by our runs.

Differences are those of the same λ′, means over the seeds. A point is beaten if a point of the other curve is nowhere
deeper and nowhere less precise, and better in one of both. A curve is worse than another if it is less precise on
average and more of its points are beaten: one that is only further along the same front is no worse.
"""

from statistics import mean

from orchard.report.scores import Measured, measured_row, seeds_note, signed, simulated_note
from orchard.report.tables import Table

SMALL = 1  # λ′ up to here is 'small λ > 0': by way of weighted 2-means, before f̃ has a say
VERDICTS = {True: "reproduced", False: "not reproduced"}

Curve = dict[float, Measured]  # by λ′


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
                curves.setdefault(row["row"], {})[row["at"]] = measured
                shown.append((dataset, measured))
        source = next(iter(curves["weighted"].values())).source
        for claim, (told, numbers, holds) in _judged(curves).items():
            table.rows.append([claim, dataset, source, told, VERDICTS[holds]])
            table.records += [[claim, dataset, source, name, value] for name, value in numbers.items()]
    simulated = list(dict.fromkeys(dataset for dataset, measured in shown if measured.simulated))
    table.notes = [
        *artefact.get("notes", []),
        seeds_note([measured for _, measured in shown]),
        *([simulated_note(simulated)] if simulated else []),
    ]
    return table


def _judged(curves: dict[str, Curve]) -> dict[str, tuple[str, dict[str, float], bool]]:
    """{claim: (what was measured, its numbers, whether it holds)}."""
    return {
        "small λ > 0 lowers depth@1 and loses no P@1": small_lambda(curves["weighted"]),
        **({"the same, f(λ) normalised once": small_lambda(curves["once"])} if "once" in curves else {}),
        "greedy f̃ has lower P@3 than marginal f̃": _compared(curves["weighted"], curves["greedy"], beyond=SMALL),
        "without the weighted point P@3 is lower": _compared(curves["weighted"], curves["direct"], beyond=0),
    }


def small_lambda(curve: Curve) -> tuple[str, dict[str, float], bool]:
    """The least deep of the small λ′ that lose no P@1 or, where there is none, the most precise."""
    start, small = curve[0].values, {at: one.values for at, one in curve.items() if 0 < at <= SMALL}
    kept = {at: one for at, one in small.items() if one["P@1"] >= start["P@1"]}
    at = min(kept, key=lambda at: kept[at]["depth@1"]) if kept else max(small, key=lambda at: small[at]["P@1"])
    gain, depth = small[at]["P@1"] - start["P@1"], 100 * (small[at]["depth@1"] / start["depth@1"] - 1)
    depths = f"{start['depth@1']:.2f} → {small[at]['depth@1']:.2f}"
    told = f"λ′ = {at:g}: P@1 {signed(gain)}, depth@1 {depths} ({signed(depth)} %)"
    return told, {"λ′": at, "P@1": gain, "depth@1 (%)": depth}, bool(kept) and depth < 0


def _compared(weighted: Curve, other: Curve, beyond: float) -> tuple[str, dict[str, float], bool]:
    """Another curve against the paper's own at 3, where λ′ is above `beyond`; below they are the same trees."""
    places = [at for at in weighted if at in other and at > beyond]
    precision, depth = (
        mean(other[at].values[name] - weighted[at].values[name] for at in places) for name in ("P@3", "depth@3")
    )
    lost, won = _beaten(other, weighted, places), _beaten(weighted, other, places)
    told = (
        f"P@3 {signed(precision)}, depth@3 {signed(depth)} on average over {len(places)} λ′ > {beyond:g}; "
        f"{lost} of its points are beaten, and {won} of the other curve's by it"
    )
    numbers = {"P@3": precision, "depth@3": depth, "beaten": lost, "beats": won, "points": len(places)}
    return told, numbers, precision < 0 and lost > won


def _beaten(curve: Curve, by: Curve, places: list[float]) -> int:
    """How many points of a curve are beaten by some point of another one, both at these λ′."""
    return sum(any(_beats(by[there].values, curve[at].values) for there in places) for at in places)


def _beats(one: dict[str, float], other: dict[str, float]) -> bool:
    gains = one["P@3"] - other["P@3"], other["depth@3"] - one["depth@3"]
    return min(gains) >= 0 and max(gains) > 0
