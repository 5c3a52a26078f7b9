"""Is a difference in P@k the solver's and the search's, or the tree's? Orchard on the trees that PECOS has built.

2-means starts from random labels, so engines find different trees, and so do two seeds of the same engine. Here PECOS
trains and saves, Orchard reads the chain of cluster matrices out of the model and trains on the same tree, then on one
of its own. Nothing is timed.
"""

from pathlib import Path

import scipy.sparse as sp

from bench import data, records, settings
from bench.engines import make_engine
from bench.measure import edition, precisions, run_phases
from orchard.data.store import load_csr
from orchard.files import read_json, write_json
from orchard.trees.label_tree import LabelTree

FILE = records.FOLDER / "same_trees.json"


def measure(datasets, most_seeds: int, fresh: bool) -> None:
    """Write results/bench/same_trees.json: P@1/3/5 of every seed. What is there is kept, and not measured twice."""
    by_name = {one.name: one for one in settings.CONFIGURATIONS}
    known = {} if fresh or not FILE.is_file() else {identity(line): line for line in read_json(FILE)["lines"]}
    for dataset in datasets:
        data.export(dataset, set())
        for peer, own in settings.SAME_TREES:
            for seed in range(1, min(settings.SAME_TREE_SEEDS[dataset], most_seeds) + 1):
                line = {"dataset": dataset, "peer": peer, "orchard": own, "seed": seed}
                line |= {"editions": [edition(by_name[name]) for name in (peer, own)]}
                if known.get(identity(line), {}).get("editions") == line["editions"]:
                    continue
                print(f"trees: {dataset} · {peer} and {own} · seed {seed}: ", end="", flush=True)
                line |= compare(by_name[peer], by_name[own], dataset, seed)
                print(line.get("reason") or "P@1 {pecos[0]:.2f}, on its tree {same[0]:.2f}".format(**line), flush=True)
                known[identity(line)] = line
                write_json(FILE, {"lines": list(known.values())})


def identity(line: dict) -> tuple:
    return tuple(line[key] for key in ("dataset", "peer", "orchard", "seed"))


def compare(peer: settings.Configuration, own: settings.Configuration, dataset: str, seed: int) -> dict:
    """P@1/3/5 of PECOS, of Orchard on its tree, and of Orchard on a tree of its own, with the same seed."""
    with run_phases(peer, dataset, seed, settings.THREADS, queries=1) as (folder, result):
        if result["status"] != "ok":
            return {"reason": result["reason"]}
        tree = LabelTree.from_chain(read_chain(folder / "model"))
    engine = make_engine("orchard", own.settings, settings.THREADS, seed)
    X, Y, X_test = (load_csr(data.UNIT_ROWS / dataset / name) for name in ("X.trn.npz", "Y.trn.npz", "X.tst.npz"))
    found = {"pecos": [result[key] for key in settings.PRECISIONS]}
    for key, trees in (("same", [tree]), ("own", None)):
        model = engine.estimator().fit(X, Y, trees=trees)
        ids = engine.ids(engine.predict(model, X_test, settings.K), settings.K)
        found[key] = list(precisions(ids, dataset).values())
    return found


def read_chain(model_folder: Path) -> list[sp.csr_matrix]:
    """The cluster matrices of a model that PECOS has saved, from the root down."""
    levels = sorted(model_folder.glob("ranker/*.model"), key=lambda path: int(path.stem))
    return [sp.csr_matrix(sp.load_npz(level / "C.npz")) for level in levels]
