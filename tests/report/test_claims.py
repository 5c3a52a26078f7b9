"""Claims are judged seed by seed, by real data, against the bound that they state; what cannot be judged says why."""

import json

import pytest

from orchard.config import load_checked
from orchard.errors import ConfigError
from orchard.files import write_json
from orchard.report.claim_checks import Known, check_claims
from orchard.report.claim_expressions import parse_expression
from orchard.report.claim_files import judge_all, needs_records
from orchard.report.claim_records import NotMeasured, Records
from orchard.report.claim_sources import AS_IN_THE_PAPER, ArtefactValues
from orchard.report.claims import Claim, judge
from orchard.report.claims_report import CSV_HEADER, for_terminal, markdown, records
from orchard.report.published import read_published

SCHEMA = "config/schemas/claims.schema.yaml"
ARTEFACT = {
    "title": "Toy",
    "kind": "table",
    "datasets": {
        "smoke": ["toy-sim"],
        "demo": ["small"],
        "laptop": ["small", "other"],
        "paper": ["small", "large"],
    },
    "metrics": ["P@1", "P@3"],
    "rows": [
        {"row": "Oracle", "method": "parabel", "variant": "clean", "setting": "R-4"},
        {"row": "Baseline", "method": "parabel"},
        {"row": "EAGLE", "method": "eagle", "not_run_on": {"other": "it is too large"}},
        {"row": "Late", "method": "late", "from": "paper"},
        {"row": "Never", "not_run": "it needs a GPU"},
    ],
    "settings": [
        {"setting": "R-4", "variant": "aggregated/random-4"},
        {"setting": "R-10", "variant": "aggregated/random-10"},
        {"setting": "C", "variant": "aggregated/clustered-8", "from": "paper"},
    ],
    "seeds": {"smoke": [0], "demo": [0], "laptop": [0, 1, 2], "paper": [0, 1, 2]},
}
CURVE = {
    "title": "Curve",
    "kind": "figure",
    "datasets": {scale: ["small"] for scale in ("smoke", "demo", "laptop", "paper")},
    "metrics": ["P@1"],
    "sweep": {"smoke": [0], "demo": [0, 1], "laptop": [0, 0.5, 1], "paper": [0, 0.5, 1]},
    "rows": [{"row": "trees", "method": "trees@*"}, {"row": "Huffman", "method": "huffman"}],
    "seeds": {"smoke": [0], "demo": [0], "laptop": [0, 1, 2], "paper": [0, 1, 2]},
}
STATISTICS = {
    "title": "Statistics",
    "kind": "table",
    "datasets": ARTEFACT["datasets"],
    "columns": [{"published": "L", "measured": "n_labels"}, {"published": "N", "measured": "n_train"}],
}
SIMULATION = {
    "title": "Simulation",
    "kind": "figure",
    "simulation": {
        "panels": [{"task": "regression", "sigma_2": [0.0, 1.0]}, {"task": "classification", "sigma_2": [1.0]}]
    },
}
ARTEFACTS = {"table2": ARTEFACT, "fig3": CURVE, "table1": STATISTICS, "fig6": SIMULATION}
METRICS = {"P@1", "P@3", "depth@1"}
REGISTRY = {
    "small": {"simulated": False},
    "other": {"simulated": False},
    "large": {"simulated": False, "by_hand": True},
}
OF_SETTING = {"R-4": "aggregated/random-4", "R-10": "aggregated/random-10", "clean": "clean"}
PUBLISHED = """dataset,setting,method,metric,value,note
small,R-4,EAGLE,P@1,81.00,
small,R-4,Baseline,P@1,79.50,
small,R-10,EAGLE,P@1,70.00,
small,R-10,Baseline,P@1,-,
large,R-4,EAGLE,P@1,50.00,
large,R-4,Baseline,P@1,52.00,
gone,R-4,EAGLE,P@1,1.00,
"""
METHODS = {"Oracle": "parabel", "Baseline": "parabel", "EAGLE": "eagle"}


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "table2.csv").write_text(PUBLISHED, encoding="utf-8")
    (folder / "table1.csv").write_text(
        'dataset,setting,method,metric,value,note\nsmall,,,L,"3,993",\n', encoding="utf-8"
    )
    return folder


def runs(row, by_seed, dataset="small", setting="R-4", metric="P@1", simulated=False):
    """The scores of a row, one for every seed."""
    return [
        {
            "dataset": dataset,
            "variant": OF_SETTING[setting],
            "method": METHODS.get(row, row),
            "seed": seed,
            "simulated": simulated,
            "metrics": {metric: value},
        }
        for seed, value in enumerate(by_seed)
        if value is not None
    ]


def table2(scores, datasets=("small",), scale="laptop", artefact=ARTEFACT):
    return ArtefactValues("toy-table2", artefact, scale, list(datasets), METRICS, scores)


def claim(expression, **entry):
    entry = {"says": "It is so.", "where": "Section 1", "artefact": "table2", "datasets": ["small"]} | entry
    return Claim.of("toy", "it-is-so", entry | {"expression": expression})


def judged(a_claim, values, printed=()):
    return judge(a_claim, values, list(printed), REGISTRY)


AT_R4 = {"for_every": {"setting": ["R-4"], "metric": ["P@1"]}}


# --- one place ------------------------------------------------------------------------------------


