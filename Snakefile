include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/variants.smk"
include: "rules/models.smk"
include: "rules/eagle.smk"
include: "rules/disentangle.smk"
include: "rules/labeltrees.smk"
include: "rules/otseq2set.smk"


rule:
    name:
        "reproduce-all"
    default_target: True
    input:
        [artefact_files(paper) for paper in ARTEFACTS],
    localrule: True
    message:
        "Every table and figure of the four papers at the scale '{SCALE}' is in {ARTEFACT_FOLDER}/"


refuse_unknown_targets()
