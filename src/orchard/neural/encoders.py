"""Sentence encoders: pretrained networks that turn sentences into vectors.

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
        from orchard.neural.devices import pick_device  # needs PyTorch

        transformers.utils.logging.disable_progress_bar()
        local = {"local_files_only": True}
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
            model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **local)
        except (OSError, ValueError) as error:
            raise OrchardError(f"{folder}: not the files of a sentence encoder: {error}") from error
        self.device = pick_device()
        self.model = model.eval().to(self.device)
        self.max_tokens = max_tokens

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 (n, 384).

        Sentences of like length go into one batch, so that little is padded.
        """
        from orchard.neural.devices import repeatable  # needs PyTorch

        by_length = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        embeddings = np.empty((len(sentences), self.model.config.hidden_size), np.float32)
        with repeatable():
            for start in tqdm(range(0, len(sentences), _BATCH), desc="encoding", disable=None, leave=False):
                chosen = by_length[start : start + _BATCH]
                embeddings[chosen] = self._encode_batch([sentences[i] for i in chosen])
        return embeddings

    def _encode_batch(self, sentences: list[str]) -> np.ndarray:
        options = {"padding": True, "truncation": True, "max_length": self.max_tokens, "return_tensors": "pt"}
        tokens = self.tokenizer(sentences, **options).to(self.device)
        with self.torch.inference_mode():
            hidden = self.model(**tokens).last_hidden_state  # (n, tokens, d)
            mask = tokens["attention_mask"].unsqueeze(-1).float()  # (n, tokens, 1)
            mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            return self.torch.nn.functional.normalize(mean, dim=1).cpu().numpy()


def _neural_library(name: str):
    try:
        return import_module(name)
    except ImportError:
        raise OrchardError(
            f"sentence encoders need the library {name}, which is not installed: pip install -r requirements-neural.txt"
        ) from None