def test_seeds_are_paired_so_that_what_they_share_cancels():
    """Gaps are 1.0, 1.1 and 0.9 though seeds differ by ten points: mean 1, margin 4.3027 · 0.1 / √3 = 0.2484."""
    scores = runs("EAGLE", [71.0, 81.1, 60.9]) + runs("Baseline", [70.0, 80.0, 60.0])
    verdict = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(scores))
    (place,) = verdict["on"][0]["places"]
    assert verdict["verdict"] == "reproduced" and verdict["basis"] == "paper's data"
    assert (place["mean"], place["margin"], place["seeds"]) == (
        pytest.approx(1.0),
        pytest.approx(0.248414, abs=1e-5),
        3,
    )
    assert (place["left"], place["right"]) == (pytest.approx(71.0), pytest.approx(70.0))
    assert verdict["on"][0]["measured"] == "P@1 +1.00 ± 0.25"


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [((1.0, 1.1, 0.9), "reproduced"), ((-1.0, -1.1, -0.9), "not reproduced"), ((1.0, -1.0, 0.5), "inconclusive")],
)
def test_the_interval_decides(gaps, verdict):
    scores = runs("EAGLE", [70 + gap for gap in gaps]) + runs("Baseline", [70.0] * 3)
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(scores))
    assert told["verdict"] == verdict
    assert ("the interval contains the bound" in told["reason"]) == (verdict == "inconclusive")


def test_only_seeds_that_both_have_count():
    """Seed 2 of the Baseline is missing; two seeds are fewer than three, whatever they say."""
    scores = runs("EAGLE", [75.0, 75.1, 10.0]) + runs("Baseline", [70.0, 70.0, None])
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(scores))
    assert (told["verdict"], told["reason"]) == ("inconclusive", "2 of the 3 seeds that it takes")
    assert told["on"][0]["places"][0]["mean"] == pytest.approx(5.05)
    assert judged(claim("[EAGLE] > [Baseline]", seeds=2, **AT_R4), table2(scores))["verdict"] == "reproduced"


def test_rows_without_a_common_seed_are_not_compared():
    scores = runs("EAGLE", [75.0]) + runs("Baseline", [None, 70.0])
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(scores))
    assert (told["verdict"], told["reason"]) == ("not run", "small: no seed that all rows were run with")


def test_one_seed_is_judged_by_the_sign_only_where_the_claim_takes_one():
    scores = runs("EAGLE", [70.5]) + runs("Baseline", [70.0])
    assert judged(claim("[EAGLE] > [Baseline]", seeds=1, **AT_R4), table2(scores))["verdict"] == "reproduced"
    assert judged(claim("[EAGLE] < [Baseline]", seeds=1, **AT_R4), table2(scores))["verdict"] == "not reproduced"
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(scores))
    assert (told["verdict"], told["reason"]) == ("inconclusive", "1 of the 3 seeds that it takes")


@pytest.mark.parametrize(
    ("expression", "tolerance", "verdict"),
    [
        ("[EAGLE] > [Baseline]", 0, "not reproduced"),  # 69.5 against 70
        ("[EAGLE] > [Baseline]", 0.6, "reproduced"),
        ("[EAGLE] > [Baseline]", 0.5, "not reproduced"),  # strict: the bound itself is no longer in it
        ("[EAGLE] >= [Baseline]", 0.5, "reproduced"),
        ("[Baseline] < [EAGLE]", 0.6, "reproduced"),
        ("abs([EAGLE] - [Baseline]) <= 0", 2, "reproduced"),
        ("abs([EAGLE] - [Baseline]) <= 0", 0.4, "not reproduced"),
    ],
)
def test_a_tolerance_widens_the_bound(expression, tolerance, verdict):
    scores = runs("EAGLE", [69.5] * 3) + runs("Baseline", [70.0] * 3)
    assert judged(claim(expression, tolerance=tolerance, **AT_R4), table2(scores))["verdict"] == verdict


@pytest.mark.parametrize(
    ("deviations", "verdict"),
    [
        ((-0.5, 0.0, 0.5), "reproduced"),  # the mean is exact, its interval ± 1.24 within the tolerance
        ((-1.9, 1.9, -1.9), "inconclusive"),  # never off by more, but the mean may well be
        ((3.0, 3.1, 2.9), "not reproduced"),
        ((-3.0, -3.1, -2.9), "not reproduced"),
    ],
)
def test_a_distance_is_judged_by_the_interval_of_the_difference(deviations, verdict):
    scores = [*runs("EAGLE", [70 + one for one in deviations]), *runs("Baseline", [70.0] * 3)]
    told = judged(claim("abs([EAGLE] - [Baseline]) <= 0", tolerance=2, **AT_R4), table2(scores))
    assert told["verdict"] == verdict


@pytest.mark.parametrize(
    ("deviations", "verdict"),
    [
        ((6.0, 6.1, 5.9), "reproduced"),
        ((-6.0, -6.1, -5.9), "reproduced"),
        ((6.0, -6.0, 6.0), "inconclusive"),  # far apart with every seed, but in no direction
        ((0.1, -0.1, 0.0), "not reproduced"),
    ],
)
def test_a_large_distance_takes_one_direction(deviations, verdict):
    scores = [*runs("EAGLE", [70 + one for one in deviations]), *runs("Baseline", [70.0] * 3)]
    assert judged(claim("abs([EAGLE] - [Baseline]) > 5", **AT_R4), table2(scores))["verdict"] == verdict


def test_equal_sides_fulfil_no_strict_comparison():
    scores = runs("EAGLE", [70.0] * 3) + runs("Baseline", [70.0] * 3)
    assert judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(scores))["verdict"] == "not reproduced"
    assert judged(claim("[EAGLE] >= [Baseline]", **AT_R4), table2(scores))["verdict"] == "reproduced"


def test_arithmetic_is_that_of_schools():
    expression = parse_expression("100 * ([a] / [b] − 1) >= -mean([a], [b]) + max(1, [c | at=2]) - min([a], 2)")
    assert [str(one) for one in expression.operands] == ["[a]", "[b]", "[a]", "[b]", "[c | at=2]", "[a]"]
    left, right = expression.sides([3.0, 2.0, 3.0, 2.0, 7.0, 3.0])
    assert (left, right) == (pytest.approx(50.0), pytest.approx(-2.5 + 7 - 2))
    assert expression.slack(left, right) == pytest.approx(47.5)


