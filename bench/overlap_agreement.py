"""Do PECOS and Orchard agree over the same overlapping tree? Nothing is timed.

The tree and its clusters are Orchard's, the classifiers and the search each engine's own. The backbone, where no label
has a copy, shows what they differ by without overlap.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench import data, measure, overlap, records, settings
from orchard.data.store import load_csr
from orchard.disentanglement import disentangle
from orchard.files import read_json, write_json
from orchard.trees.label_tree import LabelTree

FILE = records.FOLDER / "overlap_pecos.json"


def compare_seeds(most_seeds: int, fresh: bool) -> None:
    """Write results/bench/overlap_pecos.json: P@1/3/5 of every seed. What is there is kept, and not measured twice."""
    data.export(settings.AGREEMENT_DATASET, set())
    lines = {} if fresh or not FILE.is_file() else {line["seed"]: line for line in read_json(FILE)["lines"]}
    for seed in range(1, min(settings.AGREEMENT_SEEDS, most_seeds) + 1):
        if lines.get(seed, {}).get("editions") == editions():
            continue
        print(f"overlap: {settings.AGREEMENT_DATASET} · PECOS and Orchard · seed {seed}: ", end="", flush=True)
        lines[seed] = {"seed": seed, "editions": editions()} | compare(settings.AGREEMENT_DATASET, seed)
        words = "P@1 {overlapping[pecos][0]:.2f} and {overlapping[orchard][0]:.2f}"
        print(lines[seed].get("reason") or words.format_map(lines[seed]), flush=True)
        write_json(FILE, {"lines": [lines[seed] for seed in sorted(lines)]})


def editions() -> list[str]:
    """What is compared, on Orchard's side and on PECOS's."""
    how = {"copies": settings.AGREEMENT_COPIES, "best": settings.AGREEMENT_BEST, "k": settings.K}
    comparing = [records.ROOT / "bench" / file for file in ("overlap_agreement.py", "overlap_pecos.py")]
    own = records.edition_of_settings(
        settings.OVERLAP_BACKBONE | how, overlap.version(), records.digest_of_code(comparing)
    )
    peer = settings.Configuration("overlap-pecos", "pecos", "PECOS", "other", settings.OVERLAP_BACKBONE)
    return [own, measure.edition(peer)]


def compare(dataset: str, seed: int) -> dict:
    """{tree: {engine: P@1/3/5}} over the backbone's tree and over the overlapping one, or the reason why not."""
    X, Y, X_test = (load_csr(data.UNIT_ROWS / dataset / name) for name in ("X.trn.npz", "Y.trn.npz", "X.tst.npz"))
    backbone = overlap.backbone_engine(settings.THREADS, seed).estimator().fit(X, Y)
    models = backbone, disentangle(backbone, X, Y, settings.AGREEMENT_COPIES)
    found = {}
    for name, model in zip(overlap.MODELS, models, strict=True):
        own_ids, _ = model.predict_topk(X_test, settings.K)
        ids, reason = ids_of_pecos(model.models_[0].tree, dataset, seed)
        if reason:
            return {"reason": f"{name}: {reason}"}
        rankings = {"orchard": own_ids, "pecos": ids}
        found[name] = {engine: list(measure.precisions(each, dataset).values()) for engine, each in rankings.items()}
    return found


def ids_of_pecos(tree: LabelTree, dataset: str, seed: int) -> tuple[np.ndarray | None, str | None]:
    """The labels that PECOS ranks first over this tree, int64 (n, k), or the reason why there are none."""
    if not measure.PEERS_PYTHON.exists():
        return None, "PECOS is not installed (`make bench` sets the peers up)"
    with tempfile.TemporaryDirectory(prefix="orchard-overlap-") as folder:
        job = {
            "data": str(data.UNIT_ROWS / dataset), "settings": settings.OVERLAP_BACKBONE, "threads": settings.THREADS,
            "seed": seed, "best": settings.AGREEMENT_BEST, "k": settings.K,
        }  # fmt: skip
        write_job(Path(folder), job, tree)
        command = [measure.PEERS_PYTHON, "-m", "bench.overlap_pecos", folder]
        environment = measure.environment(settings.THREADS)
        code, last_words = measure.run_limited(command, settings.TIME_LIMIT, env=environment)
        if code == 0:
            return np.load(Path(folder, "ids.npy")), None
    stopped = f"stopped after the limit of {settings.TIME_LIMIT} s"
    return None, stopped if code is None else last_words[:200] or f"return code {code}"


def write_job(folder: Path, job: dict, tree: LabelTree) -> None:
    """What `bench/overlap_pecos.py` reads: the job, and the tree as a chain with a row for every copy of a label."""
    chain, label_of_copy = chain_of_copies(tree)
    for level, matrix in enumerate(chain):
        sp.save_npz(folder / f"C{level}.npz", matrix)
    np.save(folder / "label_of_copy.npy", label_of_copy)
    (folder / "job.json").write_text(json.dumps(job | {"levels": len(chain)}))


def chain_of_copies(tree: LabelTree) -> tuple[list[sp.csc_matrix], np.ndarray]:
    """The tree's chain of cluster matrices, whose last one has a row for every copy, and the labels of these rows."""
    *inner, last = tree.to_chain()
    labels, clusters = last.nonzero()
    ones = np.ones(labels.size, np.float32)
    copies = sp.csc_matrix((ones, (np.arange(labels.size), clusters)), shape=(labels.size, last.shape[1]))
    return [*inner, copies], labels
