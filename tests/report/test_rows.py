"""Rows are crossed with settings once, for the workflow that makes the runs and for the tables that show them."""

from pathlib import Path

import pytest

from orchard.config import check, load_yaml
from orchard.errors import ConfigError
from orchard.report.rows import methods_of, resolve_rows, run_of, runs_of, seeds_of, without

ARTEFACT = {
    "rows": [
        {"row": "Oracle", "method": "tree", "variant": "clean", "setting": "R-4"},
        {"row": "Baseline", "method": "tree-5gb", "not_run_on": {"huge": "too large"}},
        {"row": "EAGLE", "method": "eagle"},
        {"row": "Net", "not_run": "it needs a GPU"},
    ],
    "settings": [
        {"setting": "R-4", "variant": "aggregated/random-4", "axis": "group size", "at": 4},
        {
            "setting": "C",
            "variant": "aggregated/clustered-8",
            "variant_for": {"huge": "aggregated/clustered-16"},
            "method_for": {"wiki": {"eagle": "eagle-5"}},
            "from": "laptop",
        },
    ],
    "seeds": {"smoke": [0], "demo": [0], "laptop": [0, 1, 2, 3, 4], "paper": [0, 1, 2, 3, 4]},
    "seeds_for": {"wiki": [0, 1, 2]},
}
GROUPED, CLUSTERED = "aggregated/random-4", "aggregated/clustered-8"


def test_rows_without_settings_are_left_as_they_are():
    rows = [{"row": "Tree", "method": "tree"}]
    assert resolve_rows({"rows": rows}, "demo", ["small"]) == rows
    assert runs_of({"rows": rows, "seeds": {"demo": [3]}}, "demo", ["small"]) == [("small", "clean", "tree", 3)]


def test_a_row_of_a_larger_scale_waits_for_it():
    """Below it there is no run, and the line says so; from it on nothing is left of the word."""
    rows = [{"row": "Tree", "method": "tree"}, {"row": "Slow", "method": "slow", "from": "laptop"}]
    artefact = {"rows": rows, "seeds": {"demo": [0], "laptop": [0]}}
    assert resolve_rows(artefact, "demo", ["small"])[1] == {"row": "Slow", "from": "laptop"}
    assert runs_of(artefact, "demo", ["small"]) == [("small", "clean", "tree", 0)]
    assert resolve_rows(artefact, "laptop", ["small"])[1] == {"row": "Slow", "method": "slow"}
    crossed = artefact | {"settings": [{"setting": "R-4", "variant": GROUPED}]}
    assert resolve_rows(crossed, "demo", ["small"])[1] == {"row": "Slow", "from": "laptop", "setting": "R-4"}
    assert runs_of(crossed, "laptop", ["small"])[1] == ("small", GROUPED, "slow", 0)
    later = artefact | {"settings": [{"setting": "R-4", "variant": GROUPED, "from": "paper"}]}
    assert resolve_rows(later, "demo", ["small"])[1]["from"] == "paper"  # the later of the two


def test_a_row_that_takes_too_long_with_a_setting_waits_for_the_next_scale():
    """At that scale alone, and with that setting alone; a setting that begins later still begins later."""
    slow = [setting | {"not_at": {"demo": ["Baseline"]}} for setting in ARTEFACT["settings"]]
    demo, smoke, laptop = (
        {(line["setting"], line["row"]): line for line in resolve_rows(ARTEFACT | {"settings": slow}, scale, ["small"])}
        for scale in ("demo", "smoke", "laptop")
    )
    assert "method" not in demo["R-4", "Baseline"] and demo["R-4", "Baseline"]["from"] == "laptop"
    assert demo["R-4", "EAGLE"]["method"] == "eagle" and demo["R-4", "Oracle"]["method"] == "tree"
    assert smoke["R-4", "Baseline"]["method"] == laptop["R-4", "Baseline"]["method"] == "tree-5gb"
    assert demo["C", "Baseline"]["from"] == smoke["C", "Baseline"]["from"] == "laptop"


def test_every_row_without_a_variant_meets_every_setting():
    lines = resolve_rows(ARTEFACT, "laptop", ["small", "wiki"])
    assert [(line["setting"], line["row"]) for line in lines] == [
        ("R-4", "Oracle"),
        *(("R-4", name) for name in ("Baseline", "EAGLE", "Net")),
        *(("C", name) for name in ("Baseline", "EAGLE", "Net")),
    ]
    assert lines[2] == {
        "row": "EAGLE",
        "method": "eagle",
        "setting": "R-4",
        "variant": GROUPED,
        "axis": "group size",
        "at": 4,
    }
    assert lines[-1] == {"row": "Net", "not_run": "it needs a GPU", "setting": "C"}


