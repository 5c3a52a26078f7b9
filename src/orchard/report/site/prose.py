"""Markdown as HTML: wide tables in boxes that scroll, deviations (D12) as links, nothing of it trusted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

SHORT_CELL, LONG_CELL = 34, 120  # letters: what stands on one line, and what wants a wide column
SOURCES = ("published", "measured", "simulated", "counted")
BADGE = '<span class="badge simulated">simulated</span>'
_SIMULATED_SET = re.compile(r"[a-z0-9.-]+-sim(-[a-z0-9]+)?")
_DEVIATION = re.compile(r"\bD\d+\b")
_DEFINED = re.compile(r"(D\d+)\.\s*(.*)")
_EXTERNAL = re.compile(r"https?://")


@dataclass(frozen=True)
class Links:
    """Where links of a document lead, as seen from the page that shows it.

    deviations : {id: address}.  documents : {file name: address}; any other relative link is only told.
    """

    deviations: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)


NOWHERE = Links()


def render(text: str, links: Links = NOWHERE, label: str = "Table") -> Markup:
    """label : what the boxes around tables are called."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    _mark_tables(tokens, label)
    _name_definitions(tokens)
    for token in tokens:
        if token.children:
            token.children = _linked(token.children, links)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def render_inline(text: str, links: Links = NOWHERE) -> Markup:
    """A sentence, without a paragraph around it."""
    parser = MarkdownIt("commonmark", {"html": False})
    tokens = parser.parseInline(text)
    for token in tokens:
        token.children = _linked(token.children or [], links)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def without_title(text: str) -> str:
    """A document without its first heading, which its page prints itself."""
    first, _, rest = text.partition("\n")
    return rest if first.startswith("# ") else text


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def defined_deviations(text: str) -> dict[str, str]:
    """{id: title} of the paragraphs of docs/deviations.md that begin with `**D1. Title.**`."""
    return dict(re.findall(r"^\*\*(D\d+)\. *(.+?)\.?\*\*", text, flags=re.M))


def deviations_naming(text: str, target: str) -> list[str]:
    """The ids of the paragraphs that name an artefact by its target."""
    named = re.compile(rf"(?<![\w-]){re.escape(target)}(?![\w-])")
    paragraphs = (part for part in text.split("\n\n") if named.search(part))
    return [match[1] for part in paragraphs if (match := re.match(r"\*\*(D\d+)\.", part.strip()))]


def ids_in(text: str) -> list[str]:
    """The deviations that a text names, each once."""
    return list(dict.fromkeys(_DEVIATION.findall(text)))


def _mark_tables(tokens: list[Token], label: str) -> None:
    """Every table gets its box; a row whose source is told gets a class of it, and simulated data its badge."""
    for index in range(len(tokens) - 1, -1, -1):
        token = tokens[index]
        if token.type == "table_open":
            token.attrSet("class", "sortable")
            box = f'<div class="scroll" tabindex="0" role="region" aria-label="{_quoted(label)}">'
            tokens.insert(index, _html(box))
        elif token.type == "table_close":
            tokens.insert(index + 1, _html("</div>"))
    for token in tokens:
        if token.type == "th_open":
            token.attrSet("scope", "col")
    for row in _body_rows(tokens):
        _mark_row(row)


def _body_rows(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of every row below a header."""
    row, inside = [], False
    for token in tokens:
        if token.type in ("tbody_open", "tbody_close"):
            inside = token.type == "tbody_open"
        elif inside:
            row.append(token)
            if token.type == "tr_close":
                yield row
                row = []


def _mark_row(row: list[Token]) -> None:
    cells = [(row[index - 1], token) for index, token in enumerate(row) if token.type == "inline"]
    for opening, cell in cells:
        if not SHORT_CELL < len(cell.content) <= LONG_CELL:
            opening.attrSet("class", "short" if len(cell.content) <= SHORT_CELL else "long")
    told = [cell.content for _, cell in cells]
    sources = [text for text in told if text in SOURCES]
    simulated = any(map(_SIMULATED_SET.fullmatch, told)) or "simulated" in sources
    if simulated or sources:
        row[0].attrSet("class", f"source-{'simulated' if simulated else sources[0]}")
    for _, cell in cells:
        if cell.content == "simulated":
            cell.children = [_html(BADGE)]
        elif _SIMULATED_SET.fullmatch(cell.content) and "simulated" not in sources:
            cell.children = [*(cell.children or []), _html(f" {BADGE}")]


def _name_definitions(tokens: list[Token]) -> None:
    """A paragraph `**D12. Title.** …` can be linked to as #D12."""
    for before, token in pairwise(tokens):
        children = token.children or []
        starts_bold = len(children) > 1 and any(child.type == "strong_open" for child in children[:2])
        if before.type == "paragraph_open" and starts_bold and (match := _DEFINED.match(token.content.lstrip("*"))):
            before.attrSet("id", match[1])
            before.attrSet("class", "definition")


def _linked(children: list[Token], links: Links) -> list[Token]:
    """Deviations in plain text become links; links to what is not part of the report become their text."""
    done, inside, kept = [], False, []
    for child in children:
        if child.type == "link_open":
            inside = True
            address = _address(str(child.attrGet("href")), links)
            kept.append(address is not None)
            if address is None:
                continue
            child.attrSet("href", address)
        elif child.type == "link_close":
            inside = False
            if not kept.pop():
                continue
        elif child.type == "image":
            child = _html(_quoted(child.content))
        elif child.type == "text" and not inside:
            done += _with_deviations(child.content, links)
            continue
        done.append(child)
    return done


def _address(href: str, links: Links) -> str | None:
    """An address outside stays; a document that is a page becomes that page; anything else is nowhere."""
    if _EXTERNAL.match(href) or href.startswith("#"):
        return href
    file, _, anchor = href.partition("#")
    address = links.documents.get(file.rpartition("/")[2])
    return address and address + (f"#{anchor}" if anchor else "")


def _with_deviations(text: str, links: Links) -> list[Token]:
    tokens, end = [], 0
    for match in _DEVIATION.finditer(text):
        if match[0] in links.deviations:
            tokens.append(_text(text[end : match.start()]))
            tokens.append(_html(f'<a href="{_quoted(links.deviations[match[0]])}">{match[0]}</a>'))
            end = match.end()
    return [*tokens, _text(text[end:])]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _html(content: str) -> Token:
    """Ours, never a document's."""
    return Token("html_inline", "", 0, content=content)


def _quoted(text: str) -> str:
    return str(Markup.escape(text))
