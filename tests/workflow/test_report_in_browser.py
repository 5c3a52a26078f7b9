"""The report in a real browser: on a phone, in the dark, on paper, by keyboard, without JavaScript."""

import base64
import shutil
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
DESK = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
ENOUGH = 4.5  # WCAG 2, level AA, for text of usual size

WHAT_A_PAGE_HOLDS = """
return {
  width: document.scrollingElement.scrollWidth,
  links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
  ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
  broken: [...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src),
};"""
# The contrast of an element's text with the first ground behind it that is not transparent.
LOW_CONTRAST = """
const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
const groundOf = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const ground = channels(getComputedStyle(one).backgroundColor);
    if (ground.length === 3 || ground[3] === 1) return ground;
  }
  return [255, 255, 255];
};
const told = [];
for (const element of document.querySelectorAll(arguments[0])) {
  const [ink, ground] = [channels(getComputedStyle(element).color), groundOf(element)].map(luminance);
  const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  if (contrast < arguments[1]) told.push(`${element.className || element.tagName}: ${contrast.toFixed(2)}`);
}
return [...new Set(told)];"""


def first_found(*names: str) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="pip install -r requirements-browser.txt")
    chromium = first_found("chromium", "chromium-browser", "google-chrome", "chrome")
    driver = first_found("chromedriver", "chromium-driver")
    if not chromium or not driver:
        pytest.skip("no Chromium, or no driver for it (Debian: apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def report(finished) -> Path:
    return finished.folder / "results/report"


@pytest.fixture
def desk(browser, report):
    """Open a page of the report on a screen of usual size, in the light, with JavaScript."""

    def open_page(path: str, **media):
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", DESK)
        emulate(browser, **media)
        browser.get((report / path).as_uri())
        return browser

    return open_page


def emulate(browser, media: str = "", scheme: str = "light") -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


@pytest.fixture(scope="module")
def on_a_phone(browser, report) -> dict[str, dict]:
    """What every page holds when a phone shows it, and what the browser complained about."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    emulate(browser)
    browser.get_log("browser")  # what was before
    seen = {}
    for path in sorted(report.rglob("*.html")):
        browser.get(path.as_uri())
        holds = browser.execute_script(WHAT_A_PAGE_HOLDS)
        complaints = [entry["message"] for entry in browser.get_log("browser") if entry["level"] != "INFO"]
        seen[path.relative_to(report).as_posix()] = holds | {"complaints": complaints}
    return seen


def test_there_is_a_page_for_everything(on_a_phone, finished):
    runs = finished.folder.glob("results/runs/**/score.json")
    expected = {f"{path.parent.relative_to(finished.folder / 'results')}.html" for path in runs}
    papers = {f"{paper}.html" for paper in ("eagle", "disentangle", "labeltrees", "otseq2set")}
    others = {f"{name}.html" for name in ("index", "claims", "beyond", "runs", "data", "deviations", "benchmark")}
    assert on_a_phone.keys() == expected | papers | others


def test_no_page_makes_the_browser_complain(on_a_phone):
    assert {path: page["complaints"] for path, page in on_a_phone.items() if page["complaints"]} == {}


def test_no_page_is_wider_than_a_phone(on_a_phone):
    """Wide tables and plots scroll in their own boxes."""
    assert {path: page["width"] for path, page in on_a_phone.items() if page["width"] > PHONE["width"]} == {}


def test_no_picture_is_broken(on_a_phone):
    assert {path: page["broken"] for path, page in on_a_phone.items() if page["broken"]} == {}


def test_every_link_leads_to_a_file_and_every_anchor_to_an_element(on_a_phone, report):
    for path, page in on_a_phone.items():
        assert len(page["ids"]) == len(set(page["ids"])), path
        for link in page["links"]:
            address, anchor = urldefrag(link)
            if urlparse(address).scheme in ("http", "https"):
                continue
            file = Path(unquote(urlparse(address).path))
            assert file.is_file(), f"{path}: {link}"
            if anchor:
                assert unquote(anchor) in on_a_phone[file.relative_to(report).as_posix()]["ids"], f"{path}: {link}"


def column(browser, number: int) -> list[str]:
    """The cells of a column of the first sortable table that are shown."""
    cells = browser.find_elements("css selector", f"table.sortable tbody tr td:nth-child({number})")
    return [cell.text for cell in cells if cell.is_displayed()]


def test_tables_sort_by_click_and_by_key(desk):
    from selenium.webdriver.common.keys import Keys

    browser = desk("runs.html")
    head = browser.find_element("css selector", "table.sortable th:nth-child(5)")
    before = column(browser, 5)
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    numbers = [float(cell) for cell in column(browser, 5) if cell != "–"]
    assert numbers == sorted(numbers) and len(set(numbers)) > 10
    head.find_element("css selector", "button").send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(cell) for cell in column(browser, 5) if cell != "–"] == numbers[::-1]
    head.find_element("css selector", "button").send_keys(Keys.SPACE)
    assert head.get_attribute("aria-sort") == "none"
    assert column(browser, 5) == before


def test_tables_filter_by_words_and_by_chips(desk):
    browser = desk("runs.html")
    everything = column(browser, 2)
    field = browser.find_element("css selector", ".tools input")
    field.send_keys("digits miml")
    shown = column(browser, 2)
    assert 0 < len(shown) < len(everything)
    assert all("digits" in name for name in shown)
    assert f"{len(shown)} of {len(everything)} rows" in browser.find_element("css selector", ".tools output").text
    field.clear()
    field.send_keys(" ")
    chip = next(one for one in browser.find_elements("css selector", ".chips button") if "smoke-sim" in one.text)
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    assert {name.split()[0] for name in column(browser, 2)} == {"smoke-sim"}
    chip.click()
    assert len(column(browser, 2)) == len(everything)


def test_chips_choose_verdicts(desk):
    browser = desk("claims.html")
    chip = next(
        one for one in browser.find_elements("css selector", ".chips button") if one.text.startswith("reproduced")
    )
    chip.click()
    assert {cell.lstrip("✓ ") for cell in column(browser, 1)} == {"reproduced"}


def test_a_link_to_a_claim_opens_what_it_is_folded_into(desk):
    browser = desk("claims.html")
    link = browser.find_element("css selector", "table.sortable tbody a").get_attribute("href")
    browser.get(link)
    assert browser.find_element("id", unquote(urldefrag(link)[1])).is_displayed()


def test_the_keyboard_finds_its_way(desk):
    """The first stop is the link that skips the navigation, and the focus can be seen."""
    from selenium.webdriver.common.keys import Keys

    browser = desk("index.html")
    browser.find_element("css selector", "body").send_keys(Keys.TAB)
    skip = browser.switch_to.active_element
    assert skip.text == "Skip to the content"
    assert skip.value_of_css_property("outline-style") != "none"
    skip.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "content"


def test_a_box_that_scrolls_says_so_and_can_be_focused(browser, report, desk):
    desk("runs.html")
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    browser.get((report / "runs.html").as_uri())
    box = browser.find_element("css selector", ".scroll:has(table)")
    assert box.get_attribute("tabindex") == "0"
    assert browser.find_element("css selector", ".scroll + .hint").is_displayed()


def test_without_javascript_every_table_is_whole(desk, browser, report):
    rows = len(desk("runs.html").find_elements("css selector", "table tbody tr"))
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get((report / "runs.html").as_uri())
    assert len(browser.find_elements("css selector", "table tbody tr")) == rows > 10
    assert not browser.find_elements("css selector", "th button, .tools")  # nothing that would not work


def test_dark_pages_are_dark_and_pictures_stay_as_they_are(desk):
    def ground(browser):
        return browser.find_element("css selector", "body").value_of_css_property("background-color")

    light = ground(desk("eagle.html"))
    browser = desk("eagle.html", scheme="dark")
    assert ground(browser) != light
    filters = {
        name: browser.find_element("css selector", f"#{name} .plot svg").value_of_css_property("filter")
        for name in ("fig4", "fig5", "fig10")
    }
    assert "invert" in filters["fig4"]
    assert filters["fig5"] == filters["fig10"] == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["index.html", "eagle.html", "claims.html", "data.html", "runs.html"])
def test_words_stand_out_from_their_ground(desk, path, scheme):
    words = ".badge, .verdict, .fine, .where, .kicker, th, td, a, dt, .bar span, figcaption"
    assert desk(path, scheme=scheme).execute_script(LOW_CONTRAST, words, ENOUGH) == []


def test_on_paper_there_is_no_navigation(desk):
    browser = desk("eagle.html", media="print")
    assert not browser.find_element("css selector", ".masthead nav").is_displayed()
    assert browser.find_element("css selector", "article.artefact h2").is_displayed()
    emulate(browser)
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
