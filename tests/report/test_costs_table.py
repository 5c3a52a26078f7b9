"""Tables of costs compare every method with the backbone of the same run, and print the paper's words as they are."""

import pytest

from orchard.report.costs_table import costs_table

ARTEFACT = {
    "title": "Costs",
    "rows": [
        {"row": "XR-Linear", "method": "plain"},
        {"row": "+Ours", "setting": "λ = 2", "method": "over"},
    ],
    "notes": ["A note."],
}


def costs(dataset, simulated=False, repetitions=3):
    error = None if repetitions == 1 else 0.1  # of all times, as a share
    timed = [
        {"method": method, "train_s": train, "query_ms": query, "repetitions": repetitions}
        | {f"{key}_error": error and error * time for key, time in (("train_s", train), ("query_ms", query))}
        for method, train, query in (("plain", 2.0, 0.1), ("over", 7.0, 0.15))
    ]
    return {"dataset": dataset, "simulated": simulated, "costs": timed, "threads": 2, "load_average": 0.5}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table5.csv"
    lines = ["wiki,,XR-Linear,T_trn,0m30s,", "wiki,,XR-Linear,T_tst (ms/pts),0.7,"]
    lines += ["wiki,λ = 2,+Ours,Extra training time,5.58×,"]
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    return path


def test_extra_time_is_that_beyond_the_backbone(published):
    """7 s instead of 2 s is 2.5 times as much again, 0.15 ms instead of 0.1 ms half as much."""
    table = costs_table(ARTEFACT, [costs("small")], published)
    assert table.rows == [
        ["wiki", "", "XR-Linear", "published", "0m30s", "0.7 ms", "–", "–"],
        ["wiki", "λ = 2", "+Ours", "published", "–", "–", "5.58×", "–"],
        ["small", "", "XR-Linear", "measured", "2.00 s", "0.100 ms", "–", "–"],
        ["small", "λ = 2", "+Ours", "measured", "7.00 s", "0.150 ms", "2.50×", "0.50×"],
    ]
    # 3.5 times the backbone; 10 % of either make √2 · 10 % of that.
    assert ["small", "λ = 2", "+Ours", "measured", "Extra training time", "2.5", "0.494975", 3] in table.records
    assert table.notes[0] == "A note."
    assert "2 threads, medians of 3 repetitions" in table.notes[1]
    assert "load average when it began at most 0.5" in table.notes[1]
    assert table.notes[2] == "Published only, the data is not part of this scale: wiki."


def test_what_was_measured_once_is_no_median():
    note = costs_table(ARTEFACT, [costs("small", repetitions=1)]).notes[1]
    assert note.startswith("Measured once with 2 threads, seed 0; load average")
    records = costs_table(ARTEFACT, [costs("small", repetitions=1)]).records
    assert ["small", "λ = 2", "+Ours", "measured", "Extra training time", "2.5", "", 1] in records


def test_rows_of_a_larger_scale_are_told():
    """They have no method at this one, and no line."""
    artefact = ARTEFACT | {"rows": [*ARTEFACT["rows"], {"row": "Slow", "from": "laptop"}]}
    table = costs_table(artefact, [costs("small")])
    assert len(table.rows) == 2
    assert table.notes[1] == "Measured from the scale `laptop` on: Slow."


def test_simulated_data_is_called_so():
    """A table beyond the paper has nothing published."""
    table = costs_table(ARTEFACT, [costs("small-sim", simulated=True)])
    assert {row[3] for row in table.rows} == {"simulated"}
    assert table.notes[-1].startswith("**Simulated data")
