"""Trained trees as one file: an npz archive, compact, without pickled objects, checked in full when it is read."""

import json
import operator

import numpy as np

from orchard.archives import read_archive, single, write_archive
from orchard.errors import FormatError
from orchard.linear import _storage_kernels
from orchard.linear._layout_kernels import pack
from orchard.linear.bundles import Bundles
from orchard.linear.model import Growing, ModelBuilder, TreeModel, code_type
from orchard.trees.label_tree import LabelTree

KIND, VERSION = "model", 3
_ARRAYS = {
    "children": "iu",
    "label_indptr": "iu",
    "label_indices": "iu",
    "bundle_rows": "iu",
    "bundle_entries": "iu",
    "rows": "u",
    "outputs": "u",
    "weights": "f",
    "biases": "f",
}


def save_models(path, header: dict, models: list[TreeModel]) -> None:
    """Write trained trees and a header of plain values."""
    arrays = {"header": np.array(json.dumps({**header, "n_trees": len(models)}, sort_keys=True))}
    for number, model in enumerate(models):
        arrays |= {f"tree{number}.{name}": array for name, array in _to_arrays(model).items()}
    write_archive(path, KIND, VERSION, arrays)


def load_models(path) -> tuple[dict, list[TreeModel]]:
    """What `save_models` wrote; a damaged or foreign file, or another version, is refused with a FormatError."""
    arrays = read_archive(path, KIND, VERSION)
    try:
        header = json.loads(single(arrays.get("header"), "U") or "")
        n_trees, n_features = (operator.index(header[name]) for name in ("n_trees", "n_features"))
        if not 0 <= n_features <= np.iinfo(np.int32).max:
            raise ValueError(f"{n_features} features")
        models = [_from_arrays(_part(arrays, number), n_features) for number in range(n_trees)]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(path, None, f"damaged: {error}") from None
    if not models or any(model.tree.n_labels != models[0].tree.n_labels for model in models):
        raise FormatError(path, None, "damaged: its trees do not have the same labels")
    return header, models


def _to_arrays(model: TreeModel) -> dict[str, np.ndarray]:
    tree, bundles = model.tree, model.bundles
    n_rows, n_entries = np.zeros(len(bundles), np.int64), np.zeros(len(bundles), np.int64)
    rows, weights = Growing(np.uint8), Growing(np.float32)
    outputs = Growing(np.min_scalar_type(max(0, bundles.most_outputs - 1)))
    for bundle in range(len(bundles)):  # one by one: all of them at once would take the memory of several models
        features, begins, own_outputs, own_weights = model.rows_of(bundle)
        room = np.empty(10 * features.size, np.uint8)
        rows.append(room[: _storage_kernels.encode_rows(features, begins, room)])
        outputs.append(own_outputs)
        weights.append(own_weights)
        n_rows[bundle], n_entries[bundle] = features.size, own_weights.size
    return {
        "children": _smallest(tree.children),
        "label_indptr": _smallest(tree.label_indptr),
        "label_indices": _smallest(tree.label_indices),
        "bundle_rows": _smallest(n_rows),
        "bundle_entries": _smallest(n_entries),
        "rows": rows.done(),
        "outputs": outputs.done(),
        "weights": weights.done(),
        "biases": model.biases,
    }


def _smallest(array: np.ndarray) -> np.ndarray:
    """The same non-negative integers in the smallest type that holds them."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def _part(arrays: dict[str, np.ndarray], number: int) -> dict[str, np.ndarray]:
    part = {}
    for name, kinds in _ARRAYS.items():
        array = arrays[f"tree{number}.{name}"]
        if array.ndim != 1 or array.dtype.kind not in kinds:
            raise ValueError(f"tree{number}.{name} is not what it should be")
        part[name] = array
    return part


def _from_arrays(part: dict[str, np.ndarray], n_features: int) -> TreeModel:
    if part["label_indices"].max(initial=0) > np.iinfo(np.int32).max:
        raise ValueError("a label is out of range")
    labels = part["label_indices"].astype(np.int32)
    n_labels = int(labels.max(initial=-1)) + 1
    tree = LabelTree(part["children"].astype(np.int64), part["label_indptr"].astype(np.int64), labels, n_labels)
    rows, outputs = part["rows"], part["outputs"]
    weights, biases = part["weights"].astype(np.float32, copy=False), part["biases"].astype(np.float32, copy=False)
    bundles = Bundles(tree)
    n_outputs = bundles.n_outputs
    if (
        part["bundle_rows"].size != len(bundles)
        or part["bundle_entries"].size != len(bundles)
        or part["bundle_rows"].min() < 0
        or (part["bundle_rows"] > part["bundle_entries"]).any()
        or part["bundle_entries"].max() > weights.size
    ):
        raise ValueError("its nodes do not fit its weights")
    entry_begins = np.concatenate([[0], np.cumsum(part["bundle_entries"], dtype=np.int64)])
    bias_begins = np.concatenate([[0], np.cumsum(n_outputs)])
    if (
        not weights.size == outputs.size == entry_begins[-1]
        or biases.size != bias_begins[-1]
        or not (np.isfinite(weights).all() and weights.all() and np.isfinite(biases).all())
    ):
        raise ValueError("its arrays do not fit together")
    kind = np.empty(0, code_type(n_outputs.max()))
    # A table has 3 words per row and a head at most; a row, dense or not, a word and 3 per entry (see _layout_kernels).
    n_rows, n_entries = int(part["bundle_rows"].sum()), int(entry_begins[-1])
    builder = ModelBuilder(
        tree, bundles, n_features, (biases.size, 3 * n_rows + 8 * len(bundles), n_rows + 3 * n_entries)
    )
    at = 0
    for bundle in range(len(bundles)):
        entries = slice(entry_begins[bundle], entry_begins[bundle + 1])
        n_rows = int(part["bundle_rows"][bundle])
        features, begins = np.empty(n_rows, np.int32), np.empty(n_rows + 1, np.int64)
        n_entries = entries.stop - entries.start
        at = _storage_kernels.decode_rows(rows, at, n_rows, n_entries, n_features, features, begins)
        if at < 0 or not _storage_kernels.outputs_ascend(begins, outputs[entries], n_outputs[bundle]):
            raise ValueError(f"the weights of bundle {bundle} make no sense")
        packed = pack(features, begins, outputs[entries], weights[entries], n_outputs[bundle], kind)
        builder.add(biases[bias_begins[bundle] : bias_begins[bundle + 1]], *packed)
    if at != rows.size:
        raise ValueError("there are more weights than bundles")
    return builder.model()
