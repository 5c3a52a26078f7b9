"""Data sets: where they come from, strict readers, the synthetic generator, the canonical form."""
