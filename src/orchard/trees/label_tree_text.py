"""A label tree as text for people: one line per node, its children indented below it."""

from collections.abc import Sequence

import numpy as np


def draw_tree(tree, label_names: Sequence[str] | None, max_lines: int, max_labels: int) -> str:
    """Depth first, at most `max_lines` nodes, at most `max_labels` labels of a leaf; says how much was left out.

    label_names : n_labels names; the labels' numbers stand in their place without.
    """
    lines = []
    waiting = [(0, "", "")]  # node, indentation of its line, indentation of the lines below it
    while waiting and len(lines) < max_lines:
        node, here, below = waiting.pop()
        lines.append(here + _describe(tree, node, label_names, max_labels))
        nodes = range(tree.children[node], tree.children[node + 1])
        for child in reversed(nodes):
            is_last = child == nodes[-1]
            waiting.append((child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")))
    if len(lines) < tree.n_nodes:
        lines.append(f"… and {_count(tree.n_nodes - len(lines), 'more node')}")
    return "\n".join(lines)


def _describe(tree, node: int, label_names, max_labels: int) -> str:
    if not tree.is_leaf[node]:
        return f"{node}: {_count(int(np.diff(tree.children[node : node + 2])[0]), 'child')}"
    labels = tree.labels_of(node)
    shown = [str(label) if label_names is None else label_names[label] for label in labels[:max_labels]]
    if labels.size > max_labels:
        shown.append(f"… {labels.size - max_labels} more")
    return f"{node}: {_count(labels.size, 'label')}: {', '.join(shown)}"


def _count(n: int, what: str) -> str:
    plural = "children" if what == "child" else f"{what}s"
    return f"{n:,} {what if n == 1 else plural}"
