from orchard.data.readers import module_of


localrules:
    fetch,


rule fetch:
    """Bring a data set's raw files from the first of its sources that has them, and verify them."""
    output:
        directory("results/raw/{dataset}"),
    log:
        "results/logs/fetch/{dataset}.log",
    conda:
        "../environment.yml"
    params:
        code=code_of("fetch.py"),
        config=dataset_config,
    script:
        "../workflow_scripts/fetch.py"


def raw_files(wildcards):
    """Generated data has no raw files."""
    return f"results/raw/{wildcards.dataset}" if "files" in dataset_config(wildcards) else []


def reader_code(wildcards):
    """Readers are found by name: an edit of one re-runs the data sets that it reads, and no others."""
    return code_of("prepare.py", [module_of(dataset_config(wildcards))])


rule prepare:
    """Turn raw files into the canonical form, and check its statistics against the registered ones."""
    input:
        raw=raw_files,
    output:
        directory("results/data/{dataset}"),
    log:
        "results/logs/prepare/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare/{dataset}.tsv"
    conda:
        "../environment.yml"
    threads: 2
    resources:
        mem_mb=memory_mb,
    params:
        code=reader_code,
        config=dataset_config,
    script:
        "../workflow_scripts/prepare.py"
