"""What is measured: data sets, configurations, repetitions, limits, bars. No other file holds such a number."""

from dataclasses import dataclass, field

THREADS = 2
K = 5
REPEATS = 5
QUERIES = 2000  # single queries per measurement at most, after a warm-up; bench/worker.py limits their time
TIME_LIMIT = 1800  # seconds for one measurement

PEER_DATASETS = ("eurlex-4k", "wiki10-31k-sim", "amazon-67k-sim")
# With their numbers of labels.
CURVE_DATASETS = {
    "amazon-10k-sim": 10_001,
    "amazon-67k-sim": 67_009,
    "amazon-200k-sim": 201_027,
    "amazon-670k-sim": 670_091,
}
CURVE_REPEATS = {"amazon-10k-sim": 3, "amazon-67k-sim": 3, "amazon-200k-sim": 1, "amazon-670k-sim": 1}
ONE_THREAD_REPEATS = {"eurlex-4k": 3, "wiki10-31k-sim": 1, "amazon-67k-sim": 3}
LARGER_DATASETS = ("wiki10-31k-sim", "amazon-67k-sim")  # where two threads have to pay
THREAD_DATASETS = ("eurlex-4k", *LARGER_DATASETS)

# Who is compared on PECOS's trees, and with how many seeds at most.
SAME_TREES = (("pecos-2-ary", "orchard-2-ary"), ("pecos-16-ary", "orchard-16-ary"))
SAME_TREE_SEEDS = {"eurlex-4k": 5, "wiki10-31k-sim": 1, "amazon-67k-sim": 1}

SCALED = ("orchard-binary", "orchard-16-ary")  # the configurations of the scaling part

# The part `imputation`: EAGLE in random groups.
IMPUTATION_DATASET = "eurlex-4k"
GROUP_SIZE = 4
IMPUTATION_ITERATIONS = 20
IMPUTATION_TREES = (3, 1)  # of the Parabel that is trained afterwards; the first is its default
GROUP_SIZES = (2, 4, 6, 8, 10, 16, 32)
ROW_SHARES = (0.125, 0.25, 0.5, 1.0)  # of the rows of every data set of the peers
IMPUTATION_CURVE_REPEATS = 3
IMPUTATION_LARGEST = "amazon-670k-sim"  # for memory
PLAIN_LABELS = 100  # of the scipy implementation, where all would take too long (--quick)

_EQUAL = {"max_leaf": 100, "beam": 10, "C": 1.0, "threshold": 0.1}

# The part `overlap`: labels in several clusters (disentangle).
OVERLAP_BACKBONE = {**_EQUAL, "estimator": "XRLinear", "n_splits": 32}
OVERLAP_COPIES = (1, 2, 4)  # λ
OVERLAP_REPEATS = 3
OVERLAP_FEWER_REPEATS = {("wiki10-31k-sim", 4): 1}  # by data set and λ: clusters of ten thousand labels
SOLVER_COPIES = 2
_LIMITS = {"cap": 1.5, "budget": 1.5}
# As `orchard.disentanglement.Overlap` has them; the others are compared with the first.
SOLVERS = {
    "projection": {},
    "greedy coverage": {"solver": "coverage"},
    "weighted coverage": {"solver": "coverage", "weighted": True},
    "coverage with limits": {"solver": "coverage", **_LIMITS},
    "exact coverage": {"solver": "exact"},
    "projection with limits": _LIMITS,
}
SOLVER_CALLS = 5  # of every solver, in a process; their median is one measurement
# Orchard and PECOS over the same overlapping trees.
AGREEMENT_DATASET = "eurlex-4k"
AGREEMENT_SEEDS = 3
AGREEMENT_COPIES = 2
AGREEMENT_BEST = 160  # copies of labels that PECOS predicts, before those of a label are merged

# The part `softmax`: hierarchical softmax beside fastText, with the settings of labeltrees §5.4.2.
SOFTMAX = {"dimension": 128, "learning_rate": 0.5, "min_count": 2}
SOFTMAX_WORD_NGRAMS = {"eurlex-4k": 1, "pubmed-mesh": 2}  # by data set; EurLex-4K has no text, so no n-grams either
SOFTMAX_EPOCHS = {25: 3, 200: 1}  # with how many repetitions at most


@dataclass(frozen=True)
class Configuration:
    """An engine with its settings. Those with the same `family` have the same settings."""

    name: str
    engine: str
    title: str
    family: str
    settings: dict = field(hash=False)
    # Only these data sets; None for all.
    datasets: tuple[str, ...] | None = None
    # Data sets on which it is so slow, or so like another one, that fewer repetitions have to do (column n says so).
    # REPEATS have everywhere: PECOS with 16 children and omikuji with 2, the best peers, and Orchard beside them.
    fewer_repeats: dict[str, int] = field(default_factory=dict, hash=False)

    @property
    def is_orchard(self) -> bool:
        return self.engine == "orchard"

    def repeats(self, dataset: str, wanted: int) -> int:
        return min(wanted, self.fewer_repeats.get(dataset, wanted))


FAMILIES = {
    "binary": "one tree, binary (Parabel)",
    "2-ary": "one tree, 2 children (XR-Linear)",
    "16-ary": "one tree, 16 children (XR-Linear)",
    "three": "three trees, binary (Parabel)",
    "other": "another model",
}

_BINARY = {**_EQUAL, "n_trees": 1, "n_splits": 2}
_WIDE = {**_EQUAL, "n_trees": 1, "n_splits": 16}
_THREE = {**_EQUAL, "n_trees": 3, "n_splits": 2}
_REDUNDANT = {"wiki10-31k-sim": 1, "amazon-67k-sim": 1}
_SLOW = {"eurlex-4k": 3, "wiki10-31k-sim": 1, "amazon-67k-sim": 1}
_EURLEX = ("eurlex-4k",)

