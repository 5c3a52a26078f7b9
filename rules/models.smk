def method_config(wildcards):
    return pick("method", wildcards.method, METHODS)


def estimator_code(wildcards):
    """Estimators are found by name: an edit of one re-runs its own method, and no others."""
    return code_of("run.py", [method_config(wildcards)["estimator"].rpartition(".")[0]])


def variant_labels(wildcards):
    """The label files that a variant puts in the place of the data set's own."""
    kind, _, name = wildcards.variant.partition("/")
    folder = f"results/variants/{wildcards.dataset}/{wildcards.variant}/seed-{wildcards.seed}"
    return {
        "clean": {},
        "aggregated": {"Y1": f"{folder}/Y1.npz", "Y2": f"{folder}/Y2.npz"},
        "entangled": {
            "Y_train": f"{folder}/Y.trn.npz",
            "Y_test": f"{folder}/Y.tst.npz",
        },
    }[kind]


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
        method=method_config,
    script:
        "../workflow_scripts/run.py"
