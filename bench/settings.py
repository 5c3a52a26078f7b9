"""What is measured: data sets, configurations, repetitions, limits, bars. No other file holds such a number."""

from dataclasses import dataclass, field

THREADS = 2
K = 5
REPEATS = 5
QUERIES = 2000  # single queries per measurement, after a warm-up
TIME_LIMIT = 1800  # seconds for one measurement

PEER_DATASETS = ("eurlex-4k", "wiki10-31k-sim", "amazon-67k-sim")
CURVE_DATASETS = ("amazon-10k-sim", "amazon-67k-sim", "amazon-200k-sim", "amazon-670k-sim")
CURVE_REPEATS = {"amazon-200k-sim": 3, "amazon-670k-sim": 1}
THREAD_DATASETS = ("eurlex-4k", "wiki10-31k-sim", "amazon-67k-sim")  # the last two are the "larger sets"

SCALED = ("orchard-binary", "orchard-16-ary")  # the configurations of the scaling part

_EQUAL = {"max_leaf": 100, "beam": 10, "C": 1.0, "threshold": 0.1}


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
    # Data sets on which it is so slow that fewer repetitions have to do.
    fewer_repeats: dict[str, int] = field(default_factory=dict, hash=False)

    @property
    def is_orchard(self) -> bool:
        return self.engine == "orchard"

    def repeats(self, dataset: str, wanted: int) -> int:
        return min(wanted, self.fewer_repeats.get(dataset, wanted))


FAMILIES = {
    "binary": "one tree, binary (Parabel)",
    "16-ary": "one tree, 16 children (XR-Linear)",
    "three": "three trees, binary (Parabel)",
    "other": "another model",
}

_BINARY = {**_EQUAL, "n_trees": 1, "n_splits": 2}
_WIDE = {**_EQUAL, "n_trees": 1, "n_splits": 16}
_THREE = {**_EQUAL, "n_trees": 3, "n_splits": 2}
_SLOW = {"wiki10-31k-sim": 2, "amazon-67k-sim": 3}
_EURLEX = ("eurlex-4k",)

CONFIGURATIONS = [
    Configuration("orchard-binary", "orchard", "Orchard Parabel", "binary", {**_BINARY, "estimator": "Parabel"}),
    Configuration("pecos-binary", "pecos", "PECOS, 2 splits", "binary", _BINARY),
    Configuration("omikuji-binary", "omikuji", "omikuji", "binary", _BINARY),
    Configuration("napkinxc-binary", "napkinxc", "napkinXC PLT", "binary", _BINARY, fewer_repeats=_SLOW),
    Configuration("orchard-16-ary", "orchard", "Orchard XRLinear", "16-ary", {**_WIDE, "estimator": "XRLinear"}),
    Configuration("pecos-16-ary", "pecos", "PECOS, 16 splits", "16-ary", _WIDE),
    Configuration("omikuji-16-ary", "omikuji", "omikuji, collapsed", "16-ary", _WIDE),
    Configuration("orchard-three", "orchard", "Orchard Parabel", "three", {**_THREE, "estimator": "Parabel"}, _EURLEX),
    Configuration("omikuji-three", "omikuji", "omikuji", "three", _THREE, _EURLEX),
    Configuration("napkinxc-three", "napkinxc", "napkinXC PLT", "three", _THREE, _EURLEX, {"eurlex-4k": 3}),
    Configuration(
        "fasttext", "fasttext", "fastText hs", "other", {"dim": 100, "epoch": 25, "lr": 0.5}, fewer_repeats=_SLOW
    ),
]

# Published by the authors of Parabel, three trees.
PUBLISHED = {("eurlex-4k", "three"): (82.71, 69.42, 58.14)}
