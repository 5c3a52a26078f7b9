"""Configuration, checked before anything runs; paths; wildcards."""

from pathlib import Path

from orchard.config import (
    check,
    did_you_mean,
    load_checked,
    load_folder,
    load_yaml,
    pick,
)
from orchard.errors import ConfigError
from orchard.provenance import source_hash


configfile: "config/config.yaml"


check(
    config,
    load_yaml("config/schemas/config.schema.yaml"),
    "config/config.yaml or --config",
)

DATASETS = load_folder("config/datasets", "config/schemas/dataset.schema.yaml")
METHODS = load_folder("config/methods", "config/schemas/method.schema.yaml")
PAPERS = ("eagle", "disentangle", "labeltrees", "otseq2set")
ARTEFACTS = {
    paper: load_checked(f"config/papers/{paper}/artefacts.yaml", "config/schemas/artefacts.schema.yaml")
    for paper in PAPERS
}
SCALE = config["scale"]
ARTEFACT_FOLDER = f"results/artefacts/{'own-data' if 'datasets' in config else SCALE}"


wildcard_constraints:
    dataset="[a-z0-9][a-z0-9.-]*",
    method="[a-z0-9][a-z0-9.-]*",
    seed=r"\d+",
    grouping=r"(random-\d+|clustered-\d+(-noise-\d+)?)(-set)?",
    mode="easy|medium|hard",
    k=r"\d+",
    variant="clean|aggregated/[a-z0-9-]+|entangled/[a-z0-9-]+",


def code_of(script, modules=()):
    """The hash of a script and the library behind it: an edit of either re-runs the step."""
    return source_hash(Path(workflow.basedir) / "workflow_scripts" / script, modules)


def dataset_config(wildcards):
    return pick("data set", wildcards.dataset, DATASETS)


def memory_mb(wildcards):
    """A generous guess from the number of rows: about 4 kB each while a data set is in hand."""
    statistics = dataset_config(wildcards)["statistics"]
    return 1000 + (statistics.get("n_train", 0) + statistics.get("n_test", 0)) * 4 // 1000


def measured_data(paper, artefact):
    """The prepared data sets that an artefact shows at this scale, or those that the user asked for instead."""
    names = config.get("datasets", ARTEFACTS[paper][artefact]["datasets"][SCALE])
    names = [names] if isinstance(names, str) else names
    for name in names:
        pick("data set", name, DATASETS)
    return [f"results/data/{name}" for name in names]


def artefact_outputs(paper, artefact):
    """A table is CSV and Markdown; a figure is PNG and SVG, and its numbers as CSV."""
    kinds = {"table": ("csv", "md"), "figure": ("png", "svg", "csv")}[ARTEFACTS[paper][artefact]["kind"]]
    return {kind: f"{ARTEFACT_FOLDER}/{paper}-{artefact}.{kind}" for kind in kinds}


def artefact_files(paper):
    return [path for artefact in ARTEFACTS[paper] for path in artefact_outputs(paper, artefact).values()]


def refuse_unknown_targets():
    """Snakemake only says that no rule makes a mistyped target; say which one may have been meant."""
    rule_names = [rule.name for rule in workflow.rules]
    for target in workflow.dag_settings.targets if workflow.dag_settings else ():
        if target in rule_names:
            continue
        parts = Path(target).parts
        if len(parts) > 2 and parts[0] == "results":
            if parts[1] in ("raw", "data", "variants", "runs"):
                pick("data set", parts[2], DATASETS)
            if parts[1] == "runs" and len(parts) > 5:
                pick("method", parts[-3], METHODS)
        elif "/" not in target:
            raise ConfigError(
                f"unknown target {target!r}{did_you_mean(target, rule_names)} "
                "(`snakemake --list-target-rules` shows all of them)"
            )
