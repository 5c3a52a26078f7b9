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
    benchmark:
        f"{BENCHMARK_FOLDER}/otseq2set-table1.tsv"
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
    benchmark:
        f"{BENCHMARK_FOLDER}/otseq2set-fig4.tsv"
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
    """Every artefact of 'OTSeq2Set: An Optimal Transport Enhanced Sequence-to-Set Model for Extreme Multi-label Text Classification'."""
    name:
        "otseq2set"
    input:
        artefact_files("otseq2set"),
    localrule: True
