"""Train a classifier for every child of a node and every label of a leaf (labeltrees §2; Parabel; XR-Linear)."""

import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard.errors import OversizedModel
from orchard.linear import _solver_kernels, _training_kernels
from orchard.linear._layout_kernels import packed_size
from orchard.linear._solver_kernels import NARROW, WIDE
from orchard.linear.bundles import Bundles, outputs_of_nodes
from orchard.linear.model import ModelBuilder, TreeModel, code_type
from orchard.linear.search import SearchSettings, beams
from orchard.threads import cancelling, n_threads
from orchard.trees._numbering import ranges
from orchard.trees.label_tree import LabelTree

LOSSES = ("squared-hinge", "logistic")
NEGATIVES = ("tfn", "man", "tfn+man")
# A node with more labels than this is trained in several jobs, so that threads can share one-vs-all.
LABELS_OF_A_JOB = 512
MOST_WEIGHTS = 1 << 30  # of a bundle: places in it are counted in 32 bits

logger = logging.getLogger("orchard")


@dataclass(frozen=True)
class SolverSettings:
    """min ½‖w‖² + C Σ loss(yᵢ w·xᵢ), one problem per edge of the tree, solved in the dual.

    loss : 'squared-hinge' or 'logistic'.  C_positive, C_negative : the cost of a mistake on either side.
    bias : the value of a feature that every sample has; 0 for none.
    tolerance : stop when the projected gradients of a pass are at most this far apart (LIBLINEAR's rule).
    max_iterations : passes over the samples at most.  threshold : smaller weights are dropped afterwards.
    """

    loss: str = "squared-hinge"
    C_positive: float = 1.0
    C_negative: float = 1.0
    bias: float = 1.0
    tolerance: float = 0.1
    max_iterations: int = 100
    threshold: float = 0.1

    def validate(self) -> "SolverSettings":
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")
        for name in ("C_positive", "C_negative", "tolerance"):  # the estimators' C is both
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a positive number, not {getattr(self, name)!r}")
        for name in ("bias", "threshold"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)!r}")
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, not {self.max_iterations}")
        return self


@dataclass(frozen=True)
class Lists:
    """CSR lists of sample ids, ascending: those of list i are indices[indptr[i] : indptr[i + 1]]."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32

    def __getitem__(self, number) -> np.ndarray:
        return self.indices[self.indptr[number] : self.indptr[number + 1]]

    def union(self, other: "Lists", numbers: np.ndarray) -> "Lists":
        """The samples of either, for the lists with these numbers, ascending; all other lists are empty."""
        lists = [np.union1d(self[number], other[number]) for number in numbers]
        sizes = np.zeros(self.indptr.size - 1, np.int64)
        sizes[numbers] = [len(members) for members in lists]
        return Lists(np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(lists).astype(np.int32))

    @classmethod
    def of_columns(cls, indptr, indices, n_columns: int) -> "Lists":
        return cls(*_training_kernels.transpose(np.asarray(indptr, np.int64), indices, n_columns))


def samples_of_labels(Y: sp.csr_matrix) -> Lists:
    return Lists.of_columns(Y.indptr, Y.indices, Y.shape[1])


def samples_of_nodes(Y: sp.csr_matrix, tree: LabelTree) -> Lists:
    """The samples that teacher forcing trains each node on: those with a label under it; at the root all of them."""
    leaves = Lists.of_columns(tree.label_indptr, tree.label_indices, tree.n_labels)
    indptr = np.zeros(Y.shape[0] + 1, np.int64)
    last_seen = np.full(tree.n_nodes, -1, np.int64)
    paths = Y.indptr.astype(np.int64), Y.indices, leaves.indptr, leaves.indices, tree.parent, last_seen, indptr
    _training_kernels.nodes_of_samples(*paths, np.empty(0, np.int32))
    nodes = np.empty(indptr[-1], np.int32)
    last_seen.fill(-1)
    _training_kernels.nodes_of_samples(*paths, nodes)
    return Lists.of_columns(indptr, nodes, tree.n_nodes)


class ModelSize:
    """The bytes of a model while its trees are trained; when they exceed `max_gb`, of 10⁹ bytes each, training ends.

    They are counted as soon as they are there, never become fewer, and are `TreeModel.nbytes` in the end. So threads
    have a say in when training ends, not in whether it does.
    """

    def __init__(self, max_gb: float, trees: list[LabelTree]):
        self.max_gb, self.n_bytes, self.n_trained = max_gb, 0, 0
        self.n_classifiers = sum(int(outputs_of_nodes(tree).sum()) for tree in trees)
        self._lock = threading.Lock()

    def add(self, n_bytes: int, n_trained: int) -> None:
        with self._lock:
            self.n_bytes += n_bytes
            self.n_trained += n_trained
        self.check()

    def check(self) -> None:
        if self.n_bytes / 1e9 > self.max_gb:
            raise OversizedModel(
                f"the model is larger than {self.max_gb:g} GB with {self.n_trained} of its {self.n_classifiers} "
                "classifiers: raise `max_model_gb`, or drop more weights by a higher `threshold`"
            )


@dataclass(frozen=True)
class KeptMatcher:
    """The inner nodes of a trained tree, to be kept as they are in a tree with other labels in its leaves.

    nodes : int64, for every node of the other tree which one of `model.tree` it is (`LabelTree.nodes_above`).
    """

    model: TreeModel
    nodes: np.ndarray

    def check(self, tree: LabelTree) -> None:
        old = self.model.tree
        fits = self.nodes.size == tree.n_nodes and self.nodes[0] == 0 and np.diff(self.nodes).min(initial=1) > 0
        fits = fits and self.nodes[-1] < old.n_nodes and np.array_equal(tree.is_leaf, old.is_leaf[self.nodes])
        if not fits or not np.array_equal(self.nodes[tree.parent[1:]], old.parent[self.nodes[1:]]):
            raise ValueError("the matcher to keep was trained on another tree")

    def classifiers_of(self, tree: LabelTree, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of a node of `tree`, one output per child that is left: (output_indptr, features, weights, biases)."""
        W, biases = self.model.weights_of(self.nodes[node])
        children = self.nodes[tree.children[node] : tree.children[node + 1]]
        outputs = children - self.model.tree.children[self.nodes[node]]
        W = W.tocsc()[:, outputs]
        return W.indptr.astype(np.int64), W.indices.astype(np.int32), W.data, biases[outputs]


