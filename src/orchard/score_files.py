"""What every score.json begins and ends with: the run it is of, and the data behind it."""

from collections.abc import Mapping

import scipy.sparse as sp

from orchard.data.store import sha256_of_csr
from orchard.files import write_json


def write_score(path, run, simulated: bool, metrics: Mapping, matrices: Mapping[str, sp.csr_matrix], **more) -> None:
    """Write a score.json.

    run : has dataset, variant, method and seed.  matrices : all that the metrics were computed from, to be hashed.
    more : further keys, such as the resolved parameters; those that are None are left out.
    """
    write_json(
        path,
        {
            "dataset": run.dataset,
            "variant": run.variant,
            "method": run.method,
            "seed": int(run.seed),
            "simulated": simulated,
            "metrics": metrics,
            **{key: value for key, value in more.items() if value is not None},
            "data_sha256": {name: sha256_of_csr(matrix) for name, matrix in matrices.items()},
        },
    )
