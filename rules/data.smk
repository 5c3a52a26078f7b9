localrules:
    fetch,


rule fetch:
    """Bring the raw files of a data set (or encoder, or word vectors) from the first source that has them; verify them."""
    output:
        "results/raw/{dataset}/source.json",
    log:
        "results/logs/fetch/{dataset}.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        # Neither the code nor the sources: they say how the files are got, these what they are. Downloads are large.
        files=fetched_files,
        own_editions=own_file_editions,
    script:
        "../workflow_scripts/fetch.py"


rule prepare:
    """Turn raw files into the canonical form, and check its statistics against the registered ones."""
    input:
        raw=raw_files,
        encoder=encoder_files,
    output:
        directory("results/data/{dataset}"),
    log:
        "results/logs/prepare/{dataset}.log",
    conda:
        "../environment.yml"
    threads: prepare_threads
    resources:
        mem_mb=prepare_memory_mb,
    params:
        code=reader_code,
        config=prepare_config,
    script:
        "../workflow_scripts/prepare.py"


rule word_vectors:
    """Turn fetched word vectors into words.txt and vectors.npy."""
    input:
        "results/raw/{vectors}/source.json",
    output:
        directory("results/word-vectors/{vectors}"),
    log:
        "results/logs/word_vectors/{vectors}.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=word_vectors_memory_mb,
    params:
        code=code_of("word_vectors.py"),
        config=word_vectors_config,
    script:
        "../workflow_scripts/word_vectors.py"