def test_a_setting_of_a_larger_scale_keeps_its_lines_without_runs():
    lines = {(line["setting"], line["row"]): line for line in resolve_rows(ARTEFACT, "demo", ["small"])}
    assert lines["C", "EAGLE"] == {"row": "EAGLE", "setting": "C", "from": "laptop"}
    assert run_of(lines["C", "EAGLE"], "small") is None
    assert {run[1] for run in runs_of(ARTEFACT, "demo", ["small"])} == {"clean", GROUPED}


def test_a_data_set_may_have_its_own_variant_and_method():
    lines = {line["row"]: line for line in resolve_rows(ARTEFACT, "paper", ["small", "wiki", "huge"])}  # those of C
    assert run_of(lines["EAGLE"], "small") == (CLUSTERED, "eagle")
    assert run_of(lines["EAGLE"], "wiki") == (CLUSTERED, "eagle-5")
    assert run_of(lines["EAGLE"], "huge") == ("aggregated/clustered-16", "eagle")
    assert run_of(lines["Baseline"], "wiki") == (CLUSTERED, "tree-5gb")
    assert run_of(lines["Baseline"], "huge") is None
    assert run_of(lines["Net"], "small") is None


def test_a_rendering_does_not_depend_on_data_sets_that_it_does_not_show():
    for line in resolve_rows(ARTEFACT, "paper", ["small"]):
        assert not {"variant_for", "method_for"} & line.keys()


def test_seeds_of_a_data_set_are_among_those_of_the_scale():
    assert seeds_of(ARTEFACT, "laptop", "small") == [0, 1, 2, 3, 4]
    assert seeds_of(ARTEFACT, "laptop", "wiki") == [0, 1, 2]
    assert seeds_of(ARTEFACT, "demo", "wiki") == [0]


def test_a_run_that_two_lines_show_is_asked_for_once():
    """Else its seed would count twice in the mean."""
    twice = ARTEFACT | {"settings": [ARTEFACT["settings"][0], ARTEFACT["settings"][0] | {"setting": "again"}]}
    runs = runs_of(twice, "demo", ["small"])
    assert len(runs) == len(set(runs)) == 3


@pytest.mark.parametrize("scale", ["smoke", "demo", "laptop", "paper"])
def test_eagle_figures_show_runs_of_the_tables_and_of_noise(scale):
    """Figures 4, 7 and 8 cost no run that Table 5 has not made; only the noise of Figure 9 is new (eagle, B.2)."""
    entries = load_yaml(Path(__file__).parents[2] / "config/papers/eagle/artefacts.yaml")
    runs = {name: set(runs_of(entries[name], scale, entries[name]["datasets"][scale])) for name in entries
            if "settings" in entries[name]}  # fmt: skip
    assert runs["fig7"] | runs["fig8"] <= runs["table5"]
    assert runs["fig4"] | runs["fig9"] <= runs["table5"] | {run for run in runs["fig9"] if "noise" in run[1]}
    assert all(runs.values())


@pytest.mark.parametrize("scale", ["smoke", "demo", "laptop", "paper"])
def test_otseq2set_shows_runs_of_table_3_and_of_other_weights(scale):
    """Tables 4 to 6 cost no run that Table 3 has not made, Figure 5 none but those of λ other than 0 and 8."""
    entries = load_yaml(Path(__file__).parents[2] / "config/papers/otseq2set/artefacts.yaml")
    names = ("table3", "table4", "table5", "table6", "fig5")
    runs = {name: set(runs_of(entries[name], scale, entries[name]["datasets"][scale])) for name in names}
    assert runs["table4"] | runs["table5"] | runs["table6"] <= runs["table3"]
    assert {run for run in runs["fig5"] if "@" not in run[2]} <= runs["table3"]
    places = [row["at"] for row in resolve_rows(entries["fig5"], scale, []) if "method" in row]
    assert places == ([0, 1, 2, 4, 8, 16, 32] if scale in ("laptop", "paper") else [0, 2, 8])


def test_a_swept_row_is_one_for_every_value_of_the_scale():
    artefact = {
        "rows": [{"row": "λ′ = {value}", "method": "tree@*"}, {"row": "Fano", "method": "fano"}],
        "sweep": {"smoke": [0, 2], "demo": [0, 0.5, 100000]},
        "seeds": {"smoke": [0], "demo": [0]},
    }
    assert resolve_rows(artefact, "demo", ["small"]) == [
        {"row": "λ′ = 0", "method": "tree@0", "at": 0},
        {"row": "λ′ = 0.5", "method": "tree@0.5", "at": 0.5},
        {"row": "λ′ = 100000", "method": "tree@100000", "at": 100000},
        {"row": "Fano", "method": "fano"},
    ]
    assert [method for _, _, method, _ in runs_of(artefact, "smoke", ["small"])] == ["tree@0", "tree@2", "fano"]