def test_a_division_by_a_measured_zero_is_told():
    scores = runs("EAGLE", [1.0] * 3) + runs("Baseline", [0.0] * 3)
    told = judged(claim("[EAGLE] / [Baseline] > 1", **AT_R4), table2(scores))
    assert told["reason"] == "small: it divides by a measured 0"


# --- several places -------------------------------------------------------------------------------


def at_both(eagle_4, eagle_10, baseline=70.0):
    return [
        *(runs("EAGLE", [eagle_4] * 3) + runs("Baseline", [baseline] * 3)),
        *runs("EAGLE", [eagle_10] * 3, setting="R-10"),
        *runs("Baseline", [baseline] * 3, setting="R-10"),
    ]


BOTH = {"setting": ["R-4", "R-10"]}


@pytest.mark.parametrize(
    ("eagle_4", "eagle_10", "every", "some"),
    [
        (72, 71, "reproduced", "reproduced"),
        (72, 69, "not reproduced", "reproduced"),
        (68, 69, "not reproduced", "not reproduced"),
    ],
)
def test_every_place_and_some_place(eagle_4, eagle_10, every, some):
    values = table2(at_both(eagle_4, eagle_10))
    for_every = judged(claim("[EAGLE | metric=P@1] > [Baseline | metric=P@1]", for_every=BOTH), values)
    for_some = judged(claim("[EAGLE | metric=P@1] > [Baseline | metric=P@1]", for_some=BOTH), values)
    assert (for_every["verdict"], for_some["verdict"]) == (every, some)


def test_the_worst_place_is_told_and_for_some_the_best():
    values = table2(at_both(72, 71))
    every = judged(claim("[EAGLE] > [Baseline]", for_every=BOTH | {"metric": ["P@1"]}), values)
    some = judged(claim("[EAGLE] > [Baseline]", for_some=BOTH | {"metric": ["P@1"]}), values)
    assert every["on"][0]["measured"] == "P@1 +1.00 ± 0.00 (worst of 2 places: R-10, P@1)"
    assert some["on"][0]["measured"] == "P@1 +2.00 ± 0.00 (best of 2 places: R-4, P@1)"


def test_for_every_one_some_other():
    """For every metric there must be a setting; P@3 has none."""
    scores = at_both(72, 69)
    for score in scores:
        score["metrics"]["P@3"] = 50.0
    entry = {"for_every": {"metric": ["P@1", "P@3"]}, "for_some": BOTH}
    assert judged(claim("[EAGLE] > [Baseline]", **entry), table2(scores))["verdict"] == "not reproduced"
    entry["for_every"] = {"metric": ["P@1"]}
    assert judged(claim("[EAGLE] > [Baseline]", **entry), table2(scores))["verdict"] == "reproduced"


def test_an_average_is_taken_before_the_comparison():
    """+3 and −1 are +1 on average, though the claim fails in one of both."""
    entry = {"on_average": BOTH, "for_every": {"metric": ["P@1"]}}
    told = judged(claim("[EAGLE] > [Baseline]", **entry), table2(at_both(73, 69)))
    (place,) = told["on"][0]["places"]
    assert (told["verdict"], place["left"], place["mean"]) == ("reproduced", 71.0, 1.0)


def test_distances_do_not_cancel_out_in_an_average():
    """+5 at one place and −5 at the other are 5 apart on average."""
    entry = {"on_average": BOTH, "for_every": {"metric": ["P@1"]}, "tolerance": 0.5}
    told = judged(claim("abs([EAGLE] - [Baseline]) <= 0", **entry), table2(at_both(75, 65)))
    (place,) = told["on"][0]["places"]
    assert (told["verdict"], place["left"]) == ("not reproduced", 5.0)


def test_of_several_expressions_all_must_hold():
    expressions = ["[EAGLE] > [Baseline]", "[EAGLE] < [Baseline] + 1"]
    assert judged(claim(expressions, **AT_R4), table2(at_both(70.5, 0)))["verdict"] == "reproduced"
    told = judged(claim(expressions, **AT_R4), table2(at_both(72, 0)))
    assert told["verdict"] == "not reproduced"
    assert told["on"][0]["measured"].endswith("(worst of 2 places: R-4, P@1, [EAGLE] < [Baseline] + 1)")


def test_places_that_were_not_run_leave_open_what_the_others_do_not_decide():
    entry = {"for_every": {"setting": ["R-4", "C"], "metric": ["P@1"]}}
    told = judged(claim("[EAGLE] > [Baseline]", **entry), table2(at_both(72, 71)))
    assert told["verdict"] == "inconclusive"
    assert told["reason"] == "1 of 2 places not run: EAGLE (C) is run from the scale `paper` on"
    assert judged(claim("[EAGLE] < [Baseline]", **entry), table2(at_both(72, 71)))["verdict"] == "not reproduced"


def test_the_oracle_stands_beside_all_settings():
    scores = [*at_both(72, 71), *runs("Oracle", [80.0] * 3, setting="clean")]
    told = judged(claim("[Oracle] - [EAGLE] < 9", for_every=BOTH | {"metric": ["P@1"]}), table2(scores))
    assert [place["left"] for place in told["on"][0]["places"]] == [8.0, 9.0]
    assert told["verdict"] == "not reproduced"


