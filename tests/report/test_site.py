"""The report tells what is in the files: nothing is missing, nothing invented, and nothing simulated passes as real."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from orchard.files import read_json, write_json, write_text
from orchard.job_records import hashes
from orchard.report.site.build import build_site
from orchard.report.site.prose import Links, render
from orchard.report.site.sources import Sources
from orchard.report.site.svg import inline_svg
from orchard.report.site.words import number_told, seconds_told

SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 200 100" width="200pt">
 <style>*{stroke-linecap: butt}</style>
 <defs><path id="mark" d="M 0 0"/><clipPath id="box"><path d="M 1 1"/></clipPath></defs>
 <g id="axes_1" clip-path="url(#box)"><use xlink:href="#mark" onclick="alert(1)"><title>EAGLE: 4, 81.2</title></use></g>
 <script>alert(1)</script>
</svg>"""
ARTEFACTS = {
    "eagle": {"table2": "table", "fig4": "figure", "beyond": "table"},
    "disentangle": {"table1": "table"},
    "labeltrees": {"fig1": "figure"},
    "otseq2set": {"table1": "table"},
}
DATASETS = {"real": False, "made-sim": True}
SCORE = "results/runs/real/clean/parabel/seed-0/score.json"
SIMULATED_SCORE = "results/runs/made-sim/clean/parabel+bonsai@0.5/seed-0/score.json"
DEVIATIONS = (
    "# Steps away\n\n**D1. Splits.** See [the engine](engine.md). Named by eagle-fig4.\n\n**D12. Ties.** As D1.\n"
)


def title(paper: str, name: str) -> str:
    return f"{paper}, {name}"


def write_artefact(root: Path, paper: str, name: str, kind: str, source: str, dataset: str) -> None:
    path = root / f"results/artefacts/smoke/{paper}-{name}"
    write_text(path.with_suffix(".csv"), f"data set,method,source,column,value\n{dataset},EAGLE,{source},P@1,81.2\n")
    if kind == "table":
        rows = f"| data set | source | P@1 |\n| --- | --- | ---: |\n| {dataset} | {source} | 81.20 |\n"
        write_text(path.with_suffix(".md"), f"# {title(paper, name)}\n\n{rows}\nSee D12, and D99.\n")
    else:
        write_text(path.with_suffix(".svg"), SVG)
        write_text(path.with_suffix(".png"), "no picture")


def write_record(root: Path, name: str, inputs: list[str], outputs: list[str], seconds: float = 2.0) -> None:
    with_hashes = {path: hashes([root / path])[str(root / path)] for path in [*inputs, *outputs]}
    record = {
        "rule": name,
        "wildcards": {},
        "commit": "c0ffee" * 6,
        "edited": False,
        "code": "a" * 64,
        "config_sha256": "b" * 64,
        "inputs": {path: with_hashes[path] for path in inputs},
        "outputs": {path: with_hashes[path] for path in outputs},
        "started": "2026-01-02T03:04:05+00:00",
        "seconds": seconds,
        "cpu_seconds": 1.0,
        "versions": {"python": "3.11"},
        "machine": {"system": "Linux", "processor": "Abacus", "cores": 2, "memory_gb": 4.0},
        "threads": 1,
    }
    write_json(root / f"results/provenance/{name}.json", record)


def write_run(root: Path, path: str) -> None:
    _, _, dataset, variant, method, _, _ = path.split("/")
    about = {"dataset": dataset, "variant": variant, "method": method, "seed": 0, "simulated": dataset.endswith("-sim")}
    write_json(root / path, about | {"metrics": {"P@1": 81.25}, "params": {"beam": 10, "bias": None}})
    cost = {"seconds": {"fit": 1.5}, "model_mb": 3.25, "machine": {"processor": "Abacus", "system": "Linux"}}
    write_json((root / path).with_name("cost.json"), cost)


def write_claims(root: Path) -> None:
    place = {"place": {"metric": "P@1"}, "expression": "[A] > [B]", "left": 2.0, "right": 1.0, "mean": 1.0}
    on = {
        "dataset": "real",
        "of_paper": True,
        "simulated": False,
        "verdict": "reproduced",
        "seeds": 3,
        "measured": "+1.0",
    }
    claim = {
        "paper": "eagle",
        "id": "ahead",
        "says": "A is ahead of <b>B</b>",
        "where": "Section 7",
        "artefact": "table2",
        "expression": ["[A] > [B]"],
        "tolerance": 0.0,
        "seeds": 3,
        "datasets": ["real"],
        "verdict": "reproduced",
        "basis": "paper's data",
        "reason": "",
        "on": [on | {"places": [place | {"verdict": "reproduced"}]}],
    }
    later = claim | {
        "id": "later",
        "artefact": None,
        "verdict": "not run",
        "basis": None,
        "on": [],
        "reason": "`x` is not",
    }
    write_json(root / "results/artefacts/smoke/claims.json", {"scale": "smoke", "claims": [claim, later]})


