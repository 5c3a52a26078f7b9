"""Where networks are trained, and how they give the same numbers again."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn


def pick_device(name: str | None = None) -> torch.device:
    """The device of this name; without one a GPU where there is any, and the processor elsewhere."""
    device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device: PyTorch finds no GPU here for {name!r}; take 'cpu', or None for what there is")
    return device


@contextmanager
def repeatable() -> Iterator[None]:
    """Inside, PyTorch computes the same bits for the same input, whatever the number of cores.

    A matrix product in two threads rounds otherwise than in one, and training makes mountains of it: so there is one
    thread. Networks as small as these gain little from a second one; another run on that core gains more.
    """
    threads, strictness = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what CUDA wants for this
    torch.set_num_threads(1)
    # Says the same as torch.use_deterministic_algorithms(True), which loads PyTorch's compiler first.
    torch.set_deterministic_debug_mode("error")
    torch.set_flush_denormal(True)  # a hard mask is full of numbers so small that processors take an age over them
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(strictness)


@contextmanager
def rounded_products(device: torch.device, wanted: bool) -> Iterator[None]:
    """Inside, and if it is wanted, a GPU multiplies float32 matrices in TF32: ten bits of mantissa, and faster."""
    precision = torch.get_float32_matmul_precision()
    if wanted and device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)


def seeded(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """A network whose first weights depend on the seed alone; everybody else's random numbers stay as they were."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make()