def test_searches_of_a_method_are_one_method():
    rows = [{"row": name, "method": f"tree@1/{name}"} for name in ("beam-10", "best-first")]
    assert methods_of([*rows, {"row": "later", "from": "laptop"}, {"row": "plain", "method": "bonsai"}]) == [
        "tree@1",
        "bonsai",
    ]


MANY = {"smoke": [0], "demo": [0, 1], "laptop": [0, 1, 2, 3, 4, 5, 6], "paper": list(range(10))}


def test_a_setting_may_have_seeds_of_its_own():
    """They replace the artefact's for the rows crossed with it; what a data set restricts is still restricted."""
    hard = {"setting": "R-50", "variant": "aggregated/random-50", "seeds": MANY}
    runs = runs_of(ARTEFACT | {"settings": [ARTEFACT["settings"][0], hard]}, "laptop", ["small", "wiki"])
    seeds = {(dataset, variant): [run[3] for run in runs if run[:3] == (dataset, variant, "eagle")]
             for dataset, variant, *_ in runs}  # fmt: skip
    assert seeds["small", GROUPED] == [0, 1, 2, 3, 4]
    assert seeds["small", "aggregated/random-50"] == [0, 1, 2, 3, 4, 5, 6]
    assert seeds["wiki", "aggregated/random-50"] == [0, 1, 2]
    assert [run[3] for run in runs if run[:2] == ("small", "clean")] == [0, 1, 2, 3, 4]  # the oracle stands alone


def test_a_setting_may_not_be_run_on_a_data_set():
    """Its reason is that of every row, unless the row has one of its own; a row that is never run needs no second."""
    setting = ARTEFACT["settings"][0] | {"not_run_on": {"huge": "no groups", "wiki": "no time"}}
    artefact = ARTEFACT | {"settings": [setting]}
    lines = {line["row"]: line for line in resolve_rows(artefact, "laptop", ["small", "wiki", "huge"])}
    assert lines["Baseline"]["not_run_on"] == {"huge": "too large", "wiki": "no time"}
    assert lines["EAGLE"]["not_run_on"] == {"huge": "no groups", "wiki": "no time"}
    assert "not_run_on" not in lines["Net"] and "not_run_on" not in lines["Oracle"]
    assert {run[0] for run in runs_of(artefact, "laptop", ["small", "wiki", "huge"]) if run[1] == GROUPED} == {"small"}


def test_rows_without_what_their_methods_need_are_not_run():
    """They keep their lines, with the reason, at every scale; a setting adds neither a run nor another reason."""
    settings = [setting | {"not_run_on": {"huge": "no groups"}} for setting in ARTEFACT["settings"]]
    artefact = without(ARTEFACT | {"settings": settings}, {"eagle", "tree"}, "PyTorch is not installed")
    assert {run[2] for run in runs_of(artefact, "laptop", ["small", "wiki"])} == {"tree-5gb"}
    lines = resolve_rows(artefact, "laptop", ["small"])
    assert lines[0] == {"row": "Oracle", "variant": "clean", "setting": "R-4", "not_run": "PyTorch is not installed"}
    assert lines[-2] == {"row": "EAGLE", "not_run": "PyTorch is not installed", "setting": "C"}
    rows = [{"row": "Slow", "method": "slow", "from": "paper", "not_run_on": {"huge": "too large"}}]
    assert without({"rows": rows}, {"slow"}, "why")["rows"] == [{"row": "Slow", "not_run": "why"}]
    assert rows[0]["method"] == "slow"  # the artefact itself is as it was


def test_the_schema_knows_what_settings_and_artefacts_may_say():
    schema = load_yaml(Path(__file__).parents[2] / "config/schemas/artefacts.schema.yaml")
    setting = {"setting": "R-50", "variant": "aggregated/random-50", "seeds": MANY, "not_run_on": {"wiki": "no groups"}}
    artefact = {
        "title": "T",
        "kind": "table",
        "datasets": {scale: ["small"] for scale in MANY},
        "metrics": ["accuracy"],
        "rows": [{"row": "A", "method": "a"}, {"row": "B", "method": "b"}],
        "settings": [setting],
        "seeds": MANY,
        "chance": 10,
    }
    check({"one": artefact}, schema, "artefacts.yaml")
    with pytest.raises(ConfigError, match="seeds"):
        check({"one": artefact | {"settings": [setting | {"seeds": {"smoke": [0]}}]}}, schema, "artefacts.yaml")
    for key, value in {"per_line": 2, "not_run": "why"}.items():
        with pytest.raises(ConfigError, match=key):  # one row for a file, and rows say it
            check({"one": artefact | {key: value}}, schema, "artefacts.yaml")
