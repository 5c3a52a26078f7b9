"""A run as a research object, for an archive: what was made from what, by which code."""


def steps_of_jobs(wildcards):
    """{rule: what it runs, and what for}, as far as it runs a script: others leave no records."""
    scripts = {one.name: f"workflow_scripts/{Path(one.script).name}" for one in workflow.rules if one.script}
    purposes = {one.name: " ".join((one.docstring or "").split()) for one in workflow.rules}
    return {name: {"script": script, "purpose": purposes[name]} for name, script in scripts.items()}


def chosen_parameters(wildcards):
    """What the user chose: the scale, and data sets of their own."""
    datasets = config.get("datasets", [])
    names = ",".join([datasets] if isinstance(datasets, str) else datasets)
    return {"scale": SCALE} | ({"datasets": names} if names else {})


rule crate:
    """The whole run in one zip, a Provenance Run RO-Crate: results, code, and which job made which file from which."""
    input:
        [artefact_files(paper) for paper in PAPERS],
        list(claim_files().values()),
    output:
        f"results/crate/{SHOWN}.zip",
    log:
        f"results/logs/crate/{SHOWN}.log",
    benchmark:
        f"results/benchmarks/crate/{SHOWN}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("crate.py"),
        shown=SHOWN,
        steps=steps_of_jobs,
        chosen=chosen_parameters,
    script:
        "../workflow_scripts/crate.py"