def test_points_of_a_curve_are_told_apart_by_at():
    scores = [
        *runs("trees@0", [70.0] * 3, setting="clean"),
        *runs("trees@0.5", [72.0] * 3, setting="clean"),
        *runs("trees@1", [71.0] * 3, setting="clean"),
    ]
    a_claim = claim("[trees] > [trees | at=0]", for_every={"at": [0.5, 1]})
    told = judged(a_claim, table2(scores, artefact=CURVE))
    assert [place["mean"] for place in told["on"][0]["places"]] == [2.0, 1.0]
    told = judged(a_claim, table2(scores, artefact=CURVE, scale="demo"))
    assert told["reason"] == "1 of 2 places not run: trees (0.5) is run from the scale `laptop` on"


def test_a_value_bears_the_name_of_the_metric_that_it_is_of():
    """The curve shows P@1 alone, but its runs have depths, too; a difference of two metrics is of neither."""
    scores = [
        score | {"metrics": {"P@1": 70.0 + at, "depth@1": 6.0 - at}}
        for at in (0, 1)
        for score in runs(f"trees@{at}", [0.0] * 3, setting="clean")
    ]
    told = {
        "[trees | at=1] > [trees | at=0]": "P@1 +1.00 ± 0.00",
        "[trees | at=1 | metric=depth@1] < [trees | at=0 | metric=depth@1]": "depth@1 +1.00 ± 0.00",
        "[trees | at=1] > [trees | at=1 | metric=depth@1]": "+66.00 ± 0.00",
    }
    for expression, measured in told.items():
        assert judged(claim(expression), table2(scores, artefact=CURVE))["on"][0]["measured"] == measured


# --- what is published ----------------------------------------------------------------------------


def test_published_operands_and_the_published_gap(published):
    printed = read_published(published / "table2.csv")
    scores = at_both(72, 71)
    within = judged(claim("abs([EAGLE] - {EAGLE}) <= 0", tolerance=9.5, **AT_R4), table2(scores), printed)
    place, opposite = within["on"][0]["places"]  # a distance is judged from both sides
    assert place["mean"] == -opposite["mean"]
    assert (within["verdict"], place["left"], place["published_gap"]) == ("reproduced", -9.0, None)
    ahead = judged(claim("[EAGLE] > [Baseline]", for_every=BOTH | {"metric": ["P@1"]}), table2(scores), printed)
    assert [place["published_gap"] for place in ahead["on"][0]["places"]] == [1.5, None]  # `-` is no number
    assert ahead["on"][0]["published_gap"] == 1.5


def test_a_paper_may_call_micro_f1_by_its_whole_name(tmp_path):
    """OTSeq2Set's Table 5 prints a relative difference beside micro-F1, so that the metric has to be told apart."""
    path = tmp_path / "table5.csv"
    lines = ["small,,all,micro-F1,59.61,", "small,,first,micro-F1,59.12,", "small,,first,relative difference,↓ 0.82%,"]
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    artefact = CURVE | {"metrics": ["F1"], "rows": [{"row": name, "method": name} for name in ("all", "first")]}
    values = ArtefactValues("toy-table5", artefact, "laptop", ["small"], {"F1"}, [])
    assert judged(claim("[all] > [first]"), values, read_published(path))["on"][0]["published_gap"] == 0.49


def test_data_without_a_published_number_cannot_be_set_beside_one(published):
    scores = runs("EAGLE", [72.0] * 3) + runs("EAGLE", [1.0] * 3, dataset="elsewhere")
    values = table2(scores, ["small", "elsewhere"])
    told = judged(claim("[EAGLE] <= {EAGLE}", **AT_R4), values, read_published(published / "table2.csv"))
    assert [one["verdict"] for one in told["on"]] == ["reproduced", "not run"]
    assert told["on"][1]["reason"] == "the paper prints no {EAGLE} for elsewhere"


# --- which data decides ---------------------------------------------------------------------------


def on(dataset, gap, simulated=False):
    return [
        *runs("EAGLE", [70.0 + gap] * 3, dataset=dataset, simulated=simulated),
        *runs("Baseline", [70.0] * 3, dataset=dataset, simulated=simulated),
    ]


def test_the_papers_own_data_goes_before_other_data():
    values = table2(on("small", 1) + on("reuters", -1), ["small", "reuters"])
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), values)
    assert (told["verdict"], told["basis"]) == ("reproduced", "paper's data")
    assert [(one["dataset"], one["of_paper"], one["verdict"]) for one in told["on"]] == [
        ("small", True, "reproduced"),
        ("reuters", False, "not reproduced"),
    ]


def test_one_of_the_papers_data_sets_that_contradicts_is_enough():
    values = table2(on("small", 1) + on("reuters", -1), ["small", "reuters"])
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4 | {"datasets": ["small", "reuters"]}), values)
    assert (told["verdict"], told["reason"]) == ("not reproduced", "reproduced on small; not reproduced on reuters")


def test_other_data_decides_where_the_papers_was_not_run():
    values = table2(on("pubmed", 1), ["pubmed"])
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), values)
    assert (told["verdict"], told["basis"]) == ("reproduced", "other data")
    values = table2(on("pubmed", 1) + on("reuters", -1), ["pubmed", "reuters"])
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), values)
    assert (told["verdict"], told["basis"]) == ("inconclusive", "other data")
    assert told["reason"] == "reproduced on pubmed; not reproduced on reuters"


def test_a_claim_about_one_data_set_is_not_judged_elsewhere():
    told = judged(claim("[EAGLE] > [Baseline]", elsewhere=False, **AT_R4), table2(on("pubmed", 1), ["pubmed"]))
    assert [one["dataset"] for one in told["on"]] == ["small"]
    assert told["verdict"] == "not run"


