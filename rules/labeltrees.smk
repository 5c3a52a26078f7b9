EXPECTED_DEPTH = {"depth@{k}": "Expected depth at {k}"}


rule latency:
    """Measure the searches of interpolated trees, alone on the machine."""
    input:
        data="results/data/{dataset}",
    output:
        cost=f"results/latencies/{SCALE}/{{dataset}}/cost.json",
    log:
        f"results/logs/latency/{SCALE}/{{dataset}}.log",
    conda:
        "../environment.yml"
    threads: workflow.cores
    resources:
        mem_mb=training_memory_mb,
    params:
        code=code_of("latency.py", ["orchard.linear.estimators"]),
        methods=methods_to_search,
        queries=300 if SCALE in ("smoke", "demo") else 1000,
        rows=2000 if SCALE in ("smoke", "demo") else 5000,
    script:
        "../workflow_scripts/latency.py"


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
    """Operating points between similarity and coding (labeltrees, Figure 2)."""
    name:
        "labeltrees-fig2"
    input:
        scores=measured_scores("labeltrees", "fig2"),
    output:
        **artefact_outputs("labeltrees", "fig2"),
    log:
        f"{LOG_FOLDER}/labeltrees-fig2.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "fig2", "title", "metrics", "rows", "notes"),
        costs=EXPECTED_DEPTH,
    script:
        "../workflow_scripts/tradeoff_figure.py"


rule:
    """Expected depth and precision of Parabel with interpolated trees, four schemes (labeltrees, Figure 3)."""
    name:
        "labeltrees-fig3"
    input:
        scores=measured_scores("labeltrees", "fig3"),
    output:
        **artefact_outputs("labeltrees", "fig3"),
    log:
        f"{LOG_FOLDER}/labeltrees-fig3.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "fig3", "title", "metrics", "rows", "notes"),
        costs=EXPECTED_DEPTH,
    script:
        "../workflow_scripts/tradeoff_figure.py"


rule:
    """Mixed f̃, and f(λ) normalised once, beside the paper's scheme (labeltrees, appendix B)."""
    name:
        "labeltrees-mixture"
    input:
        scores=measured_scores("labeltrees", "mixture"),
    output:
        **artefact_outputs("labeltrees", "mixture"),
    log:
        f"{LOG_FOLDER}/labeltrees-mixture.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "mixture", "title", "metrics", "rows", "notes"),
        costs=EXPECTED_DEPTH,
    script:
        "../workflow_scripts/tradeoff_figure.py"


rule:
    """All schemes of interpolated trees in numbers (labeltrees, beyond Figure 3)."""
    name:
        "labeltrees-schemes"
    input:
        scores=measured_scores("labeltrees", "schemes"),
    output:
        **artefact_outputs("labeltrees", "schemes"),
    log:
        f"{LOG_FOLDER}/labeltrees-schemes.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("labeltrees", "schemes", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Expected depth and precision of fastText with interpolated trees (labeltrees, Figure 4)."""
    name:
        "labeltrees-fig4"
    input:
        scores=measured_scores("labeltrees", "fig4"),
    output:
        **artefact_outputs("labeltrees", "fig4"),
    log:
        f"{LOG_FOLDER}/labeltrees-fig4.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "fig4", "title", "metrics", "rows", "compare", "notes"),
        costs=EXPECTED_DEPTH,
    script:
        "../workflow_scripts/tradeoff_figure.py"


rule:
    """Expected depth and precision of interpolated trees on simulated e-commerce logs (labeltrees, Figure 5)."""
    name:
        "labeltrees-fig5"
    input:
        scores=measured_scores("labeltrees", "fig5"),
    output:
        **artefact_outputs("labeltrees", "fig5"),
    log:
        f"{LOG_FOLDER}/labeltrees-fig5.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "fig5", "title", "metrics", "rows", "notes"),
        costs=EXPECTED_DEPTH,
    script:
        "../workflow_scripts/tradeoff_figure.py"


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
    """Depth against precision, and latency against precision, of two searches (labeltrees, beyond the paper)."""
    name:
        "labeltrees-beyond"
    input:
        scores=measured_latencies("beyond"),
    output:
        **artefact_outputs("labeltrees", "beyond"),
    log:
        f"{LOG_FOLDER}/labeltrees-beyond.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "beyond", "title", "metrics", "rows", "notes"),
        costs={"depth@{k}": "Expected depth at {k}", "µs@{k}": "Median µs of a query for {k}"},
    script:
        "../workflow_scripts/tradeoff_figure.py"


rule:
    """Searches of the same trees: latency, batch, classifiers asked (labeltrees, beyond the paper)."""
    name:
        "labeltrees-latency"
    input:
        scores=measured_latencies("latency"),
    output:
        **artefact_outputs("labeltrees", "latency"),
    log:
        f"{LOG_FOLDER}/labeltrees-latency.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("labeltrees", "latency", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Interpolated trees whose clusters overlap (labeltrees × disentangle, beyond the papers)."""
    name:
        "labeltrees-overlap"
    input:
        scores=measured_scores("labeltrees", "overlap"),
    output:
        **artefact_outputs("labeltrees", "overlap"),
    log:
        f"{LOG_FOLDER}/labeltrees-overlap.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("tradeoff_figure.py"),
        artefact=artefact_part("labeltrees", "overlap", "title", "metrics", "rows", "notes"),
        costs={"scored": "Classifiers asked per query"},
    script:
        "../workflow_scripts/tradeoff_figure.py"


rule:
    """Every artefact of 'Enabling Efficiency-Precision Trade-offs for Label Trees in Extreme Classification'."""
    name:
        "labeltrees"
    input:
        artefact_files("labeltrees"),
    localrule: True
