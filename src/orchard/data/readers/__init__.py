"""One module per kind of raw data, found by its name: `read(folder, options)` gives the matrices of a data set.

`folder` holds the raw files, `options` is the `reader` entry of the data set's YAML file without its `kind`. Where that
names an `encoder`, `options["encoder"]` is the encoder itself.
"""

from importlib import import_module

from orchard.errors import ConfigError


def module_of(config: dict) -> str:
    """The module that reads this data set's raw files (it is imported by name, so provenance must be told)."""
    return f"{__name__}.{config['reader']['kind']}"


def make_encoder(encoder_id: str, config: dict, folder):
    """The sentence encoder of an entry of config/encoders, made from its files in `folder`."""
    module, _, name = config["encoder"].rpartition(".")
    where = f"config/encoders/{encoder_id}.yaml"
    try:
        make = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{where}: encoder: {config['encoder']} cannot be imported: {error}") from error
    try:
        return make(folder, **config.get("parameters", {}))
    except TypeError as error:
        raise ConfigError(f"{where}: parameters: {error}") from error
