"""Sentence encoders: pretrained networks that turn sentences into vectors, and the random projection of eagle B.3.

An encoder is a class with `__init__(self, folder, …)`, where `folder` has the files that config/encoders/<id>.yaml
names, and `encode(sentences) -> float32 (n, d)`. A user's own may live in any module that can be imported.
"""

import os
from collections.abc import Sequence
from importlib import import_module

import numpy as np
from tqdm import tqdm

from orchard.errors import OrchardError

_BATCH = 32


class MiniLM:
    """all-MiniLM-L6-v2, as sentence-transformers runs it: the mean of the last layer over all tokens, of unit length.

    folder : config.json, model.safetensors, tokenizer.json and tokenizer_config.json. Nothing is fetched from a hub,
        and no pickled weights are read.
    max_tokens : what follows in a longer sentence is cut off (256 is the model's own setting).
    """

    def __init__(self, folder, max_tokens: int = 256):
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported
        self.torch, transformers = _neural_library("torch"), _neural_library("transformers")
        transformers.utils.logging.disable_progress_bar()
        local = {"local_files_only": True}
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
            model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **local)
        except (OSError, ValueError) as error:
            raise OrchardError(f"{folder}: not the files of a sentence encoder: {error}") from error
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.model = model.eval().to(self.device)
        self.max_tokens = max_tokens

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 (n, 384).

        Sentences of like length go into one batch, so that little is padded. On a processor one thread does it all:
        two would sum in another order, and results must not depend on the number of threads.
        """
        by_length = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        embeddings = np.empty((len(sentences), self.model.config.hidden_size), np.float32)
        threads_before = self.torch.get_num_threads()
        self.torch.set_num_threads(1)
        try:
            for start in tqdm(range(0, len(sentences), _BATCH), desc="encoding", disable=None, leave=False):
                chosen = by_length[start : start + _BATCH]
                embeddings[chosen] = self._encode_batch([sentences[i] for i in chosen])
        finally:
            self.torch.set_num_threads(threads_before)
        return embeddings

    def _encode_batch(self, sentences: list[str]) -> np.ndarray:
        options = {"padding": True, "truncation": True, "max_length": self.max_tokens, "return_tensors": "pt"}
        tokens = self.tokenizer(sentences, **options).to(self.device)
        with self.torch.inference_mode():
            hidden = self.model(**tokens).last_hidden_state  # (n, tokens, d)
            mask = tokens["attention_mask"].unsqueeze(-1).float()  # (n, tokens, 1)
            mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            return self.torch.nn.functional.normalize(mean, dim=1).cpu().numpy()


def random_projection(E: np.ndarray, dimensions: int, seed: int) -> np.ndarray:
    """E R, float32 (n, dimensions), where R (d, dimensions) is Gaussian with variance 1 / dimensions (eagle B.3).

    In expectation all inner products stay as they are (Johnson and Lindenstrauss). Summed in float64, so that no
    other order of the sum shows in the result.
    """
    R = np.random.default_rng(seed).standard_normal((E.shape[1], dimensions)) / np.sqrt(dimensions)
    return (E.astype(np.float64) @ R).astype(np.float32)


def _neural_library(name: str):
    try:
        return import_module(name)
    except ImportError:
        raise OrchardError(
            f"sentence encoders need the library {name}, which is not installed: pip install -r requirements-neural.txt"
        ) from None
