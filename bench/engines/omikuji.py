"""omikuji: Parabel and its relatives in Rust. It trains from a file and predicts one sample a call.

Reading the file and training are one call of the Python API; here they are the two C calls behind it, so that reading
is not held against it. Batch prediction too goes through the C call, from as many Python threads as the others have:
the Python method checks and copies every feature, which takes longer than the search. A single query goes through the
Python method, as a user's would.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import omikuji
from omikuji._libomikuji import ffi, lib

from bench.engines import Engine, padded


class Adapter(Engine):
    trains_from = "train.xmc.txt"

    def read(self, source):
        self.pool = omikuji._ThreadPoolHandle(self.threads)
        data = lib.load_omikuji_data_set(ffi.new("char[]", str(source).encode()), self.pool.ptr)
        if data == ffi.NULL:
            raise RuntimeError(f"omikuji cannot read {source.name}")
        return ffi.gc(data, lib.free_omikuji_data_set)

    def train(self, data, folder):
        s = self.settings
        parameters = omikuji.Model.default_hyper_param()
        parameters.n_trees = s["n_trees"]
        parameters.min_branch_size = s["max_leaf"]
        parameters.linear_c = s["C"]
        parameters.linear_weight_threshold = s["threshold"]
        parameters.collapse_every_n_layers = int(np.log2(s["n_splits"])) - 1  # 16 children: three layers left out
        model = lib.train_omikuji_model(data, parameters, self.pool.ptr)
        if model == ffi.NULL:
            raise RuntimeError("omikuji failed to train")
        return omikuji.Model(model)

    def save(self, model, folder):
        model.save(str(folder))

    def load(self, folder):
        model = omikuji.Model.load(str(folder))
        model.init_prediction_thread_pool(self.threads)
        model.densify_weights()  # as its command-line program does: faster, for more memory
        return model

    def batch_input(self, X, data_folder):
        # The arrays have to live as long as the pointers into them.
        self.rows = [
            (X.indices[a:b].astype(np.uint32), X.data[a:b]) for a, b in zip(X.indptr, X.indptr[1:], strict=False)
        ]
        return [
            (len(indices), ffi.from_buffer("uint32_t[]", indices), ffi.from_buffer("float[]", values))
            for indices, values in self.rows
        ]

    def predict(self, model, batch, k):
        labels = np.full((len(batch), k), -1, np.int64)

        def predict_some(rows):
            found, scores = ffi.new("uint32_t[]", k), ffi.new("float[]", k)
            pointer, beam, pool = model._model_ptr, self.settings["beam"], model._thread_pool.ptr
            for row in rows:
                n = lib.omikuji_predict(pointer, beam, *batch[row], k, found, scores, pool)
                labels[row, :n] = ffi.unpack(found, n)

        with ThreadPoolExecutor(self.threads) as executor:
            list(executor.map(predict_some, np.array_split(np.arange(len(batch)), self.threads)))
        return labels

    def query(self, batch, row):
        indices, values = self.rows[row]
        return list(zip(indices.tolist(), values.tolist(), strict=True))

    def ask(self, model, query, k):
        return model.predict(query, beam_size=self.settings["beam"], top_k=k)

    def ids(self, answer, k):
        return answer if isinstance(answer, np.ndarray) else padded([[label for label, _ in answer]], k)
