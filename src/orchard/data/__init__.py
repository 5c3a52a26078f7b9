"""Data sets: where they come from, strict readers, the synthetic generator, the canonical form."""

from importlib import import_module

# Loaded when first used: a job that needs one reader should not pay for all of them.
_HOME = {"load_dataset": "orchard.data.store", "Dataset": "orchard.data.store", "read_xmc": "orchard.data.formats"}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
