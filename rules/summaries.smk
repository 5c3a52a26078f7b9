"""What the report and the crate are told of a run: its options, its steps, and the documents that they quote."""

from orchard.files import sha256_of_file


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


def told_documents():
    """What the report quotes, where it is there: a copy of the workflow may lack it."""
    return [path for path in ("docs/deviations.md", "docs/benchmark.md") if Path(path).is_file()]


def edition_of_readme():
    """It tells the limits. As an input it would be taken for a mistyped target, which have no folder either."""
    return sha256_of_file("README.md") if Path("README.md").is_file() else None
