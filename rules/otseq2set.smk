rule step_times:
    """Measure what a training step of the methods of otseq2set's Table 7 takes, alone on all cores."""
    input:
        data="results/data/{dataset}",
        word_vectors=vectors_of_steps,
    output:
        cost=f"results/costs/{SCALE}/otseq2set-table7/{{dataset}}/cost.json",
    log:
        f"results/logs/step_times/{SCALE}/{{dataset}}.log",
    conda:
        "../environment.yml"
    threads: workflow.cores
    resources:
        mem_mb=text_memory_mb,
        gpu=GPUS,
    params:
        code=code_of("step_times.py", ["orchard.neural.seq2set.estimators"], NOT_FOR_STEPS),
        methods=methods_to_step,
        steps={"smoke": 3, "demo": 10}.get(SCALE, 30),
    script:
        "../workflow_scripts/step_times.py"


rule count_parameters:
    """Count the parameters of the networks of otseq2set's Table 7 at the paper's sizes, without training them."""
    output:
        "results/parameters/otseq2set-table7.json",
    log:
        "results/logs/count_parameters.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("count_parameters.py", ["orchard.neural.seq2set.estimators"], NOT_FOR_STEPS),
        networks=networks_to_count(),
    script:
        "../workflow_scripts/count_parameters.py"


rule:
    """Statistics of the data sets, published and measured (otseq2set, Table 1)."""
    name:
        "otseq2set-table1"
    input:
        data=measured_data("otseq2set", "table1"),
        published="config/papers/otseq2set/published/table1.csv",
    output:
        **artefact_outputs("otseq2set", "table1"),
    log:
        f"{LOG_FOLDER}/otseq2set-table1.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("statistics_table.py"),
        artefact=artefact_part("otseq2set", "table1", "title", "columns", "notes"),
    script:
        "../workflow_scripts/statistics_table.py"


rule:
    """Distribution of the number of labels per sample (otseq2set, Figure 4)."""
    name:
        "otseq2set-fig4"
    input:
        data=measured_data("otseq2set", "fig4"),
    output:
        **artefact_outputs("otseq2set", "fig4"),
    log:
        f"{LOG_FOLDER}/otseq2set-fig4.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("label_count_figure.py"),
        artefact=artefact_part("otseq2set", "fig4", "title"),
    script:
        "../workflow_scripts/label_count_figure.py"


rule:
    """Micro-averaged scores of sequence and set models, published and measured (otseq2set, Table 3)."""
    name:
        "otseq2set-table3"
    input:
        scores=measured_scores("otseq2set", "table3"),
        published="config/papers/otseq2set/published/table3.csv",
    output:
        **artefact_outputs("otseq2set", "table3"),
    log:
        f"{LOG_FOLDER}/otseq2set-table3.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("otseq2set", "table3", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Relative improvement over the best baseline, published and measured (otseq2set, Table 4)."""
    name:
        "otseq2set-table4"
    input:
        scores=measured_scores("otseq2set", "table4"),
        published="config/papers/otseq2set/published/table4.csv",
    output:
        **artefact_outputs("otseq2set", "table4"),
    log:
        f"{LOG_FOLDER}/otseq2set-table4.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("improvements_table.py"),
        artefact=artefact_part("otseq2set", "table4", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/improvements_table.py"


rule:
    """The two schemes of bipartite matching, published and measured (otseq2set, Table 5)."""
    name:
        "otseq2set-table5"
    input:
        data=measured_data("otseq2set", "table5"),
        scores=measured_scores("otseq2set", "table5"),
        published="config/papers/otseq2set/published/table5.csv",
    output:
        **artefact_outputs("otseq2set", "table5"),
    log:
        f"{LOG_FOLDER}/otseq2set-table5.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("schemes_table.py"),
        artefact=artefact_part("otseq2set", "table5", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/schemes_table.py"


rule:
    """Macro-averaged, weighted and example-based F1, published and measured (otseq2set, Table 6)."""
    name:
        "otseq2set-table6"
    input:
        scores=measured_scores("otseq2set", "table6"),
        published="config/papers/otseq2set/published/table6.csv",
    output:
        **artefact_outputs("otseq2set", "table6"),
    log:
        f"{LOG_FOLDER}/otseq2set-table6.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("otseq2set", "table6", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Scores against λ, the weight of optimal transport in the loss (otseq2set, Figure 5)."""
    name:
        "otseq2set-fig5"
    input:
        scores=measured_scores("otseq2set", "fig5"),
        published="config/papers/otseq2set/published/figures.csv",
    output:
        **artefact_outputs("otseq2set", "fig5"),
    log:
        f"{LOG_FOLDER}/otseq2set-fig5.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("lambda_figure.py"),
        artefact=artefact_part("otseq2set", "fig5", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/lambda_figure.py"


rule:
    """Training time, model size and time of a step, published, counted and measured (otseq2set, Table 7)."""
    name:
        "otseq2set-table7"
    input:
        scores=measured_scores("otseq2set", "table7"),
        costs=measured_scores("otseq2set", "table7", file="cost.json"),
        counts=list(rules.count_parameters.output) if HAS_TORCH else [],
        steps=measured_steps(),
        published="config/papers/otseq2set/published/table7.csv",
    output:
        **artefact_outputs("otseq2set", "table7"),
    log:
        f"{LOG_FOLDER}/otseq2set-table7.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("training_table.py"),
        artefact=artefact_part("otseq2set", "table7", "title", "rows", "notes"),
    script:
        "../workflow_scripts/training_table.py"


rule:
    """Every artefact of 'OTSeq2Set: An Optimal Transport Enhanced Sequence-to-Set Model for Extreme Multi-label Text Classification'."""
    name:
        "otseq2set"
    input:
        artefact_files("otseq2set"),
    localrule: True
