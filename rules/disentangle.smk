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
    """Every artefact of 'Label Disentanglement in Partition-based Extreme Multilabel Classification'."""
    name:
        "disentangle"
    input:
        artefact_files("disentangle"),
    localrule: True
