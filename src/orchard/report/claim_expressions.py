"""The language of claims: values in brackets, arithmetic, and one comparison.

`[EAGLE | setting=R-4] > [Baseline] + 1` compares measured values; `{EAGLE}` is the published one. Beside the row an
operand may name parts of the place that it stands at; the others come from the place where the claim is judged.
Operands are cut out first, and what is left is read as Python, of which a handful of nodes is understood; nothing is
ever executed.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import mean

from orchard.config import did_you_mean
from orchard.errors import ConfigError

Place = dict[str, str | float]  # {key: value}, such as {"setting": "R-4", "metric": "P@1"}

_OPERAND = re.compile(r"\[(?P<measured>[^\[\]{}]*)\]|\{(?P<published>[^\[\]{}]*)\}")
_NAME = "operand_{}"
_COMPARISONS = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<="}
_ARITHMETIC: dict[type, Callable] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
_SIGNS: dict[type, Callable] = {ast.UAdd: lambda a: a, ast.USub: lambda a: -a}
_FUNCTIONS: dict[str, Callable] = {
    "abs": lambda *values: abs(*values),
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "mean": lambda *values: mean(values),
}


@dataclass(frozen=True)
class Operand:
    """A value that an expression speaks of: its row, and those parts of its place that it fixes itself."""

    row: str
    fixed: tuple[tuple[str, str], ...]
    published: bool

    @property
    def place(self) -> Place:
        return dict(self.fixed)

    def __str__(self) -> str:
        inner = " | ".join([self.row, *(f"{key}={value}" for key, value in self.fixed)])
        return f"{{{inner}}}" if self.published else f"[{inner}]"


@dataclass(frozen=True)
class Expression:
    """Two sides and the comparison between them; `operands` in the order in which they stand in the text."""

    text: str
    left: ast.expr
    right: ast.expr
    comparison: str
    operands: tuple[Operand, ...]

    @property
    def strict(self) -> bool:
        """Whether equal sides do not fulfil it."""
        return self.comparison in ("<", ">")

    @property
    def upward(self) -> bool:
        """Whether the left side is to be the larger one."""
        return self.comparison in (">", ">=")

    def sides(self, values: list[float]) -> tuple[float, float]:
        """(left, right) for the values of the operands; a ZeroDivisionError where it divides by 0."""
        return _evaluate(self.left, values), _evaluate(self.right, values)

    def slack(self, left: float, right: float) -> float:
        """How far the comparison is fulfilled: left − right for `>`, right − left for `<`."""
        return left - right if self.upward else right - left


def of_both_signs(expression: Expression) -> list[Expression]:
    """A distance, `abs(a) <= b`, as `a <= b` and `-a <= b`, so that the interval around a is judged; others alone."""
    if not is_distance(expression.left):
        return [expression]
    inner = expression.left.args[0]
    return [replace(expression, left=inner), replace(expression, left=ast.UnaryOp(ast.USub(), inner))]


def is_distance(side: ast.expr) -> bool:
    return isinstance(side, ast.Call) and ast.unparse(side.func) == "abs"


def parse_expression(text: str) -> Expression:
    """Read an expression; a ConfigError says what in it is not understood."""
    text = " ".join(text.split())  # YAML may have folded it
    operands: list[Operand] = []

    def name_of_operand(match: re.Match) -> str:
        operands.append(_operand(match))
        return f" {_NAME.format(len(operands) - 1)} "

    rewritten = _OPERAND.sub(name_of_operand, text).replace("−", "-").strip()
    if stray := re.search(r"[\[\]{}]", rewritten):
        raise ConfigError(f"expression {text!r}: a {stray[0]!r} without its counterpart")
    if not operands:
        raise ConfigError(f"expression {text!r}: it names no value ([row] is a measured one, {{row}} a published one)")
    try:
        tree = ast.parse(rewritten, mode="eval").body
    except SyntaxError as error:
        raise ConfigError(f"expression {text!r}: {error.msg}") from None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _COMPARISONS:
        raise ConfigError(f"expression {text!r}: it must be one comparison, with >, >=, < or <=")
    for side in (tree.left, tree.comparators[0]):
        _check(side, text, len(operands))
    if is_distance(tree.comparators[0]):
        raise ConfigError(f"expression {text!r}: a distance, abs(…), stands on the left")
    return Expression(text, tree.left, tree.comparators[0], _COMPARISONS[type(tree.ops[0])], tuple(operands))


def _operand(match: re.Match) -> Operand:
    published = match["published"] is not None
    row, *parts = (part.strip() for part in (match["published"] if published else match["measured"]).split("|"))
    if not row:
        raise ConfigError(f"{match[0]}: it names no row")
    fixed = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise ConfigError(f"{match[0]}: {part!r} should read key=value")
        if key in fixed:
            raise ConfigError(f"{match[0]}: {key} stands there twice")
        fixed[key] = value
    return Operand(row, tuple(fixed.items()), published)


def _check(node: ast.expr, text: str, n_operands: int) -> None:
    """Refuse every node but numbers, operands, arithmetic and the functions above."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return
    if isinstance(node, ast.Name) and node.id in map(_NAME.format, range(n_operands)):
        return
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        parts = [node.operand]
    elif isinstance(node, ast.Call):
        parts = _arguments(node, text)
    else:
        raise ConfigError(f"expression {text!r}: {ast.unparse(node)!r} is not understood here")
    for part in parts:
        _check(part, text, n_operands)


def _arguments(node: ast.Call, text: str) -> list[ast.expr]:
    name = ast.unparse(node.func)
    if name not in _FUNCTIONS:
        known = ", ".join(_FUNCTIONS)
        raise ConfigError(
            f"expression {text!r}: unknown function {name!r}{did_you_mean(name, _FUNCTIONS)} (known: {known})"
        )
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if node.keywords or starred or not node.args or (name == "abs" and len(node.args) > 1):
        raise ConfigError(f"expression {text!r}: {name}() takes {'one value' if name == 'abs' else 'plain values'}")
    return node.args


def _evaluate(node: ast.expr, values: list[float]) -> float:
    """The value of a checked node."""
    if isinstance(node, ast.Constant):
        return float(node.value)
    if isinstance(node, ast.Name):
        return values[int(node.id.rpartition("_")[2])]
    if isinstance(node, ast.BinOp):
        return _ARITHMETIC[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
    if isinstance(node, ast.UnaryOp):
        return _SIGNS[type(node.op)](_evaluate(node.operand, values))
    return _FUNCTIONS[ast.unparse(node.func)](*(_evaluate(argument, values) for argument in node.args))