@pytest.mark.parametrize(("name", "flag"), [("toy-sim", False), ("toy-sim-16th", False), ("marked", True)])
def test_simulated_data_never_decides(name, flag):
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(on(name, 1, simulated=flag), [name]))
    assert (told["verdict"], told["basis"], told["reason"]) == ("not run", None, "only simulated data at this scale")
    shown = told["on"][1]
    assert (shown["dataset"], shown["simulated"], shown["verdict"]) == (name, True, "simulated")
    assert shown["measured"] == "P@1 +1.00 ± 0.00"
    assert [place["verdict"] for place in shown["places"]] == ["simulated"]
    told = judged(claim("[EAGLE] > [Baseline]", **AT_R4), table2(on("small", -1) + on(name, 1, flag), ["small", name]))
    assert told["verdict"] == "not reproduced"


def test_every_data_set_of_the_paper_is_listed_run_or_not():
    a_claim = claim("[EAGLE] > [Baseline]", datasets=["small", "large", "gone"], **AT_R4)
    told = judged(a_claim, table2(on("small", 1)))
    assert told["reason"] == "on 1 of the paper's 3 data sets"
    by_hand = "not part of the scale `laptop` (run from `paper` on; its files have to be fetched by hand)"
    assert [one["reason"] for one in told["on"]] == [
        "",
        by_hand,
        "cannot be had: the paper's authors did not publish it",
    ]


@pytest.mark.parametrize(
    ("row", "dataset", "reason"),
    [
        ("Late", "small", "Late (R-4) is run from the scale `paper` on"),
        ("Never", "small", "Never (R-4): it needs a GPU"),
        ("EAGLE", "other", "EAGLE on other: it is too large"),
        ("EAGLE", "small", "no run of EAGLE on small"),
    ],
)
def test_what_was_not_run_says_why(row, dataset, reason):
    a_claim = claim(f"[{row}] > [Baseline]", datasets=[dataset], **AT_R4)
    told = judged(a_claim, table2(runs("Baseline", [70.0] * 3, dataset=dataset), [dataset]))
    assert (told["verdict"], told["reason"]) == ("not run", f"{dataset}: {reason}")


def test_a_run_without_the_metric_is_told():
    scores = [score | {"metrics": {}, "oversized": True} for score in runs("EAGLE", [1.0])]
    told = judged(claim("[EAGLE] > 0", **AT_R4), table2(scores))
    assert told["reason"] == "small: EAGLE outgrew its limit on small"


def test_a_claim_that_nothing_can_check_is_not_run():
    entry = {"says": "It is so.", "where": "Section 1", "needs": "The paper's logs."}
    told = judged(Claim.of("toy", "it-is-so", entry), None)
    assert (told["verdict"], told["reason"], told["on"]) == ("not run", "The paper's logs.", [])


# --- values from CSV files ------------------------------------------------------------------------


def csv_values(tmp_path, text, artefact=STATISTICS, datasets=("small",), scores=None):
    path = tmp_path / "toy-table1.csv"
    path.write_text(text, encoding="utf-8")
    return ArtefactValues("toy-table1", artefact, "laptop", list(datasets), METRICS, scores, Records.read(path))


def value(values, operand, place=None, dataset="small"):
    return values.measured(parse_expression(f"{operand} > 0").operands[0], place or {}, dataset)


def test_statistics_are_named_by_their_column(tmp_path, published):
    text = "data set,source,column,value\nsmall,published,L,9\nsmall,measured,L,3993\nsmall,measured,N,15539\n"
    values = csv_values(tmp_path, text)
    assert value(values, "[L]").number == 3993
    printed = read_published(published / "table1.csv")
    told = judge(claim("abs([L] - {L}) <= 0", seeds=1, artefact="table1"), values, printed, REGISTRY)
    assert (told["verdict"], told["on"][0]["places"][0]["right"]) == ("reproduced", 0.0)


def test_costs_are_chosen_by_setting_and_column_and_a_row_without_setting_has_one_value(tmp_path):
    header = "data set,setting,method,source,column,value\n"
    lines = ["small,,XR-Linear,measured,training (s),2", "small,λ = 1,+Ours,measured,training (s),3"]
    lines += ["small,λ = 2,+Ours,measured,training (s),5", "small,λ = 2,+Ours,measured,query (ms),7"]
    values = csv_values(tmp_path, header + "\n".join(lines) + "\n", {"datasets": {}})
    place = {"setting": "λ = 2", "metric": "training (s)"}
    assert (value(values, "[+Ours]", place).number, value(values, "[XR-Linear]", place).number) == (5, 2)
    with pytest.raises(NotMeasured, match=r"has no column query \(ms\) at this scale \(there: training \(s\)\)"):
        value(values, "[XR-Linear | metric=query (ms)]")
    with pytest.raises(NotMeasured, match=r"2 values for .*, which differ in: setting"):
        value(values, "[+Ours | metric=training (s)]")
    with pytest.raises(NotMeasured, match="has no column 'seting'; did you mean 'setting'"):
        value(values, "[+Ours | seting=λ = 2]")


def test_a_value_of_another_metric_is_never_taken_for_the_one_that_is_missing(tmp_path):
    """Only the size of this network was counted: it must not pass for its hours."""
    text = "data set,method,source,column,value\nsmall,SGM,counted,M (millions),34.8\nsmall,SGM,published,hours,0.85\n"
    values = csv_values(tmp_path, text, {"datasets": {}})
    assert value(values, "[SGM]", {"metric": "M (millions)"}).number == 34.8
    with pytest.raises(NotMeasured, match="has no column hours"):
        value(values, "[SGM]", {"metric": "hours"})


def test_shares_in_columns_of_their_own(tmp_path):
    text = "data set,source,at most average,above average\nsmall,measured,0.4939,0.5061\n"
    assert value(csv_values(tmp_path, text), "[above average]").number == 0.5061


