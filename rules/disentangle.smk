rule costs:
    """Measure what the methods of a table cost, alone on all cores."""
    input:
        data="results/data/{dataset}",
    output:
        cost=f"results/costs/{SCALE}/disentangle-{{artefact}}/{{dataset}}/cost.json",
    log:
        f"results/logs/costs/{SCALE}/disentangle-{{artefact}}/{{dataset}}.log",
    wildcard_constraints:
        artefact="[a-z0-9]+",
    conda:
        "../environment.yml"
    threads: workflow.cores
    resources:
        mem_mb=training_memory_mb,
    params:
        code=code_of("costs.py", ["orchard.linear.estimators", OVERLAPPING]),
        methods=methods_to_time,
        repetitions=1 if SCALE in ("smoke", "demo") else 3,
    script:
        "../workflow_scripts/costs.py"


rule:
    """Statistics of the data sets, published and measured (disentangle, Table 1)."""
    name:
        "disentangle-table1"
    input:
        data=measured_data("disentangle", "table1"),
        published="config/papers/disentangle/published/table1.csv",
    output:
        **artefact_outputs("disentangle", "table1"),
    log:
        f"{LOG_FOLDER}/disentangle-table1.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("statistics_table.py"),
        artefact=artefact_part("disentangle", "table1", "title", "columns", "notes"),
    script:
        "../workflow_scripts/statistics_table.py"


rule:
    """Precision and propensity-scored precision of all methods, published and measured (disentangle, Table 3)."""
    name:
        "disentangle-table3"
    input:
        scores=measured_scores("disentangle", "table3"),
        published="config/papers/disentangle/published/table3.csv",
    output:
        **artefact_outputs("disentangle", "table3"),
    log:
        f"{LOG_FOLDER}/disentangle-table3.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "table3", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """XR-Linear without and with overlapping clusters, published and measured (disentangle, Table 4)."""
    name:
        "disentangle-table4"
    input:
        scores=measured_scores("disentangle", "table4"),
        published="config/papers/disentangle/published/table4.csv",
    output:
        **artefact_outputs("disentangle", "table4"),
    log:
        f"{LOG_FOLDER}/disentangle-table4.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "table4", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """A fused label, its clusters and a document for each meaning (disentangle, Table 2)."""
    name:
        "disentangle-table2"
    input:
        examples=measured_scores("disentangle", "table2", "results/meanings", "examples.json"),
        published="config/papers/disentangle/published/table2.csv",
    output:
        **artefact_outputs("disentangle", "table2"),
    log:
        f"{LOG_FOLDER}/disentangle-table2.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("examples_table.py"),
        artefact=artefact_part("disentangle", "table2", "title", "notes"),
    script:
        "../workflow_scripts/examples_table.py"


rule:
    """Extra training and inference time over the backbone, published and measured (disentangle, Table 5)."""
    name:
        "disentangle-table5"
    input:
        costs=measured_costs("table5"),
        published="config/papers/disentangle/published/table5.csv",
    output:
        **artefact_outputs("disentangle", "table5"),
    log:
        f"{LOG_FOLDER}/disentangle-table5.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("costs_table.py"),
        artefact=artefact_part("disentangle", "table5", "title", "rows", "notes"),
    script:
        "../workflow_scripts/costs_table.py"


rule:
    """Relative gain in P@5 by how labels were entangled (disentangle, Figure 2)."""
    name:
        "disentangle-fig2"
    input:
        scores=measured_scores("disentangle", "fig2"),
    output:
        **artefact_outputs("disentangle", "fig2"),
    log:
        f"{LOG_FOLDER}/disentangle-fig2.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("overlap_figure.py"),
        artefact=artefact_part("disentangle", "fig2", "title", "metrics", "rows", "notes"),
        by="k",
    script:
        "../workflow_scripts/overlap_figure.py"


rule:
    """Relative gain in P@5 by how labels were entangled, against the beam (disentangle, why Figure 2 is as it is)."""
    name:
        "disentangle-beams"
    input:
        scores=measured_scores("disentangle", "beams"),
    output:
        **artefact_outputs("disentangle", "beams"),
    log:
        f"{LOG_FOLDER}/disentangle-beams.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("overlap_figure.py"),
        artefact=artefact_part("disentangle", "beams", "title", "metrics", "rows", "notes"),
        by="beam",
    script:
        "../workflow_scripts/overlap_figure.py"


rule:
    """P@5 against λ (disentangle, Figure 3)."""
    name:
        "disentangle-fig3"
    input:
        scores=measured_scores("disentangle", "fig3"),
    output:
        **artefact_outputs("disentangle", "fig3"),
    log:
        f"{LOG_FOLDER}/disentangle-fig3.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("overlap_figure.py"),
        artefact=artefact_part("disentangle", "fig3", "title", "metrics", "rows", "notes"),
        by="λ",
    script:
        "../workflow_scripts/overlap_figure.py"


rule:
    """Precision on entangled labels, without and with overlapping clusters (disentangle, Appendix A.7)."""
    name:
        "disentangle-a7"
    input:
        scores=measured_scores("disentangle", "a7"),
    output:
        **artefact_outputs("disentangle", "a7"),
    log:
        f"{LOG_FOLDER}/disentangle-a7.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "a7", "title", "metrics", "rows", "compare", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Overlapping clusters beside random copies (disentangle, Appendix A.8)."""
    name:
        "disentangle-a8"
    input:
        scores=measured_scores("disentangle", "a8"),
    output:
        **artefact_outputs("disentangle", "a8"),
    log:
        f"{LOG_FOLDER}/disentangle-a8.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "a8", "title", "metrics", "rows", "compare", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Variation of information between fused meanings and clusters (disentangle, section 5.1)."""
    name:
        "disentangle-vi"
    input:
        scores=measured_scores("disentangle", "vi", "results/meanings"),
    output:
        **artefact_outputs("disentangle", "vi"),
    log:
        f"{LOG_FOLDER}/disentangle-vi.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "vi", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Problem 7 itself, its variants and what they bring (disentangle, beyond the paper)."""
    name:
        "disentangle-beyond"
    input:
        scores=measured_scores("disentangle", "beyond") + measured_scores("disentangle", "beyond", "results/objectives"),
    output:
        **artefact_outputs("disentangle", "beyond"),
    log:
        f"{LOG_FOLDER}/disentangle-beyond.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "beyond", "title", "metrics", "rows", "compare", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """What Disentangle+ is made of, on training samples held out (disentangle, beyond the paper)."""
    name:
        "disentangle-choices"
    input:
        scores=measured_scores("disentangle", "choices", "results/held-out"),
    output:
        **artefact_outputs("disentangle", "choices"),
    log:
        f"{LOG_FOLDER}/disentangle-choices.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("disentangle", "choices", "title", "metrics", "rows", "compare", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Time to train and to ask (disentangle, beyond the paper)."""
    name:
        "disentangle-costs"
    input:
        costs=measured_costs("costs"),
    output:
        **artefact_outputs("disentangle", "costs"),
    log:
        f"{LOG_FOLDER}/disentangle-costs.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("costs_table.py"),
        artefact=artefact_part("disentangle", "costs", "title", "rows", "notes"),
    script:
        "../workflow_scripts/costs_table.py"


rule:
    """Every artefact of 'Label Disentanglement in Partition-based Extreme Multilabel Classification'."""
    name:
        "disentangle"
    input:
        artefact_files("disentangle"),
    localrule: True
