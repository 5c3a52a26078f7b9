"""PECOS over a given tree in which labels may have copies: `python -m bench.overlap_pecos <folder>`.

Runs in the peers' environment, so it needs numpy and scipy only beside PECOS. PECOS knows no copies: every copy is a
label of its own, with all positives of its label, the way the authors of disentangle do it. What the folder holds is
written by `bench/overlap_agreement.py`, which reads the ranking that this leaves there.
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench.engines import make_engine


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text())
    X, Y, X_test = (sp.load_npz(Path(job["data"], name)) for name in ("X.trn.npz", "Y.trn.npz", "X.tst.npz"))
    chain = [sp.load_npz(folder / f"C{level}.npz") for level in range(job["levels"])]
    label_of_copy = np.load(folder / "label_of_copy.npy")
    engine = make_engine("pecos", job["settings"], job["threads"], job["seed"])
    engine.save(train(X, Y.tocsc()[:, label_of_copy], chain, engine), folder / "model")
    answer = engine.predict(engine.load(folder / "model"), X_test, job["best"])
    merged = mean_of_copies(answer, label_of_copy, Y.shape[1])
    np.save(folder / "ids.npy", engine.ids(merged, job["k"]))


def train(X, Y, chain, engine):
    """As the engine's adapter trains, over these clusters and not over those of its own."""
    from pecos.utils.cluster_util import ClusterChain  # not at the top: Orchard's environment tests the rest
    from pecos.xmc.xlinear.model import XLinearModel

    s = engine.settings
    return XLinearModel.train(
        X, Y, C=ClusterChain(chain), nr_splits=s["n_splits"], Cp=s["C"], Cn=s["C"], threshold=s["threshold"],
        negative_sampling_scheme="tfn", threads=engine.threads,
        pred_kwargs={"beam_size": s["beam"], "only_topk": 5, "post_processor": "l3-hinge"},
    )  # fmt: skip


def mean_of_copies(answer: sp.csr_matrix, label_of_copy: np.ndarray, n_labels: int) -> sp.csr_matrix:
    """Scores of labels from those of copies (n, copies): the mean over the copies that were reached."""
    rows, labels = np.repeat(np.arange(answer.shape[0]), np.diff(answer.indptr)), label_of_copy[answer.indices]
    merged, n_reached = (
        sp.csr_matrix((values, (rows, labels)), shape=(answer.shape[0], n_labels))  # adds up what falls together
        for values in (answer.data, np.ones_like(answer.data))
    )
    for matrix in (merged, n_reached):
        matrix.sort_indices()
    merged.data /= n_reached.data
    return merged


if __name__ == "__main__":
    main(Path(sys.argv[1]))
