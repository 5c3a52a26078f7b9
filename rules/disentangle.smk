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
    benchmark:
        f"{BENCHMARK_FOLDER}/disentangle-table1.tsv"
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
    benchmark:
        f"{BENCHMARK_FOLDER}/disentangle-table3.tsv"
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
    benchmark:
        f"{BENCHMARK_FOLDER}/disentangle-table4.tsv"
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
    """Every artefact of 'Label Disentanglement in Partition-based Extreme Multilabel Classification'."""
    name:
        "disentangle"
    input:
        artefact_files("disentangle"),
    localrule: True
