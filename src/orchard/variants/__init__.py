"""Variants of a data set's labels: aggregated over groups of samples, or entangled into fused labels."""
