rule:
    """Statistics of the data sets and Parabel's precision on them, published and measured (eagle, Table 1)."""
    name:
        "eagle-table1"
    input:
        data=measured_data("eagle", "table1"),
        scores=measured_scores("eagle", "table1"),
        published="config/papers/eagle/published/table1.csv",
    output:
        **artefact_outputs("eagle", "table1"),
    log:
        f"{LOG_FOLDER}/eagle-table1.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/eagle-table1.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("statistics_table.py"),
        artefact=artefact_part("eagle", "table1", "title", "columns", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/statistics_table.py"


rule:
    """Every artefact of 'Extreme Multi-label Classification from Aggregated Labels'."""
    name:
        "eagle"
    input:
        artefact_files("eagle"),
    localrule: True
