"""Orchard: four papers on extreme multi-label classification, reproduced, and the engine behind them."""

from importlib import import_module

from orchard.kernel_cache import forget_outdated_kernels

__version__ = "0.1.0"

# Loaded when first used: `import orchard` stays cheap.
_HOME = {
    "Bonsai": "orchard.linear.estimators",
    "DiSMEC": "orchard.linear.estimators",
    "InterpolatedParabel": "orchard.linear.estimators",
    "Parabel": "orchard.linear.estimators",
    "XRLinear": "orchard.linear.estimators",
    "disentangle": "orchard.disentanglement",
    "impute_labels": "orchard.eagle",
}
__all__ = sorted(_HOME)

forget_outdated_kernels()


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