CONFIGURATIONS = [
    Configuration("orchard-binary", "orchard", "Orchard Parabel", "binary", {**_BINARY, "estimator": "Parabel"}),
    Configuration("omikuji-binary", "omikuji", "omikuji", "binary", _BINARY),
    Configuration("napkinxc-binary", "napkinxc", "napkinXC PLT", "binary", _BINARY, fewer_repeats=_SLOW),
    Configuration(
        "orchard-2-ary", "orchard", "Orchard XRLinear", "2-ary", {**_BINARY, "estimator": "XRLinear"}, None, _SLOW
    ),
    Configuration("pecos-2-ary", "pecos", "PECOS, 2 splits", "2-ary", _BINARY, fewer_repeats=_SLOW),
    Configuration("orchard-16-ary", "orchard", "Orchard XRLinear", "16-ary", {**_WIDE, "estimator": "XRLinear"}),
    Configuration("pecos-16-ary", "pecos", "PECOS, 16 splits", "16-ary", _WIDE),
    Configuration("omikuji-16-ary", "omikuji", "omikuji, collapsed", "16-ary", _WIDE, fewer_repeats=_REDUNDANT),
    Configuration("orchard-three", "orchard", "Orchard Parabel", "three", {**_THREE, "estimator": "Parabel"}, _EURLEX),
    Configuration("omikuji-three", "omikuji", "omikuji", "three", _THREE, _EURLEX, {"eurlex-4k": 3}),
    Configuration("napkinxc-three", "napkinxc", "napkinXC PLT", "three", _THREE, _EURLEX, {"eurlex-4k": 1}),
    Configuration(
        "fasttext", "fasttext", "fastText hs", "other", {"dim": 100, "epoch": 25, "lr": 0.5}, fewer_repeats=_SLOW
    ),
]

# Published by the authors of Parabel, three trees.
PUBLISHED = {("eurlex-4k", "three"): (82.71, 69.42, 58.14)}


@dataclass(frozen=True)
class Quantity:
    """A measured cost; smaller is better. `bar` is the largest allowed ratio of Orchard to the best peer."""

    key: str
    title: str
    unit: str
    bar: float | None
    scale: float = 1.0


QUANTITIES = [
    Quantity("train_s", "training", "s", 0.25),
    Quantity("train_cpu_s", "training CPU", "s", 0.25),
    Quantity("batch_ms", "batch", "ms", 0.4),
    Quantity("batch_cpu_ms", "batch CPU", "ms", 0.4),
    Quantity("single_median_ms", "single query", "ms", 0.5),
    Quantity("single_p99_ms", "single p99", "ms", None),
    Quantity("train_peak_bytes", "peak memory, training", "MB", 1.2, 1e-6),
    Quantity("predict_peak_bytes", "peak memory, prediction", "MB", 1.2, 1e-6),
    Quantity("model_bytes", "model on disk", "MB", 1.0, 1e-6),
]
PRECISIONS = ("P@1", "P@3", "P@5")

COMPARABLE_POINTS = 2.0  # of mean P@1/3/5 below the most accurate peer
PRECISION_BAR = 0.3  # points to a peer with the same settings
PUBLISHED_BAR = 1.0  # points to the published numbers
SPEED_UP_BAR = 1.8  # of two threads over one, on the larger sets
WARM_START_BAR = 2.0  # seconds for a process that imports, loads and answers a first query, with a warm cache
MEMORY_LIMIT = 16e9  # bytes, for the largest set
IMPUTATION_BAR = 0.25  # of imputation to the training of Parabel's three trees
PLAIN_BAR = 50  # times that the scipy implementation is slower, one thread
COVERAGE_BAR = 2.0  # of coverage, in any way, to projection
AGREEMENT_BAR = 0.5  # points to PECOS over the same overlapping trees
SOFTMAX_PRECISION_BAR = 1.5  # points of P@1 to fastText
SOFTMAX_TIME_BAR = 1.0  # of training to that of fastText, one thread each

# Interpolated trees: λ′ of some of the paper's values, the data sets at whose sizes the bar is set.
TREE_LAMBDAS = (0, 0.5, 1, 2, 6, 30, 1000, 100_000)
TREE_DATASETS = ("amazon-67k-sim", "amazon-670k-sim")
TREE_REPEATS = 3
TREE_BAR = 1.5

# ---- Training steps of the networks that write labels ----
STEP_METHODS = ("seq2seq", "seq2seq-lc", "sgm", "bm-all-ot", "bm-all-ot-lc")
_PAPER_SIZES = {
    "hidden": 512, "bottleneck": None, "max_words": 50_000, "max_tokens": 1000, "batch_size": 32,
    "embedding_size": 300, "label_embedding_size": 300,
}  # fmt: skip
_GLOVE = {"parameters": {}, "vectors": "glove-6b-50d"}
STEP_SIZES = [
    {"size": "reuters-21578, 64 units", "dataset": "reuters-21578", "steps": 60} | _GLOVE,
    {"size": "pubmed-mesh-frequent, 64 units", "dataset": "pubmed-mesh-frequent", "steps": 60} | _GLOVE,
    {"size": "pubmed-mesh, 64 units", "dataset": "pubmed-mesh", "steps": 40} | _GLOVE,
    {"size": "pubmed-mesh, the paper's 512 units", "dataset": "pubmed-mesh", "steps": 8}
    | {"parameters": _PAPER_SIZES, "vectors": None},
]
STEP_BARS = {"matching + transport": 5, "÷ cross-entropy": 1.15, "÷ Seq2Seq": 1.25}  # the first in per cent of a step