def test_any_other_column_chooses_a_line(tmp_path):
    text = (
        "data set,source,bs,lr,column,value\nsmall,measured,64,0.0001,accuracy,11\nsmall,measured,32,0.1,accuracy,7\n"
    )
    values = csv_values(tmp_path, text, {"datasets": {}})
    assert value(values, "[accuracy | bs=64 | lr=1e-4]").number == 11
    assert value(values, "[accuracy | lr=0.1]", {"bs": 32}).number == 7


def test_the_papers_own_simulations_are_judged_with_their_standard_errors(tmp_path):
    """1.5 ± 0.03 against 1.4 ± 0.04: the error of the difference is 0.05, its margin 1.984 · 0.05 = 0.0992 < 0.1."""
    header = "panel,task,quantity,axis,at,estimator,source,value,standard error,error of the oracle,repetitions\n"
    lines = "a,regression,Rel. RMS,σ₂,1,NoAS,simulated,1.5,0.03,,100\n"
    lines += "a,regression,Rel. RMS,σ₂,1,AS,simulated,1.4,0.04,,100\n"
    values = csv_values(tmp_path, header + lines, SIMULATION, [])
    told = judge(claim("[NoAS] > [AS]", for_every={"at": [1]}, datasets=[]), values, [], REGISTRY)
    (one,) = told["on"]
    assert (told["verdict"], told["basis"], one["dataset"]) == ("reproduced", "paper's data", AS_IN_THE_PAPER)
    assert (one["places"][0]["margin"], one["seeds"]) == (pytest.approx(0.09921, abs=1e-5), 100)
    told = judge(claim("[NoAS] > [AS] + 0.01", for_every={"at": [1]}, datasets=[]), values, [], REGISTRY)
    assert told["verdict"] == "inconclusive"


def test_the_kink_of_a_maximum_hides_no_error(tmp_path):
    """At max(a, b) with a = b the slope to both sides is half of what an error moves: 0.3 · 2.776 is far over 0.1."""
    header = "panel,task,quantity,axis,at,estimator,source,value,standard error,error of the oracle,repetitions\n"
    lines = "a,regression,Rel. RMS,σ₂,1,AS,simulated,1.0,0.3,,5\n"
    values = csv_values(tmp_path, header + lines, SIMULATION, [])
    told = judge(claim("max([AS], 2 - [AS]) <= 1.1", for_every={"at": [1]}, datasets=[]), values, [], REGISTRY)
    assert told["verdict"] == "inconclusive"


def test_what_stands_in_one_cell_is_one_measurement(tmp_path):
    """1.0 ± 0.6 of five repetitions is 1.67 wide, over however many places it is averaged; and 0 from itself."""
    header = "panel,task,quantity,axis,at,estimator,source,value,standard error,error of the oracle,repetitions\n"
    lines = "a,regression,Rel. RMS,σ₂,1,AS,simulated,1.0,0.6,,5\na,regression,Rel. RMS,σ₂,1,NoAS,simulated,0,0.0,,5\n"
    values = csv_values(tmp_path, header + lines, SIMULATION, [])
    entry = {"on_average": {"panel": ["a"], "task": ["regression"], "σ": [1, 2, 3]}, "for_every": {"at": [1]}}
    told = judge(claim("[AS] > [NoAS]", datasets=[], **entry), values, [], REGISTRY)
    assert told["on"][0]["places"][0]["margin"] == pytest.approx(2.776445 * 0.6, rel=1e-5)
    told = judge(claim("[AS] - [AS] <= 0", for_every={"at": [1]}, datasets=[]), values, [], REGISTRY)
    assert told["on"][0]["places"][0]["margin"] == 0


def test_places_that_were_not_run_are_not_among_those_that_decide():
    """Nor are both signs of a distance two places."""
    settings = {"setting": ["R-4", "R-10", "C"], "metric": ["P@1"]}
    told = judged(claim("abs([EAGLE] - [Baseline]) <= 0", for_every=settings), table2(at_both(70.5, 69.5)))
    assert told["on"][0]["measured"].endswith("(worst of 2 places run: R-4, P@1)")
    told = judged(claim("abs([EAGLE] - [Baseline]) <= 1", for_every=settings), table2(at_both(70, 70)))
    assert told["reason"].startswith("1 of 3 places not run: ")


def test_data_sets_of_ones_own_leave_others_out():
    """Which are of this scale: that is no reason."""
    told = judge(claim("[EAGLE] > [Baseline]", **AT_R4), table2([], datasets=["mine"]), [], REGISTRY)
    assert [one["reason"] for one in told["on"] if one["dataset"] == "small"] == [
        "not among the data sets that were asked for"
    ]


def test_a_claim_reads_the_file_only_for_what_runs_do_not_measure():
    values = table2([])
    assert not needs_records(claim("[EAGLE] > [Baseline]", **AT_R4), values)
    assert needs_records(claim("[EAGLE] > [Baseline]", for_every={"setting": ["R-4"], "metric": ["hours"]}), values)


# --- what is refused before anything runs ---------------------------------------------------------


def check(published, entry, artefacts=ARTEFACTS):
    known = Known(artefacts, REGISTRY, METRICS, {"table2", "fig3"}, published)
    entry = {"says": "It is so.", "where": "Section 1", "artefact": "table2", "datasets": ["small"]} | entry
    return check_claims("claims.yaml", "toy", {"it-is-so": entry}, known)


