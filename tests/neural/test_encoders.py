"""Sentence encoders: the pinned model, and what is told where something is missing."""

import subprocess
import sys

import numpy as np
import pytest

from orchard.config import load_yaml
from orchard.neural.encoders import MiniLM

RATES = "The central bank cut its discount rate."
PARAPHRASE = "Interest rates were lowered by the central bank."
COFFEE = "Coffee exports from Brazil rose in March."


@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_a_missing_library_is_told_in_one_sentence(library):
    """In a process of its own, where importing the library fails."""
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from orchard.errors import OrchardError\n"
        "from orchard.neural.encoders import MiniLM\n"
        "try: MiniLM('nowhere')\n"
        "except OrchardError as error: print(error)"
    )
    if library == "transformers":
        pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == (
        f"sentence encoders need the library {library}, which is not installed: "
        "pip install -r requirements-neural.txt\n"
    )


def test_a_folder_without_a_model_is_told(tmp_path):
    """And no hub is asked."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from orchard.errors import OrchardError

    with pytest.raises(OrchardError, match="not the files of a sentence encoder"):
        MiniLM(tmp_path)


@pytest.fixture
def tiny(tmp_path):
    """The architecture of MiniLM with four dimensions, random weights and a vocabulary of letters."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    import string

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_lowercase]
    words += [f"##{letter}" for letter in string.ascii_lowercase]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(vocab=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    torch.manual_seed(0)
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **sizes))
    model.save_pretrained(tmp_path)
    return tmp_path


def test_vectors_do_not_depend_on_order_neighbours_or_threads(tiny):
    """Padding is masked out, sentences come back in their own order, and every vector has unit length."""
    import torch

    encoder = MiniLM(tiny)
    sentences = [letter * (1 + i % 7) + " b" * (i % 40) for i, letter in enumerate("acegikmoqsuwy" * 6)]
    E = encoder.encode(sentences)
    assert E.shape == (len(sentences), 4) and E.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(E, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(encoder.encode(sentences[::-1])[::-1], E, atol=1e-5)
    np.testing.assert_allclose(encoder.encode(sentences[7:8]), E[7:8], atol=1e-5)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    np.testing.assert_array_equal(encoder.encode(sentences), E)
    assert torch.get_num_threads() == threads + 1
    torch.set_num_threads(threads)


def test_pickled_weights_are_never_read(tiny):
    """A pickle may run any code: without the safetensors file the folder is refused."""
    import torch

    from orchard.errors import OrchardError

    torch.save({}, tiny / "pytorch_model.bin")
    (tiny / "model.safetensors").unlink()
    with pytest.raises(OrchardError, match="not the files of a sentence encoder"):
        MiniLM(tiny)


@pytest.mark.network
def test_the_real_encoder(tmp_path):
    """Fetched and verified; paraphrases are close; the numbers are those of sentence-transformers 6.2.0."""
    pytest.importorskip("transformers")
    from orchard.data.sources import fetch

    config = load_yaml("config/encoders/all-minilm-l6-v2.yaml")
    folder = fetch("all-minilm-l6-v2", config, tmp_path / "all-minilm-l6-v2")
    rates, paraphrase, coffee = MiniLM(folder).encode([RATES, PARAPHRASE, COFFEE])
    assert rates @ paraphrase > 0.7 > 0.2 > abs(rates @ coffee)
    np.testing.assert_allclose(rates[:5], [0.01037, 0.01164, -0.00457, 0.00929, 0.06721], atol=1e-3)
