rule search_point:
    """Train a network with one setting of its hyper-parameters, and tell how well it does on validation samples."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
        choices=choices_before,
    output:
        score="results/search/{dataset}/{variant}/{method}/{point}/seed-{seed}/score.json",
        cost="results/search/{dataset}/{variant}/{method}/{point}/seed-{seed}/cost.json",
    log:
        "results/logs/search_point/{dataset}/{variant}/{method}/{point}/seed-{seed}.log",
    wildcard_constraints:
        method=LEARNING_FROM_GROUPS,
        point="[a-z_]+=[^/]+",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=dense_memory_mb,
        gpu=GPUS,
    params:
        code=groups_code,
        method=method_part,
        searched=point_parameters,
    script:
        "../workflow_scripts/learn_from_groups.py"


rule choose:
    """Choose hyper-parameters by the accuracy on validation samples (eagle, section 7.3)."""
    input:
        scores=points_to_choose_from,
    output:
        choice="results/search/{dataset}/{variant}/{method}/choice.json",
    log:
        "results/logs/choose/{dataset}/{variant}/{method}.log",
    wildcard_constraints:
        method=LEARNING_FROM_GROUPS,
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_of("choose.py"),
    script:
        "../workflow_scripts/choose.py"


rule learn_from_groups:
    """Train a network on groups with the hyper-parameters that were chosen, and score it on single samples."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
        choices=choices_for_run,
    output:
        score="results/runs/{dataset}/{variant}/{method}/seed-{seed}/score.json",
        cost="results/runs/{dataset}/{variant}/{method}/seed-{seed}/cost.json",
    log:
        "results/logs/learn_from_groups/{dataset}/{variant}/{method}/seed-{seed}.log",
    wildcard_constraints:
        method=LEARNING_FROM_GROUPS,
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=dense_memory_mb,
        gpu=GPUS,
    params:
        code=groups_code,
        method=method_part,
        searched={},
    script:
        "../workflow_scripts/learn_from_groups.py"


rule embed_labels:
    """Learn label embeddings from groups (eagle, Algorithm 1) of centred samples, to look at them."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
    output:
        "results/embeddings/{dataset}/{variant}/iterations-{iterations}/seed-{seed}.npz",
    log:
        "results/logs/embed_labels/{dataset}/{variant}/iterations-{iterations}/seed-{seed}.log",
    wildcard_constraints:
        iterations=r"\d+",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=dense_memory_mb,
    params:
        code=code_of("embed_labels.py"),
    script:
        "../workflow_scripts/embed_labels.py"


rule write_labels:
    """Train a network to write the labels of a text, let it write those of the test texts, and score the sets."""
    input:
        data="results/data/{dataset}",
        word_vectors=word_vectors_for,
    output:
        score="results/runs/{dataset}/{variant}/{method}/seed-{seed}/score.json",
        cost="results/runs/{dataset}/{variant}/{method}/seed-{seed}/cost.json",
    log:
        "results/logs/write_labels/{dataset}/{variant}/{method}/seed-{seed}.log",
    wildcard_constraints:
        method=WRITING_LABELS,
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=text_memory_mb,
        gpu=GPUS,
    params:
        code=writing_code,
        method=method_part,
        word_vectors=word_vectors_of,
    script:
        "../workflow_scripts/write_labels.py"
