"""One module per kind of raw data, found by its name: `read(folder, options)` gives the matrices of a data set.

`folder` holds the raw files, `options` is the `reader` entry of the data set's YAML file without its `kind`.
"""


def module_of(config: dict) -> str:
    """The module that reads this data set's raw files (it is imported by name, so provenance must be told)."""
    return f"{__name__}.{config['reader']['kind']}"
