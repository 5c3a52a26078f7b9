"""Which files a search for hyper-parameters takes and gives, and the runs that wait for what it chose."""

from orchard.hyperparameters import points_of, search_of, searched_variant


def choice_of(method, wildcards):
    """The file with what was chosen for a method: on this variant, or on the searched one that is nearest to it."""
    variant = searched_variant(wildcards.variant, search_of(method, METHODS, wildcards.dataset))
    return f"results/search/{wildcards.dataset}/{variant}/{method}/choice.json"


def choices_before(wildcards):
    """What a search takes as given."""
    if not wildcards.variant.startswith("aggregated/"):
        raise ConfigError(
            f"method {wildcards.method!r} learns from groups: its variant must be aggregated/…, not {wildcards.variant}"
        )
    search = search_of(wildcards.method, METHODS, wildcards.dataset)
    return [choice_of(search["after"], wildcards)] if "after" in search else []


def choices_for_run(wildcards):
    """All that was chosen for a method, the first choice first."""
    searched = points_of(search_of(wildcards.method, METHODS, wildcards.dataset))
    return choices_before(wildcards) + ([choice_of(wildcards.method, wildcards)] if searched else [])


def search_scores(dataset, variant, method):
    search = search_of(method, METHODS, dataset)
    folder = f"results/search/{dataset}/{variant}/{method}"
    return [f"{folder}/{point}/seed-{seed}/score.json" for point in points_of(search) for seed in search["seeds"]]


def points_to_choose_from(wildcards):
    return search_scores(wildcards.dataset, wildcards.variant, wildcards.method)


def searched_scores(paper, artefact):
    """The points behind a table of a search: of its method, on all of its data sets, on the first variant searched."""
    return [
        path
        for method in methods_of(ARTEFACTS[paper][artefact]["rows"])
        for dataset in shown_datasets(paper, artefact)
        for path in search_scores(dataset, search_of(method, METHODS, dataset)["variants"][0], method)
    ]


def shown_embeddings(paper, artefact):
    """The label embeddings that a figure shows, data set by data set."""
    return [
        f"results/embeddings/{dataset}/{one['variant']}/iterations-{one['iterations']}/seed-0.npz"
        for dataset in shown_datasets(paper, artefact)
        for one in ARTEFACTS[paper][artefact]["embeddings"]
    ]


def point_parameters(wildcards):
    """A point of the grid; with how long it is trained at most, if no choice before has settled that."""
    search = search_of(wildcards.method, METHODS, wildcards.dataset)
    point = pick("point", wildcards.point, points_of(search))
    schedule = {} if "after" in search else {key: search[key] for key in ("epochs", "patience")}
    return {"point": point, "schedule": schedule}


def groups_code(wildcards):
    return code_behind("learn_from_groups.py", method_config(wildcards)["estimator"], wildcards.method, "estimator")
