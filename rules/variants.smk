rule aggregate:
    """Group the training samples and merge their labels: Y¹ and Y² (eagle, section 7.2 and B.2)."""
    input:
        data="results/data/{dataset}",
    output:
        Y1="results/variants/{dataset}/aggregated/{grouping}/seed-{seed}/Y1.npz",
        Y2="results/variants/{dataset}/aggregated/{grouping}/seed-{seed}/Y2.npz",
    log:
        "results/logs/aggregate/{dataset}/{grouping}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=memory_mb,
    params:
        code=code_of("aggregate.py"),
    script:
        "../workflow_scripts/aggregate.py"


rule entangle:
    """Fuse every k labels into one, in training and test alike (disentangle, section 5.1)."""
    input:
        data="results/data/{dataset}",
    output:
        Y_train="results/variants/{dataset}/entangled/{mode}-{k}/seed-{seed}/Y.trn.npz",
        Y_test="results/variants/{dataset}/entangled/{mode}-{k}/seed-{seed}/Y.tst.npz",
        fused_of_label="results/variants/{dataset}/entangled/{mode}-{k}/seed-{seed}/fused_of_label.npy",
    log:
        "results/logs/entangle/{dataset}/{mode}-{k}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=memory_mb,
    params:
        code=code_of("entangle.py"),
    script:
        "../workflow_scripts/entangle.py"