class TreeTrainer:
    """Trains the nodes of a tree, on any samples, in the order of their numbers; threads do not change the result.

    size : is told of every piece that was trained, by the thread that did it, and may end the training.
    """

    def __init__(
        self,
        X: sp.csr_matrix,
        Y: sp.csr_matrix,
        tree: LabelTree,
        settings: SolverSettings,
        seed: int,
        size: ModelSize | None = None,
    ):
        self.tree, self.settings, self.seed, self.size = tree, settings.validate(), seed, size
        self.X = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data
        self.n_samples, self.n_features = X.shape
        self.of_labels, self.of_nodes = samples_of_labels(Y), samples_of_nodes(Y, tree)
        self.n_outputs = outputs_of_nodes(tree)
        self.bundles = Bundles(tree)
        self.kind = np.empty(0, code_type(self.bundles.most_outputs))
        self._trained = ModelBuilder(tree, self.bundles, self.n_features)
        self._pieces = {}  # of bundles that wait for other nodes or for the bundles before them
        self._n_missing = self.bundles.n_nodes.copy()
        self._grown = {}  # of bundles that come in pieces: their rows so far, and the words that these will take
        self._growing = threading.Lock()
        self._scratch = threading.local()

    def train_bundles(self, bundles: np.ndarray, n_jobs: int) -> None:
        """Train all nodes of these bundles by teacher forcing, those of a bundle at once: their samples are nested.

        Those near the root are the most expensive; if they come first, threads end at about the same time.
        """
        ends = np.cumsum(self.bundles.n_nodes)
        groups = [self.bundles.order[ends[one] - self.bundles.n_nodes[one] : ends[one]] for one in bundles]
        self._train(groups, self.of_nodes, n_jobs)

    def keep(self, matcher: KeptMatcher) -> None:
        """Take the classifiers of all inner nodes from another model; those of the leaves are still to be trained."""
        matcher.check(self.tree)
        for node in np.flatnonzero(~self.tree.is_leaf):
            bundle = self.bundles.of_node[node]
            piece = matcher.classifiers_of(self.tree, node)
            self._pieces.setdefault(bundle, []).append(piece)
            self._n_missing[bundle] -= 1
            if self.size:
                self.size.add(self._growth(node, features=piece[1]), piece[3].size)

    def train_nodes(self, nodes: np.ndarray, samples_of: Lists, n_jobs: int) -> None:
        """Train these nodes one by one, each on its list of samples; those of a bundle in ascending order."""
        self._train(nodes[:, None], samples_of, n_jobs)

    def _train(self, groups, samples_of, n_jobs):
        """Train groups of nodes of a bundle; the samples of a group's first node are all that the others need."""
        progress = Progress("trained", "groups of nodes", len(groups))
        with cancelling(ThreadPoolExecutor(n_jobs)) as pool:
            jobs = deque()
            for nodes in groups:
                n_outputs = self.n_outputs[nodes].sum()
                cuts = [*range(0, n_outputs, LABELS_OF_A_JOB), n_outputs]
                whole = len(cuts) == 2 and self.bundles.n_nodes[self.bundles.of_node[nodes[0]]] == len(nodes)
                samples = samples_of[nodes[0]]
                pieces = [pool.submit(self._train_piece, nodes, samples, *cut, whole=whole) for cut in pairwise(cuts)]
                jobs.append((nodes, pieces))
            while jobs:
                nodes, pieces = jobs.popleft()
                self._collect(nodes, [piece.result() for piece in pieces])
                progress.step()

    def _collect(self, nodes, pieces):
        """Keep what was trained until its bundle is complete, and the bundles before it are."""
        bundle = self.bundles.of_node[nodes[0]]
        self._pieces.setdefault(bundle, []).extend(pieces)
        self._n_missing[bundle] -= len(nodes)
        while self._trained.n_bundles < len(self.bundles) and self._n_missing[self._trained.n_bundles] == 0:
            self._trained.add(*self._joined(self._trained.n_bundles))
            self._pieces.pop(self._trained.n_bundles - 1, None)
            self._grown.pop(self._trained.n_bundles - 1, None)

    def model(self) -> TreeModel:
        """All nodes, which must have been trained; the trainer is empty then."""
        return self._trained.model()

    def model_so_far(self) -> TreeModel:
        """A copy of what is there; a node that is still to come has no weights."""
        builder = self._trained.copy()
        for bundle in range(builder.n_bundles, len(self.bundles)):
            builder.add(*self._joined(bundle))
        return builder.model()

    def _train_piece(self, nodes, samples, first, last, whole):
        """The classifiers first … last − 1 of a group of nodes; packed, if they are a whole bundle."""
        if self.size:
            self.size.check()  # another thread may have found that it is enough
        tree, settings = self.tree, self.settings
        if tree.is_leaf[nodes[0]]:
            lists, outputs = self.of_labels, tree.labels_of(nodes[0])[first:last].astype(np.int64)
            members = np.full(outputs.size, -1)
        else:
            lists, n_children = self.of_nodes, self.n_outputs[nodes]
            outputs = ranges(tree.children[nodes], n_children)[first:last]
            members = np.repeat(np.where(nodes == nodes[0], -1, nodes), n_children)[first:last]
        position, occurrences, bitmap, room = self._thread_scratch()
        problem = _training_kernels.prepare(self.X, samples, position, occurrences, bitmap)
        solve = _solver_kernels.solve_narrow if outputs.size <= NARROW else _solver_kernels.solve_wide
        found, biases, _, _ = (_solver_kernels.solve_logistic if settings.loss == "logistic" else solve)(
            *problem,
            (lists.indptr, lists.indices),
            outputs,
            members,
            position,
            room,
            np.float32(settings.bias),
            (np.float32(settings.C_positive), np.float32(settings.C_negative)),
            np.float32(settings.tolerance),
            settings.max_iterations,
            np.float32(settings.threshold),
            _seed_of(self.seed, nodes[0], first),
        )
        position[samples] = -1
        trained = *_training_kernels.by_output(outputs.size, found), biases * np.float32(settings.bias)
        piece = self._packed(*trained) if whole else trained
        if self.size:
            n_bytes = sum(array.nbytes for array in piece) if whole else self._growth(nodes[0], features=piece[1])
            self.size.add(n_bytes, outputs.size)
        return piece

    def _growth(self, node, features):
        """The bytes by which weights of these features enlarge the bundle of a node, once that is packed."""
        bundle = self.bundles.of_node[node]
        n_outputs = self.bundles.n_outputs[bundle]
        _, counts, bitmap, _ = self._thread_scratch()
        with self._growing:
            rows, n_words = self._grown.get(bundle, (2 * (np.empty(0, np.int32),), 0))
            rows = _training_kernels.rows_with(*rows, features, counts, bitmap)
            self._grown[bundle] = rows, n_outputs + packed_size(*rows, n_outputs, self.kind)  # biases are words too
            return 4 * int(self._grown[bundle][1] - n_words)

    def _packed(self, output_indptr, features, weights, biases):
        if features.size >= MOST_WEIGHTS:
            raise ValueError(
                f"a bundle keeps {features.size} weights, at most {MOST_WEIGHTS} are possible: raise `threshold`"
            )
        _, counts, bitmap, _ = self._thread_scratch()
        return biases, *_training_kernels.pack_outputs(output_indptr, features, weights, counts, bitmap, self.kind)

    def _joined(self, bundle):
        """The pieces of a bundle as one, packed; outputs that are still to come (the last ones) get no weights."""
        pieces, n_outputs = self._pieces.get(bundle, []), self.bundles.n_outputs[bundle]
        if len(pieces) == 1 and len(pieces[0]) == 3:  # packed already
            return pieces[0]
        if not pieces:  # a leaf with one label has no classifier; any other bundle is still to come
            return np.zeros(n_outputs, np.float32), np.empty(0, np.uint32), np.empty(0, np.uint32)
        nothing = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32)
        indptrs, *rest = zip(nothing, *pieces, strict=True)
        features, weights, biases = (np.concatenate(arrays) for arrays in rest)
        counts = np.zeros(n_outputs, np.int64)
        counts[: biases.size] = np.concatenate([np.diff(indptr) for indptr in indptrs])
        biases = np.append(biases, np.zeros(n_outputs - biases.size, np.float32))
        return self._packed(np.append(0, np.cumsum(counts)), features, weights, biases)

    def _thread_scratch(self):
        if not hasattr(self._scratch, "arrays"):
            self._scratch.arrays = (
                np.full(self.n_samples, -1, np.int32),
                np.zeros(self.n_features, np.int32),
                np.zeros(self.n_features // 64 + 1, np.uint64),
                # By numpy, which asks for huge pages; of the zeros only what is written to takes memory.
                zeros_on_cache_lines(WIDE * self.n_features),
            )
        return self._scratch.arrays


def zeros_on_cache_lines(n: int) -> np.ndarray:
    """Zeros (n,) float32 that begin on a cache line of 64 bytes, so that a row of 16 lanes is one line."""
    padded = np.zeros(n + 16, np.float32)
    skipped = -padded.ctypes.data // 4 % 16
    return padded[skipped : skipped + n]


def _seed_of(seed: int, node: int, first: int) -> np.uint64:
    """Where the random numbers of a job begin; any mixing will do that never gives zero (xorshift would stay there)."""
    mixed = (int(seed) * 0x9E3779B97F4A7C15 + int(node) * 0xBF58476D1CE4E5B9 + int(first) * 0x94D049BB133111EB) % (
        1 << 64
    )
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) % (1 << 64)
    return np.uint64((mixed ^ (mixed >> 31)) | 1)


