"""The engine: linear classifiers on the edges of a label tree, trained and searched with numba kernels."""