@pytest.fixture
def project(tmp_path) -> Path:
    """A project in miniature; eagle alone shows simulated data, and its table `beyond` was not made."""
    for paper, artefacts in ARTEFACTS.items():
        entries = [
            f"{name}:\n  title: '{title(paper, name)}'\n  kind: {kind}\n  datasets: {{smoke: [real]}}\n"
            f"  notes: [See D1.]\n{'  beyond: true' if name == 'beyond' else ''}\n"
            for name, kind in artefacts.items()
        ]
        write_text(tmp_path / f"config/papers/{paper}/artefacts.yaml", "".join(entries))
        for name, kind in artefacts.items():
            if name != "beyond":
                simulated = (paper, name) == ("eagle", "fig4")
                source = ("simulated", "made-sim") if simulated else ("measured", "real")
                write_artefact(tmp_path, paper, name, kind, *source)
    published = "dataset,setting,method,metric,value,note\nreal,R-4,EAGLE,P@1,80.87,\nreal,R-4,EAGLE,P@3,65.33,\n"
    write_text(tmp_path / "config/papers/eagle/published/table2.csv", published)
    stated = "dataset,setting,method,metric,value,note\n,Figure 4 (left),EAGLE,group size,50,\n,Figure 40,,no,1,\n"
    write_text(tmp_path / "config/papers/eagle/published/figures.csv", stated)
    for name, simulated in DATASETS.items():
        entry = f"title: '<script>alert(1)</script> {name}'\nsimulated: {str(simulated).lower()}\nlicence: free\n"
        write_text(tmp_path / f"config/datasets/{name}.yaml", entry)
        stats = {"title": f"<script>alert(1)</script> {name}", "simulated": simulated, "n_train": 1200, "sha256": {}}
        write_json(tmp_path / f"results/data/{name}/stats.json", stats | {"propensity": {"A": 0.55, "B": 1.5}})
    write_text(tmp_path / "config/datasets/unused.yaml", "title: Unused\nsimulated: false\nlicence: free\nby_hand: x\n")
    write_text(tmp_path / "docs/deviations.md", DEVIATIONS)
    write_text(
        tmp_path / "README.md", "# Orchard\n\n## Honest limits\n\n- None of this is real.\n\n## Development\n\nx\n"
    )
    write_run(tmp_path, SCORE)
    write_run(tmp_path, SIMULATED_SCORE)
    write_claims(tmp_path)
    write_record(tmp_path, "run", [], [SCORE], seconds=100.0)
    table = "results/artefacts/smoke/eagle-table2"
    write_record(tmp_path, "eagle-table2", [SCORE], [f"{table}.csv", f"{table}.md"])
    return tmp_path


def build(project: Path) -> Path:
    folder = project / "results/report"
    build_site(Sources(project, "smoke", "smoke", "scale=smoke"), folder)
    return folder


@pytest.fixture
def report(project) -> Path:
    return build(project)


def page(report: Path, path: str) -> BeautifulSoup:
    return BeautifulSoup((report / path).read_text(encoding="utf-8"), "html.parser")


def pages(report: Path) -> dict[str, BeautifulSoup]:
    paths = [path.relative_to(report).as_posix() for path in report.rglob("*.html")]
    return {path: page(report, path) for path in paths}


def text_of(element) -> str:
    return " ".join(element.get_text(" ").split())


def test_every_artefact_is_on_the_page_of_its_paper(report):
    """One without files stays there, and says so: what is missing must be seen."""
    for paper, artefacts in ARTEFACTS.items():
        articles = page(report, f"{paper}.html").select("article.artefact")
        assert [article["id"] for article in articles] == list(artefacts)
        for article, name in zip(articles, artefacts, strict=True):
            assert f"snakemake {paper}-{name} --config scale=smoke" in text_of(article)
            assert ("Not made at this scale" in text_of(article)) == (name == "beyond")


def test_what_goes_beyond_is_gathered(report):
    assert [article["id"] for article in page(report, "beyond.html").select("article")] == ["eagle-beyond"]


def test_a_page_with_simulated_data_has_a_banner_and_others_have_none(report):
    banners = {path: bool(one.select("aside.banner")) for path, one in pages(report).items()}
    simulated_run = SIMULATED_SCORE.removeprefix("results/").replace("/score.json", ".html")
    assert {path for path, there in banners.items() if there} == {
        "index.html",
        "eagle.html",
        "runs.html",
        "data.html",
        simulated_run,
    }