def test_a_sound_claim_passes(published):
    assert check(published, {"expression": "[EAGLE] > {Baseline} + 1", **AT_R4})[0].id == "it-is-so"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"expression": "[EAGLE] > [Baseline"}, "a '[' without its counterpart"),
        ({"expression": "1 > 2"}, "it names no value"),
        ({"expression": "[EAGLE] - [Baseline]"}, "it must be one comparison, with >, >=, < or <="),
        ({"expression": "[EAGLE] == [Baseline]"}, "it must be one comparison, with >, >=, < or <="),
        ({"expression": "0 < [EAGLE] < 1"}, "it must be one comparison, with >, >=, < or <="),
        ({"expression": "[EAGLE] > > 1"}, "invalid syntax"),
        ({"expression": "[EAGLE] ** 2 > 1"}, "'operand_0 ** 2' is not understood here"),
        ({"expression": "[EAGLE] > __import__('os').getpid()"}, "unknown function \"__import__('os').getpid\""),
        ({"expression": "[EAGLE] > secret"}, "'secret' is not understood here"),
        ({"expression": "[EAGLE] > True"}, "'True' is not understood here"),
        ({"expression": "[EAGLE] > meen(1, 2)"}, "unknown function 'meen'; did you mean 'mean'?"),
        ({"expression": "abs([EAGLE], 2) > 1"}, "abs() takes one value"),
        ({"expression": "2 >= abs([EAGLE] - [Baseline])"}, "stands on the left"),
        ({"expression": "[ | metric=P@1] > 1"}, "it names no row"),
        ({"expression": "[EAGLE | P@1] > 1"}, "'P@1' should read key=value"),
        ({"expression": "[EAGLE | at=1 | at=2] > 1"}, "at stands there twice"),
        ({"expression": "[EAGEL] > 1", **AT_R4}, "[EAGEL]: unknown row 'EAGEL'; did you mean 'EAGLE'?"),
        ({"expression": "[EAGLE | metric=P@2] > 1"}, "unknown metric 'P@2'; did you mean 'P@3'?"),
        ({"expression": "[EAGLE | seting=R-4] > 1", **AT_R4}, "unknown key 'seting'; did you mean 'setting'?"),
        ({"expression": "[EAGLE] > 1", "for_every": {"setting": ["R-5"], "metric": ["P@1"]}}, "unknown setting 'R-5'"),
        ({"expression": "[EAGLE] > 1", "for_some": {"colour": ["red"]}}, "for_some: unknown key 'colour'"),
        ({"expression": "[EAGLE] > 1", "for_every": {"at": [3]}}, "for_every: the artefact has no at (at 3)"),
        ({"expression": "[EAGLE] > 1", "for_every": {"setting": ["R-4"]}}, "[EAGLE]: which metric? (P@1, P@3)"),
        ({"expression": "[EAGLE] > 1", "for_every": {"metric": ["P@1"]}}, "[EAGLE]: 3 lines fit; say which setting"),
        ({"expression": "[EAGLE] > 1", "for_some": {"metric": ["P@1"]}, **AT_R4}, "metric stands in more than one of"),
        ({"expression": "[trees] > 1", "artefact": "fig3", "for_every": {"at": [7]}}, "unknown at '7'"),
        ({"expression": "[trees] > 1", "artefact": "fig4"}, "unknown artefact 'fig4'; did you mean 'fig6'?"),
        ({"expression": "[EAGLE] > 1", "datasets": ["smal"]}, "unknown data set 'smal'; did you mean 'small'?"),
        ({"expression": "[EAGLE] > 1", "datasets": [], **AT_R4}, "which of the paper's own data sets"),
        ({"expression": "[EAGLE] > {EAGEL}", **AT_R4}, "unknown published row 'EAGEL'; did you mean 'EAGLE'?"),
        ({"expression": "[EAGLE] > {EAGLE | metric=P@3}", **AT_R4}, "unknown published metric 'P@3'"),
        ({"expression": "[EAGLE] > {EAGLE | colour=red}", **AT_R4}, "unknown key 'colour'"),
        ({"expression": "[trees | at=0] > {trees}", "artefact": "fig3"}, "there is no published table 'fig3'"),
        ({"expression": "[EAGLE] > 1", "published": "table9", **AT_R4}, "published: there is no"),
        ({"expression": "[K] > 1", "artefact": "table1"}, "[K]: unknown row 'K' (known: L, N"),
        ({"expression": "[SA] > 1", "artefact": "fig6"}, "[SA]: unknown row 'SA'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_claim_and_what_is_wrong(published, entry, problem):
    with pytest.raises(ConfigError) as error:
        check(published, entry)
    assert str(error.value).startswith("claims.yaml: it-is-so: ")
    assert problem in str(error.value)


def test_a_row_that_has_no_line_at_a_place_is_refused(published):
    rows = [
        {"row": "Tree", "method": "tree", "setting": "small"},
        {"row": "Tree", "method": "tree", "setting": "large"},
    ]
    rows.append({"row": "Net", "method": "net", "setting": "small"})
    artefact = ARTEFACT | {"rows": rows}
    del artefact["settings"]
    entry = {"expression": "[Net] > [Tree]", "for_every": {"setting": ["small", "large"], "metric": ["P@1"]}}
    with pytest.raises(ConfigError, match=r"\[Net\]: the artefact has no such line at setting large"):
        check(published, entry, {"table2": artefact})


def test_all_mistakes_of_a_file_are_told_at_once(published):
    known = Known(ARTEFACTS, REGISTRY, METRICS, {"table2"}, published)
    entry = {"says": "s", "where": "w", "artefact": "table2", "datasets": ["small"], "expression": "1"}
    with pytest.raises(ConfigError) as error:
        check_claims("claims.yaml", "toy", {"one": entry, "two": entry}, known)
    assert [line.split(": ")[1] for line in str(error.value).splitlines()] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("one: {says: s, where: w, artefact: a}", "one: 'expression' is a required property"),
        ("one: {says: s, where: w, needs: n, artefact: a}", "one.artefact:"),
        ("one: {says: s, where: w, needs: n, sedes: 2}", "one: unknown key 'sedes'; did you mean 'seeds'?"),
        ("one: {says: s, needs: n}", "one: 'where' is a required property"),
        ("One: {says: s, where: w, needs: n}", "'One' does not match"),
        ("one: {says: s, where: w, artefact: a, expression: e, tolerance: -1}", "one.tolerance: -1 is less than"),
        (
            "one: {says: s, where: w, artefact: a, expression: e, for_every: {at: 2}}",
            "one.for_every.at: 2 is not of type",
        ),
    ],
)
def test_the_schema_names_the_wrong_key(tmp_path, text, problem):
    path = tmp_path / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_checked(path, SCHEMA)
    assert problem in str(error.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ConfigError, match="there is no such file"):
        load_checked(tmp_path / "claims.yaml", SCHEMA)


