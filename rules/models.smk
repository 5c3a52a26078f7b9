rule run:
    """Fit a method on a variant of a data set, predict the test samples, score."""
    input:
        unpack(variant_labels),
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
        mem_mb=memory_mb,
    params:
        code=estimator_code,
        method=method_part,
    script:
        "../workflow_scripts/run.py"
