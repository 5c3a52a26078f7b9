rule tree:
    """Build the label trees of a method, once for all methods that share the same ones."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
    output:
        trees=directory("results/trees/{dataset}/{variant}/{tree}/seed-{seed}/trees"),
        cost="results/trees/{dataset}/{variant}/{tree}/seed-{seed}/cost.json",
    log:
        "results/logs/tree/{dataset}/{variant}/{tree}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=training_memory_mb,
    params:
        code=tree_code,
        recipe=recipe_named,
    script:
        "../workflow_scripts/tree.py"


rule match:
    """Train a model and match the training samples by it: M and YᵀM (disentangle, Algorithm 1, lines 4 and 5)."""
    input:
        unpack(variant_labels),
        unpack(trees_to_match),
        data="results/data/{dataset}",
    output:
        matches=directory("results/matches/{dataset}/{variant}/{match}/seed-{seed}/matches"),
        cost="results/matches/{dataset}/{variant}/{match}/seed-{seed}/cost.json",
    log:
        "results/logs/match/{dataset}/{variant}/{match}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=training_memory_mb,
    params:
        code=match_code,
        recipe=match_named,
    script:
        "../workflow_scripts/match.py"


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
    wildcard_constraints:
        method=rf"(?!({LEARNING_FROM_GROUPS}|{WRITING_LABELS})/)[A-Za-z0-9][A-Za-z0-9._+@-]*",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=training_memory_mb,
    params:
        code=estimator_code,
        method=method_part,
        impute=imputation,
        overlap=overlap_options,
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
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=training_memory_mb,
    params:
        code=imputation_code,
        impute=imputation,
    script:
        "../workflow_scripts/validate.py"


rule objective:
    """Which true labels the backbone's matcher can reach in a method's clusters (disentangle, Problem 7)."""
    input:
        unpack(variant_labels),
        unpack(matches_to_judge),
        data="results/data/{dataset}",
    output:
        score="results/objectives/{dataset}/{variant}/{method}/seed-{seed}/score.json",
    log:
        "results/logs/objective/{dataset}/{variant}/{method}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=training_memory_mb,
    params:
        code=code_of("objective.py"),
        overlap=overlap_options,
    script:
        "../workflow_scripts/objective.py"


rule meanings:
    """How well overlapping clusters tell the meanings of fused labels apart (disentangle, section 5.1)."""
    input:
        unpack(variant_labels),
        unpack(matches_of_method),
        data="results/data/{dataset}",
        fused_of_label="results/variants/{dataset}/{variant}/seed-{seed}/fused_of_label.npy",
    output:
        score="results/meanings/{dataset}/{variant}/{method}/seed-{seed}/score.json",
        examples="results/meanings/{dataset}/{variant}/{method}/seed-{seed}/examples.json",
    log:
        "results/logs/meanings/{dataset}/{variant}/{method}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=memory_mb,
    params:
        code=code_of("meanings.py"),
        overlap=overlap_options,
    script:
        "../workflow_scripts/meanings.py"


rule hold_out:
    """Train a method on some of the training samples and score it on the others: no test sample is seen."""
    input:
        unpack(variant_labels),
        data="results/data/{dataset}",
    output:
        score="results/held-out/{dataset}/{variant}/{method}/seed-{seed}/score.json",
    log:
        "results/logs/hold_out/{dataset}/{variant}/{method}/seed-{seed}.log",
    conda:
        "../environment.yml"
    threads: compute_threads
    resources:
        mem_mb=training_memory_mb,
    params:
        code=held_out_code,
        method=method_part,
        overlap=overlap_options,
    script:
        "../workflow_scripts/hold_out.py"
