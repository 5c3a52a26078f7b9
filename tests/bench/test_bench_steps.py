"""The table of training steps: ratios with their bars, by hand; and what is measured again."""

from copy import deepcopy

import pytest

from bench import settings, steps

MEASURED = [
    {
        "size": "small",
        "edition": "1",
        "dataset": "d",
        "load_average": 0.5,
        "steps": [
            {"method": "seq2seq", "loss": "its own", "step_ms": 100.0, "matching_ms": 0.0, "transport_ms": 0.0},
            {"method": "sgm", "loss": "its own", "step_ms": 140.0, "matching_ms": 0.0, "transport_ms": 0.0},
            {"method": "bm-all-ot", "loss": "its own", "step_ms": 120.0, "matching_ms": 1.0, "transport_ms": 5.0},
            {"method": "bm-all-ot", "loss": "cross-entropy", "step_ms": 110.0, "matching_ms": 1.0, "transport_ms": 0.0},
            {
                "method": "bm-all-ot",
                "loss": "sample by sample",
                "step_ms": 150.0,
                "matching_ms": 9.0,
                "transport_ms": 21,
            },
        ],
    }
]


def test_ratios_and_bars():
    table = steps.table(MEASURED, {"small": "1"})
    assert table.rows == [
        ["small", "seq2seq", "its own", "100", "", "", "", "", ""],
        ["small", "sgm", "its own", "140", "", "", "", "", "1.4"],
        ["small", "bm-all-ot", "its own", "120", "1.00", "5.00", "5 ✓", "1.09 ✓", "1.2 ✓"],
        ["small", "bm-all-ot", "cross-entropy", "110", "1.00", "", "", "", "1.1"],
        ["small", "bm-all-ot", "sample by sample", "150", "9.00", "21.0", "20", "1.36", "1.5"],
    ]
    assert "Load average at most 0.5" in table.notes[0]
    slower = deepcopy(MEASURED)
    slower[0]["steps"][2]["step_ms"] = 130.0
    assert steps.table(slower, {"small": "1"}).rows[2][6:] == ["4.62 ✓", "1.18 ✗", "1.3 ✗"]


def test_a_measurement_of_older_networks_is_told():
    assert len(steps.table(MEASURED, {"small": "1"}).notes) == 1
    assert steps.table(MEASURED, {"small": "2"}).notes[1].endswith("or of the bench: small.")


def test_only_what_is_not_current_is_measured_again(monkeypatch, tmp_path):
    monkeypatch.setattr(steps, "FILE", tmp_path / "steps.json")
    monkeypatch.setattr(steps, "edition", lambda size: size["edition"])
    measured = []
    monkeypatch.setattr(steps, "measure_size", lambda size, edition: measured.append(size) or {"size": size})
    sizes = [{"size": "small", "edition": "1"}, {"size": "large", "edition": "1"}]
    steps.measure(sizes, fresh=False)
    steps.measure(sizes, fresh=False)
    assert measured == ["small", "large"]
    steps.measure([{"size": "small", "edition": "2"}, sizes[1]], fresh=False)
    assert measured == ["small", "large", "small"]
    steps.measure(sizes, fresh=True)
    assert measured[3:] == ["small", "large"]


def test_an_edition_knows_the_settings_of_the_methods(monkeypatch):
    one = settings.STEP_SIZES[0]
    before = steps.edition(one)
    assert steps.edition(one) == before
    assert steps.edition(one | {"parameters": {"hidden": 8}}) != before
    estimators = steps.estimators_of(one["dataset"], {})
    assert estimators["bm-all-ot"][1]["transport"] == 8.0
    assert estimators["bm-all-ot"][1]["hidden"] == 64
    monkeypatch.setattr(steps, "estimators_of", lambda *_: estimators | {"sgm": ("another", {})})
    assert steps.edition(one) != before


def test_nothing_measured_is_no_table():
    assert not steps.table(None, {}).rows


def test_sizes_are_chosen_by_data_set():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    assert steps.plan(None) == settings.STEP_SIZES
    assert [one["dataset"] for one in steps.plan(("reuters-21578",))] == ["reuters-21578"]
    assert steps.plan(("eurlex-4k",)) == []
