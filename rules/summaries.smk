"""What the report and the crate are told of a run: its options, its steps, and the documents that they quote."""

from orchard.files import sha256_of_file
from orchard.job_records import hashes
from orchard.report.crate.contents import files_of


def chosen_options():
    """What the user chose: the scale, and data sets of their own."""
    datasets = config.get("datasets", [])
    names = datasets if isinstance(datasets, str) else ",".join(datasets)
    return {"scale": SCALE} | ({"datasets": names} if names else {})


def shown_options():
    """What is shown, and what follows `--config` to make it again."""
    options = " ".join(f"{name}={value}" for name, value in chosen_options().items())
    return {"scale": SCALE, "shown": SHOWN, "options": options}


def steps_of_jobs(wildcards):
    """{rule: what it runs, and what for}, as far as it runs a script: others leave no records."""
    scripts = {one.name: f"workflow_scripts/{Path(one.script).name}" for one in workflow.rules if one.script}
    purposes = {one.name: " ".join((one.docstring or "").split()) for one in workflow.rules}
    return {name: {"script": script, "purpose": purposes[name]} for name, script in scripts.items()}


def packed_sources(wildcards):
    """{file: hash} of everything that a crate packs beside results: too many files for inputs, which would be told."""
    return hashes(files_of(Path()))


def told_files():
    """What the report tells beside artefacts, as far as it is there: a copy of the workflow may lack it."""
    patterns = (
        *("docs/deviations.md", "docs/benchmark.md", "results/bench/*.md", "results/bench/*.svg"),
        *("config/datasets/*.yaml", "config/papers/*/published/*.csv"),
    )
    return sorted(str(path) for pattern in patterns for path in Path().glob(pattern))


def edition_of_readme():
    """It tells the limits. As an input it would be taken for a mistyped target, which have no folder either."""
    return sha256_of_file("README.md") if Path("README.md").is_file() else None
