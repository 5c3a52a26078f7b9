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
    """Baseline, EAGLE-0 and EAGLE on aggregated labels, published and measured (eagle, Table 2)."""
    name:
        "eagle-table2"
    input:
        scores=measured_scores("eagle", "table2"),
        published="config/papers/eagle/published/table2.csv",
    output:
        **artefact_outputs("eagle", "table2"),
    log:
        f"{LOG_FOLDER}/eagle-table2.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "table2", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """The same by group size and cluster depth, with the oracle, published and measured (eagle, Table 5)."""
    name:
        "eagle-table5"
    input:
        scores=measured_scores("eagle", "table5"),
        published="config/papers/eagle/published/table5.csv",
    output:
        **artefact_outputs("eagle", "table5"),
    log:
        f"{LOG_FOLDER}/eagle-table5.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "table5", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Decrement of P@1 over the oracle by group size, cluster depth and noise (eagle, Figure 4)."""
    name:
        "eagle-fig4"
    input:
        scores=measured_scores("eagle", "fig4"),
        published="config/papers/eagle/published/table5.csv",
    output:
        **artefact_outputs("eagle", "fig4"),
    log:
        f"{LOG_FOLDER}/eagle-fig4.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("decrement_figure.py"),
        artefact=artefact_part("eagle", "fig4", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/decrement_figure.py"


rule:
    """Decrement of P@1, P@3 and P@5 over the oracle by group size (eagle, Figure 7)."""
    name:
        "eagle-fig7"
    input:
        scores=measured_scores("eagle", "fig7"),
        published="config/papers/eagle/published/table5.csv",
    output:
        **artefact_outputs("eagle", "fig7"),
    log:
        f"{LOG_FOLDER}/eagle-fig7.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("decrement_figure.py"),
        artefact=artefact_part("eagle", "fig7", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/decrement_figure.py"


rule:
    """Decrement of P@1, P@3 and P@5 over the oracle by cluster depth (eagle, Figure 8)."""
    name:
        "eagle-fig8"
    input:
        scores=measured_scores("eagle", "fig8"),
        published="config/papers/eagle/published/table5.csv",
    output:
        **artefact_outputs("eagle", "fig8"),
    log:
        f"{LOG_FOLDER}/eagle-fig8.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("decrement_figure.py"),
        artefact=artefact_part("eagle", "fig8", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/decrement_figure.py"


rule:
    """Decrement of P@1, P@3 and P@5 over the oracle by heterogeneity within groups (eagle, Figure 9)."""
    name:
        "eagle-fig9"
    input:
        scores=measured_scores("eagle", "fig9"),
        published="config/papers/eagle/published/table5.csv",
    output:
        **artefact_outputs("eagle", "fig9"),
    log:
        f"{LOG_FOLDER}/eagle-fig9.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("decrement_figure.py"),
        artefact=artefact_part("eagle", "fig9", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/decrement_figure.py"


rule:
    """Error of regression from aggregated outputs, over the oracle's, simulated (eagle, Figure 3)."""
    name:
        "eagle-fig3"
    output:
        **artefact_outputs("eagle", "fig3"),
    log:
        f"{LOG_FOLDER}/eagle-fig3.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("simulation_figure.py"),
        artefact=artefact_part("eagle", "fig3", "title", "notes"),
        simulation=simulation_of("eagle", "fig3"),
    script:
        "../workflow_scripts/simulation_figure.py"


rule:
    """The same at the paper's five points, and of classification, simulated (eagle, Figure 6)."""
    name:
        "eagle-fig6"
    output:
        **artefact_outputs("eagle", "fig6"),
    log:
        f"{LOG_FOLDER}/eagle-fig6.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("simulation_figure.py"),
        artefact=artefact_part("eagle", "fig6", "title", "notes"),
        simulation=simulation_of("eagle", "fig6"),
    script:
        "../workflow_scripts/simulation_figure.py"


rule:
    """What a component that all samples share does to label imputation, simulated (beyond eagle)."""
    name:
        "eagle-centring"
    output:
        **artefact_outputs("eagle", "centring"),
    log:
        f"{LOG_FOLDER}/eagle-centring.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("simulation_figure.py"),
        artefact=artefact_part("eagle", "centring", "title", "notes"),
        simulation=simulation_of("eagle", "centring"),
    script:
        "../workflow_scripts/simulation_figure.py"


rule:
    """The open questions of the paper's section 8, answered by experiment (eagle, beyond the paper)."""
    name:
        "eagle-beyond"
    input:
        scores=measured_scores("eagle", "beyond"),
    output:
        **artefact_outputs("eagle", "beyond"),
    log:
        f"{LOG_FOLDER}/eagle-beyond.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "beyond", "title", "metrics", "rows", "compare", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """The choices behind EAGLE+, by groups left out of the training data (eagle, beyond the paper)."""
    name:
        "eagle-choices"
    input:
        scores=measured_scores("eagle", "choices", "results/validation"),
    output:
        **artefact_outputs("eagle", "choices"),
    log:
        f"{LOG_FOLDER}/eagle-choices.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "choices", "title", "metrics", "rows", "compare", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """EAGLE in front of XR-Linear, Bonsai and one-vs-all (eagle, beyond the paper)."""
    name:
        "eagle-backbones"
    input:
        scores=measured_scores("eagle", "backbones"),
    output:
        **artefact_outputs("eagle", "backbones"),
    log:
        f"{LOG_FOLDER}/eagle-backbones.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "backbones", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Accuracy of Deep-MIML, EAGLE-0 and EAGLE on groups of instances, published and measured (eagle, Table 3)."""
    name:
        "eagle-table3"
    input:
        scores=measured_scores("eagle", "table3"),
        published="config/papers/eagle/published/table3.csv",
    output:
        **artefact_outputs("eagle", "table3"),
    log:
        f"{LOG_FOLDER}/eagle-table3.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "table3", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Batch size and learning rate of Deep-MIML, published and measured (eagle, Table 6)."""
    name:
        "eagle-table6"
    input:
        scores=searched_scores("eagle", "table6"),
        published="config/papers/eagle/published/table6.csv",
    output:
        **artefact_outputs("eagle", "table6"),
    log:
        f"{LOG_FOLDER}/eagle-table6.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("search_table.py"),
        artefact=artefact_part("eagle", "table6", "title", "rows", "notes"),
    script:
        "../workflow_scripts/search_table.py"


rule:
    """Label embeddings that EAGLE learns from groups of pictures, as pictures (eagle, Figure 5)."""
    name:
        "eagle-fig5"
    input:
        embeddings=shown_embeddings("eagle", "fig5"),
    output:
        **artefact_outputs("eagle", "fig5"),
    log:
        f"{LOG_FOLDER}/eagle-fig5.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("embedding_figure.py"),
        artefact=artefact_part("eagle", "fig5", "title", "notes"),
    script:
        "../workflow_scripts/embedding_figure.py"


rule:
    """The same by group size and iterations (eagle, Figure 10)."""
    name:
        "eagle-fig10"
    input:
        embeddings=shown_embeddings("eagle", "fig10"),
    output:
        **artefact_outputs("eagle", "fig10"),
    log:
        f"{LOG_FOLDER}/eagle-fig10.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("embedding_figure.py"),
        artefact=artefact_part("eagle", "fig10", "title", "notes"),
    script:
        "../workflow_scripts/embedding_figure.py"


rule:
    """What readings of the loss that the paper leaves open give for large groups (eagle, section 7.3)."""
    name:
        "eagle-readings"
    input:
        scores=measured_scores("eagle", "readings"),
    output:
        **artefact_outputs("eagle", "readings"),
    log:
        f"{LOG_FOLDER}/eagle-readings.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("scores_table.py"),
        artefact=artefact_part("eagle", "readings", "title", "metrics", "rows", "notes"),
    script:
        "../workflow_scripts/scores_table.py"


rule:
    """Accuracy against the size of groups, labels known as a list or as a set (beyond eagle)."""
    name:
        "eagle-groups"
    input:
        scores=measured_scores("eagle", "groups"),
        published="config/papers/eagle/published/table3.csv",
    output:
        **artefact_outputs("eagle", "groups"),
    log:
        f"{LOG_FOLDER}/eagle-groups.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_of("group_figure.py"),
        artefact=artefact_part("eagle", "groups", "title", "metrics", "rows", "chance", "notes"),
    script:
        "../workflow_scripts/group_figure.py"


rule:
    """Every artefact of 'Extreme Multi-label Classification from Aggregated Labels'."""
    name:
        "eagle"
    input:
        artefact_files("eagle"),
    localrule: True