class Progress:
    """Says how far a long job is, every ten seconds."""

    def __init__(self, verb: str, things: str, total: int):
        self.verb, self.things, self.total = verb, things, total
        self.done, self.said = 0, time.monotonic()

    def step(self) -> None:
        self.done += 1
        if time.monotonic() - self.said > 10:
            self.said = time.monotonic()
            logger.info("%s %d of %d %s", self.verb, self.done, self.total, self.things)


def train_tree(
    X: sp.csr_matrix,
    Y: sp.csr_matrix,
    tree: LabelTree,
    settings: SolverSettings,
    seed: int = 0,
    negatives: str = "tfn",
    search: SearchSettings | None = None,
    n_jobs: int | None = None,
    size: ModelSize | None = None,
    matcher: KeptMatcher | None = None,
) -> TreeModel:
    """Train the classifiers of all nodes of a tree.

    X : CSR float32 (n, d), canonical.  Y : CSR (n, n_labels), canonical.
    negatives : which samples a node's classifiers see.  'tfn', teacher forcing: those with a label under the node;
        'man', matcher-aware: those whose beam (`search`) reaches the node, level by level, with the levels above
        trained already; 'tfn+man': both.  The root sees all samples, under every rule.
    size : counts the weights, those of this tree and of others, and raises OversizedModel when it is enough.
    matcher : keep these inner nodes, and train the leaves alone.
    The model depends on `seed`, never on `n_jobs` (all cores by default).
    """
    if negatives not in NEGATIVES:
        raise ValueError(f"negatives must be one of {', '.join(NEGATIVES)}, not {negatives!r}")
    n_jobs = n_threads(n_jobs)
    trainer = TreeTrainer(X, Y, tree, settings, seed, size)
    to_train = np.ones(tree.n_nodes, bool)
    if matcher:
        trainer.keep(matcher)
        to_train = tree.is_leaf
    if negatives == "tfn":
        trainer.train_bundles(np.unique(trainer.bundles.of_node[to_train]), n_jobs)
        return trainer.model()
    search = replace(search or SearchSettings(), normalise=False)  # X is as it should be
    for level, (first, last) in enumerate(pairwise(tree.levels)):
        nodes = np.arange(first, last)[to_train[first:last]]
        samples_of = trainer.of_nodes
        if level > 0 and nodes.size:
            reached, _, n_reached = beams(trainer.model_so_far(), X, search, n_levels=level, n_jobs=n_jobs)
            samples_of = _reached_lists(reached, n_reached, tree.n_nodes)
            if negatives == "tfn+man":
                samples_of = samples_of.union(trainer.of_nodes, nodes)
        trainer.train_nodes(nodes, samples_of, n_jobs)
    return trainer.model()


def _reached_lists(nodes: np.ndarray, sizes: np.ndarray, n_nodes: int) -> Lists:
    kept = np.arange(nodes.shape[1]) < sizes[:, None]
    return Lists.of_columns(np.concatenate([[0], np.cumsum(sizes)]), nodes[kept], n_nodes)
