"""Orchard: four papers on extreme multi-label classification, reproduced."""

__version__ = "0.1.0"