# --- the files ------------------------------------------------------------------------------------


@pytest.fixture
def all_judged(tmp_path, published):
    paths = []
    for i, score in enumerate(on("small", 1) + on("toy-sim", 5, simulated=True)):
        paths.append(tmp_path / f"{i}.json")
        write_json(paths[-1], score)
    source = {
        "artefact": ARTEFACT,
        "datasets": ["small", "toy-sim"],
        "scores": paths,
        "csv": None,
        "published": {"table2": published / "table2.csv"},
    }
    about = {"says": "EAGLE | is ahead.", "where": "Table 2"}
    claims = {
        "toy": {
            "ahead": about
            | {"artefact": "table2", "datasets": ["small"], "expression": "[EAGLE] > [Baseline]", **AT_R4},
            "logs": about | {"needs": "The logs."},
        },
        "empty": {},
    }
    return lambda: judge_all("laptop", claims, {"toy": {"table2": source}}, sorted(METRICS), REGISTRY)


def test_judged_again_it_is_the_same_to_the_byte(tmp_path, all_judged):
    for name in ("one.json", "two.json"):
        write_json(tmp_path / name, all_judged())
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    told = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert told["scale"] == "laptop" and [one["verdict"] for one in told["claims"]] == ["reproduced", "not run"]


def test_the_markdown_counts_verdicts_and_shows_the_published_gap(all_judged):
    text = markdown(all_judged())
    assert "2 claims: 1 reproduced, 0 not reproduced, 0 inconclusive, 1 not run." in text
    assert (
        "| EAGLE \\| is ahead. | Table 2 | **reproduced** | small: P@1 +1.00 ± 0.00; "
        "(toy-sim, simulated: P@1 +5.00 ± 0.00) | +1.50 on small |"
    ) in text
    assert "| **not run** | The logs. |  |" in text


def test_the_csv_has_a_line_for_every_claim_and_data_set(all_judged):
    lines = [dict(zip(CSV_HEADER, line, strict=True)) for line in records(all_judged())]
    assert [(line["claim"], line["data set"], line["verdict there"]) for line in lines] == [
        ("ahead", "small", "reproduced"),
        ("ahead", "toy-sim", "simulated"),
        ("logs", "", "not run"),
    ]
    assert lines[0]["published gap"] == 1.5 and lines[2]["reason"] == "The logs."


def told_claim(name, verdict, measured="", reason="", basis="paper's data", paper="toy", tolerance=0.0):
    where = {"dataset": "small", "of_paper": True, "verdict": verdict, "measured": measured}
    about = {"paper": paper, "id": name, "verdict": verdict, "basis": basis, "reason": reason, "tolerance": tolerance}
    return about | {"on": [where] if measured else []}


def test_a_terminal_gets_a_table_with_what_was_decided_first():
    """A line per claim: verdict, id, and what was measured without its places; reasons where it is not clear."""
    claims = [
        told_claim("logs", "not run", reason="The logs.", basis=None),
        told_claim("unclear", "inconclusive", "+0.10 ± 0.20", "the interval contains the bound"),
        told_claim("second", "reproduced", "training (s) +1.00 (worst of 2 places run: R-10, P@1)", basis="other data"),
        told_claim("third", "not reproduced", "P@1 −1.00 ± 0.10", tolerance=0.5),
        told_claim("fourth", "reproduced", "P@1 +4.00 ± 0.10"),
        told_claim("else", "reproduced", "P@1 +5.00 ± 0.10", paper="more"),
    ]
    text = for_terminal({"scale": "laptop", "claims": claims}, 120, "claims.md")
    assert text.splitlines() == [
        "toy, 5 claims: 2 reproduced, 1 not reproduced, 1 inconclusive, 1 not run",
        "✓ reproduced*      second   small training (s) +1.00",
        "✓ reproduced       fourth   small P@1 +4.00 ± 0.10",
        "✗ not reproduced   third    small P@1 −1.00 ± 0.10; may fall short by 0.5",
        "≈ inconclusive     unclear  small +0.10 ± 0.20; the interval contains the bound",
        "– not run          logs     The logs.",
        "",
        "more, 1 claim: 1 reproduced, 0 not reproduced, 0 inconclusive, 0 not run",
        "✓ reproduced       else  small P@1 +5.00 ± 0.10",
        "",
        "At the scale laptop, 6 claims: 3 reproduced, 1 not reproduced, 1 inconclusive, 1 not run",
        "* by other real data: none of the paper's own was run",
        "In full: claims.md",
    ]


def test_a_narrow_terminal_gets_lines_that_fit(all_judged):
    text = for_terminal(all_judged(), 40, "results/artefacts/laptop/claims.md")
    assert max(map(len, text.splitlines())) <= 40
    assert "✓ reproduced       ahead  small P@1 +1.…" in text
    assert "results/artefacts/laptop/claims.md" in text