def test_simulated_data_is_marked_where_it_stands(report):
    eagle = page(report, "eagle.html")
    assert eagle.select("#fig4 header .badge.simulated")
    assert not eagle.select("#table2 .badge.simulated")
    assert eagle.select("#fig4 td .badge.simulated")  # a row of its numbers
    rows = {text_of(row.select_one("td:nth-of-type(2)")): row for row in page(report, "runs.html").select("tbody tr")}
    assert [name for name, row in rows.items() if row.select(".badge.simulated")] == ["made-sim simulated"]


def test_published_numbers_stand_beside_ours(report):
    published = page(report, "eagle.html").select_one('#table2 [aria-label^="Published"] table')
    assert [text_of(cell) for cell in published.select("th")] == ["data set", "setting", "method", "P@1", "P@3"]
    assert [text_of(cell) for cell in published.select("td")] == ["real", "R-4", "EAGLE", "80.87", "65.33"]


def test_a_figure_shows_only_the_numbers_that_belong_to_it(report):
    eagle = page(report, "eagle.html")
    assert "Figure 4 (left)" in text_of(eagle.select_one("#fig4"))
    assert "Figure 40" not in text_of(eagle)
    assert "prints no numbers for this figure" in text_of(page(report, "labeltrees.html"))


def test_an_artefact_leads_to_its_runs_and_sums_up_their_time(report):
    article = page(report, "eagle.html").select_one("#table2")
    assert article.select_one('a[href="runs/real/clean/parabel/seed-0.html"]')
    assert "1 min 42 s in 2 jobs" in text_of(article)
    assert "Abacus, 2 cores, 4.0 GB" in text_of(article)
    assert "c0ffeec0ffee" in text_of(article)
    run = page(report, "runs/real/clean/parabel/seed-0.html")
    assert run.select_one('a[href="../../../../eagle.html#table2"]')


def test_a_file_that_is_not_what_the_recorded_job_wrote_is_told(project):
    """Somebody edited the table, or the record is of another run."""
    path = project / "results/artefacts/smoke/eagle-table2.md"
    assert "is what the recorded job wrote" in text_of(page(build(project), "eagle.html").select_one("#table2"))
    path.write_text(path.read_text().replace("81.20", "99.99"))
    told = text_of(page(build(project), "eagle.html").select_one("#table2"))
    assert "made by a later or earlier run" in told
    assert "eagle-table2.md" in told
    assert "no record of the job" in text_of(page(build(project), "eagle.html").select_one("#fig4"))


def test_nothing_in_a_file_becomes_markup(report):
    """The titles of the data sets are scripts, and a claim has a tag in it."""
    for path, one in pages(report).items():
        assert len(one.select("script")) == 1, path
        assert not one.select("[onclick]"), path
    assert "<script>alert(1)</script> real" in text_of(page(report, "data.html"))
    assert "A is ahead of <b>B</b>" in text_of(page(report, "claims.html"))


def test_claims_stand_with_their_artefact_and_verdicts_are_words(report):
    eagle = page(report, "eagle.html")
    assert eagle.select_one("#table2 #claim-ahead")
    assert eagle.select_one("#other-claims #claim-later")
    verdicts = eagle.select("#claim-ahead .says .verdict")
    assert [text_of(one) for one in verdicts] == ["✓ reproduced"]
    assert page(report, "claims.html").select_one("tr[data-verdict='not run'] code").text == "x"


def test_claims_that_were_decided_come_first(report):
    rows = page(report, "claims.html").select("tbody tr[data-verdict]")
    assert [row["data-verdict"] for row in rows] == ["reproduced", "not run"]


@pytest.mark.parametrize("about", [{"simulated": True}, {"dataset": "simulated, as in the paper"}])
def test_a_claim_about_simulated_data_bears_the_badge(project, about):
    """The simulations that a paper makes itself decide, and are simulations all the same."""
    path = project / "results/artefacts/smoke/claims.json"
    judged = read_json(path)
    judged["claims"][0]["on"][0] |= about
    write_json(path, judged)
    report = build(project)
    assert page(report, "claims.html").select("aside.banner")
    assert page(report, "claims.html").select("tbody .badge.simulated")
    assert page(report, "eagle.html").select("#claim-ahead li .badge.simulated")


def test_a_report_without_claims_says_how_to_get_them(project):
    (project / "results/artefacts/smoke/claims.json").unlink()
    assert "snakemake claims --config scale=smoke" in text_of(page(build(project), "index.html"))


