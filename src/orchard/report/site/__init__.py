"""The report: static pages over everything in `results/`, which need neither a network nor a server."""
