rule tree:
    """Build the label trees of a method, once for all methods that need the same ones."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
    output:
        trees=directory("results/trees/{dataset}/{variant}/{tree}/seed-{seed}/trees"),
        cost="results/trees/{dataset}/{variant}/{tree}/seed-{seed}/cost.json",
    log:
        "results/logs/tree/{dataset}/{variant}/{tree}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/tree/{dataset}/{variant}/{tree}/seed-{seed}.tsv"
    conda:
        "../environment.yml"
    threads: 2
    resources:
        mem_mb=training_memory_mb,
    params:
        code=tree_code,
        recipe=recipe_named,
    script:
        "../workflow_scripts/tree.py"


rule run:
    """Fit a method on a variant of a data set, predict the test samples, score."""
    input:
        unpack(variant_labels),
        unpack(shared_trees),
        data="results/data/{dataset}",
    output:
        score="results/runs/{dataset}/{variant}/{method}/seed-{seed}/score.json",
        cost="results/runs/{dataset}/{variant}/{method}/seed-{seed}/cost.json",
    log:
        "results/logs/run/{dataset}/{variant}/{method}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/run/{dataset}/{variant}/{method}/seed-{seed}.tsv"
    conda:
        "../environment.yml"
    threads: 2
    resources:
        mem_mb=training_memory_mb,
    params:
        code=estimator_code,
        method=method_part,
        impute=imputation,
    script:
        "../workflow_scripts/run.py"


rule validate:
    """Impute the labels of some groups, and tell by the others how well these labels teach: no test sample is seen."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
    output:
        score="results/validation/{dataset}/{variant}/{method}/seed-{seed}/score.json",
    log:
        "results/logs/validate/{dataset}/{variant}/{method}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/validate/{dataset}/{variant}/{method}/seed-{seed}.tsv"
    conda:
        "../environment.yml"
    threads: 2
    resources:
        mem_mb=training_memory_mb,
    params:
        code=imputation_code,
        impute=imputation,
    script:
        "../workflow_scripts/validate.py"