def test_deviations_are_links_where_they_exist(report):
    article = page(report, "eagle.html").select_one("#table2")
    assert {link["href"] for link in article.select('a[href^="deviations"]')} >= {"deviations.html#D12"}
    assert "D99" in text_of(article)
    assert not [link for link in article.select("a") if "D99" in link["href"]]
    assert page(report, "eagle.html").select_one('#fig4 a[href="deviations.html#D1"]')
    assert {"D1", "D12"} <= {one["id"] for one in page(report, "deviations.html").select("p[id]")}


def test_data_sets_that_were_not_used_are_listed_apart(report):
    data = page(report, "data.html")
    assert "Unused" in text_of(data.select_one("section:has(#registered)"))
    assert "Unused" not in text_of(data.select_one("section:has(#prepared)"))
    assert "A = 0.55, B = 1.5" in text_of(data.select_one("article#real"))


def test_limits_come_from_the_readme(report):
    assert "None of this is real." in text_of(page(report, "index.html"))


def targets(one: BeautifulSoup) -> list[str]:
    return [element[key] for key in ("href", "src") for element in one.select(f"[{key}]") if element.name != "use"]


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(report):
    """Every page works from a file; only plain links may point outside."""
    everything = pages(report)
    for path, one in everything.items():
        for element in one.select("link, script, img, iframe, source"):
            assert not re.match(r"(https?:)?//", element.get("href") or element.get("src") or ""), path
        for target in targets(one):
            if re.match(r"https?://|data:", target):
                continue
            file, _, anchor = target.partition("#")
            aim = ((report / path).parent / file).resolve() if file else report / path
            assert aim.is_file(), f"{path}: {target}"
            if anchor and aim.suffix == ".html":
                name = aim.relative_to(report.resolve()).as_posix() if file else path
                assert everything[name].find(id=anchor), f"{path}: {target}"


def test_no_two_elements_of_a_page_have_the_same_id(report):
    for path, one in pages(report).items():
        ids = [element["id"] for element in one.select("[id]")]
        assert len(ids) == len(set(ids)), path


def test_pages_name_no_place_of_the_machine(report, project):
    for path in report.rglob("*.html"):
        assert str(project) not in path.read_text(encoding="utf-8")


def test_the_report_is_the_same_bytes_again(project):
    first = {path: path.read_bytes() for path in build(project).rglob("*") if path.is_file()}
    assert {path: path.read_bytes() for path in build(project).rglob("*") if path.is_file()} == first


def test_a_plot_keeps_its_hover_texts_and_its_ids_to_itself():
    """Two plots on a page would otherwise share marks and clip each other."""
    plot = inline_svg(SVG, "eagle-fig4-", "A plot")
    assert 'id="eagle-fig4-mark"' in plot
    assert 'href="#eagle-fig4-mark"' in plot
    assert "url(#eagle-fig4-box)" in plot
    assert "<title>EAGLE: 4, 81.2</title>" in plot
    assert all(gone not in plot for gone in ("<script", "onclick", "<style", "width="))
    assert 'aria-label="A plot"' in plot


def test_markdown_links_lead_into_the_report_or_nowhere():
    links = Links({"D1": "deviations.html#D1"}, {"deviations.md": "deviations.html"})
    html = render(
        "See D1, `D1`, [here](../docs/deviations.md#x), [there](engine.md), [out](https://example.org).", links
    )
    assert '<a href="deviations.html#D1">D1</a>' in html
    assert "<code>D1</code>" in html
    assert '<a href="deviations.html#x">here</a>' in html
    assert "there" in html and "engine.md" not in html
    assert '<a href="https://example.org">out</a>' in html
    assert "<b>" not in render("<b>bold</b>", links)


def test_simulated_sets_are_marked_in_tables_of_documents():
    """The benchmark's have no column that says where a number comes from; a name within a sentence is left alone."""
    html = render("| data | s |\n| --- | --- |\n| wiki-sim | 1 |\n| wiki | 2 |\n| see wiki-sim | 3 |\n")
    assert html.count("badge simulated") == 1
    assert html.count('class="source-simulated"') == 1


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.844, "0.84 s"), (42.4, "42 s"), (190, "3 min 10 s"), (7500, "2 h 5 min"), (99.7, "1 min 40 s")],
)
def test_times_are_told_in_the_unit_people_think_in(seconds, told):
    assert seconds_told(seconds) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (1200, "1,200"),
        (81.254, "81.25"),
        (-0.5, "−0.50"),
        (0.00123, "0.00123"),
        (True, "yes"),
        (None, "none"),
        (0.0, "0.00"),
    ],
)
def test_numbers_are_told_with_as_many_digits_as_they_deserve(value, told):
    assert number_told(value) == told
