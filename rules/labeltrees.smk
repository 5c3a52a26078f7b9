rule:
    """Statistics of the public data sets, published and measured (labeltrees, Table 1)."""
    name:
        "labeltrees-table1"
    input:
        data=measured_data("labeltrees", "table1"),
        published="config/papers/labeltrees/published/table1.csv",
    output:
        **artefact_outputs("labeltrees", "table1"),
    log:
        f"{LOG_FOLDER}/labeltrees-table1.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/labeltrees-table1.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("statistics_table.py"),
        artefact=artefact_part("labeltrees", "table1", "title", "columns", "notes"),
    script:
        "../workflow_scripts/statistics_table.py"


rule:
    """Statistics of the e-commerce logs, published, and of our simulated ones (labeltrees, Table 2)."""
    name:
        "labeltrees-table2"
    input:
        data=measured_data("labeltrees", "table2"),
        published="config/papers/labeltrees/published/table2.csv",
    output:
        **artefact_outputs("labeltrees", "table2"),
    log:
        f"{LOG_FOLDER}/labeltrees-table2.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/labeltrees-table2.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("statistics_table.py"),
        artefact=artefact_part("labeltrees", "table2", "title", "columns", "notes"),
    script:
        "../workflow_scripts/statistics_table.py"


rule:
    """Label frequency imbalance (labeltrees, Figure 1)."""
    name:
        "labeltrees-fig1"
    input:
        data=measured_data("labeltrees", "fig1"),
        published="config/papers/labeltrees/published/figures.csv",
    output:
        **artefact_outputs("labeltrees", "fig1"),
    log:
        f"{LOG_FOLDER}/labeltrees-fig1.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/labeltrees-fig1.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("imbalance_figure.py"),
        artefact=artefact_part("labeltrees", "fig1", "title", "panels"),
    script:
        "../workflow_scripts/imbalance_figure.py"


rule:
    """Label frequency imbalance, one, three or all labels wanted (labeltrees, Figure 6)."""
    name:
        "labeltrees-fig6"
    input:
        data=measured_data("labeltrees", "fig6"),
        published="config/papers/labeltrees/published/figures.csv",
    output:
        **artefact_outputs("labeltrees", "fig6"),
    log:
        f"{LOG_FOLDER}/labeltrees-fig6.log",
    benchmark:
        f"{BENCHMARK_FOLDER}/labeltrees-fig6.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("imbalance_figure.py"),
        artefact=artefact_part("labeltrees", "fig6", "title", "panels"),
    script:
        "../workflow_scripts/imbalance_figure.py"


rule:
    """Every artefact of 'Enabling Efficiency-Precision Trade-offs for Label Trees in Extreme Classification'."""
    name:
        "labeltrees"
    input:
        artefact_files("labeltrees"),
    localrule: True
