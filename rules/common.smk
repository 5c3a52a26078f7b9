"""Configuration, checked before anything runs; paths; wildcards."""

import re
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from orchard.config import check, did_you_mean, load_checked, load_folder, load_yaml, method_named, pick
from orchard.config import with_backbones, with_likes, with_sweeps
from orchard.data.readers import module_of
from orchard.data.registry import load_encoders, load_registry, load_word_vector_entries, own_editions
from orchard.errors import ConfigError
from orchard.methods import OVERLAPPING, NotImportable, make_overlap, match_recipe, recipe_name, tree_recipe
from orchard.provenance import source_hash
from orchard.report.rows import methods_of, resolve_rows, runs_of, without


configfile: "config/config.yaml"


report: "report/workflow.rst"


check(config, load_yaml("config/schemas/config.schema.yaml"), "config/config.yaml or --config")

DATASETS = load_registry("config/datasets", "config/schemas/dataset.schema.yaml")
ENCODERS = load_encoders("config/encoders", "config/schemas/encoder.schema.yaml", DATASETS)
WORD_VECTORS = load_word_vector_entries(
    "config/word_vectors", "config/schemas/word_vectors.schema.yaml", DATASETS, ENCODERS
)
METHODS = with_backbones(with_sweeps(with_likes(load_folder("config/methods", "config/schemas/method.schema.yaml"))))
PAPERS = ("eagle", "disentangle", "labeltrees", "otseq2set")
OF_GROUPS = sorted(name for name, method in METHODS.items() if "search" in method)  # networks that learn from groups
OF_TEXTS = sorted(name for name, method in METHODS.items() if "word_vectors" in method)  # and those that read texts
HAS_TORCH = find_spec("torch") is not None
GPUS = 1 if which("nvidia-smi") else 0  # what a training takes of the resource `gpu`, of which the profile has one
NO_TORCH = "PyTorch is not installed (`pip install -r requirements-neural.txt`)"


def load_artefacts(path):
    """The artefacts of a paper; without PyTorch the rows that need it are not run, and say so."""
    artefacts = load_checked(path, "config/schemas/artefacts.schema.yaml")
    if HAS_TORCH:
        return artefacts
    return {
        name: without(entry, [*OF_GROUPS, *OF_TEXTS], NO_TORCH) if "rows" in entry else entry
        for name, entry in artefacts.items()
    }


ARTEFACTS = {paper: load_artefacts(f"config/papers/{paper}/artefacts.yaml") for paper in PAPERS}
SCALE = config["scale"]
SHOWN = "own-data" if "datasets" in config else SCALE
ARTEFACT_FOLDER = f"results/artefacts/{SHOWN}"
LOG_FOLDER = f"results/logs/artefacts/{SHOWN}"


LEARNING_FROM_GROUPS = "|".join(map(re.escape, OF_GROUPS))
WRITING_LABELS = "|".join(map(re.escape, OF_TEXTS))


wildcard_constraints:
    dataset="[A-Za-z0-9][A-Za-z0-9._-]*",
    vectors="[A-Za-z0-9][A-Za-z0-9._-]*",
    method="[A-Za-z0-9][A-Za-z0-9._+@-]*",
    seed=r"\d+",
    grouping="[a-z0-9-]+",
    mode="[a-z]+",
    k=r"\d+",
    variant="[a-z]+(/[a-z0-9-]+)?",
    tree=r"\w+-[0-9a-f]{8}",
    match=r"\w+-[0-9a-f]{8}",


# What estimators import, and their trees do not depend on: an edit of the solver leaves trees alone.
NOT_FOR_TREES = (
    *(f"orchard.linear.{name}" for name in ("training", "search", "search_report", "storage")),
    *(f"orchard.softmax.{name}" for name in ("hierarchical", "ngrams")),
)


AROUND_JOBS = ("orchard.jobs",)  # their logs and records, on which no result depends


def code_of(script, modules=(), without=()):
    """The hash of a script and the library behind it: an edit of either re-runs the step."""
    script = Path(workflow.basedir) / "workflow_scripts" / script
    return source_hash(script, modules, (*AROUND_JOBS, *without))


def dataset_config(wildcards):
    return pick("data set", wildcards.dataset, DATASETS)


def dataset_part(*keys):
    """Those keys of a data set's entry that a step depends on: an edit of the others does not re-run it."""
    return lambda wildcards: {key: value for key, value in dataset_config(wildcards).items() if key in keys}


def method_config(wildcards):
    return method_named(wildcards.method, METHODS)


def method_part(wildcards):
    """What a run depends on: the estimator, and the hyper-parameters of this method for this data set."""
    return estimator_for(method_config(wildcards), wildcards.dataset)


def imputation(wildcards):
    """How a method imputes the labels of groups; nothing if it takes every label for every sample of the group."""
    impute = method_config(wildcards).get("impute")
    if impute and not wildcards.variant.startswith("aggregated/"):
        raise ConfigError(
            f"method {wildcards.method!r} imputes labels of groups: its variant must be aggregated/…, not {wildcards.variant}"
        )
    return {"function": impute["function"], "parameters": impute.get("parameters", {})} if impute else None


def overlap_for(method, dataset):
    """How a method lets clusters overlap on a data set; nothing if it does not."""
    overlap = dict(method.get("overlap", {}))
    return overlap | overlap.pop("per_dataset", {}).get(dataset, {})


def overlap_options(wildcards):
    """`overlap_for` a run, refused before anything is trained if it makes no sense."""
    overlap = overlap_for(method_config(wildcards), wildcards.dataset)
    if overlap:
        try:
            make_overlap(overlap)
        except ConfigError as error:
            raise ConfigError(f"config/methods: {wildcards.method}: {error}")
    return overlap


def estimator_for(method, dataset):
    parameters = method.get("parameters", {}) | method.get("per_dataset", {}).get(dataset, {})
    return {"estimator": method["estimator"], "parameters": parameters}


def shared_trees(wildcards):
    """The label trees of a method that shares them, and what they cost; the run of any other builds its own.

    Trees over imputed labels are nobody else's. A method with an `overlap` takes the matches of its last round instead;
    one that keeps its matcher, that too.
    """
    method = method_config(wildcards)
    estimator = estimator_for(method, wildcards.dataset)
    if "impute" in method:
        return {}
    if "overlap" not in method:
        return trees_to_share(estimator, wildcards) if method.get("share_trees") else {}
    overlap = overlap_for(method, wildcards.dataset)
    inputs = matches_of("matches", match_recipe(estimator, overlap), wildcards)
    if not overlap.get("retrain_matcher", True):
        inputs["matcher"] = matches_of("matcher", match_recipe(estimator, {}), wildcards)["matcher"]
    return inputs


def trees_to_share(estimator, wildcards):
    with suppress(NotImportable):  # its run says why
        if not tree_recipe(**estimator):
            raise ConfigError(
                f"method {wildcards.method!r}: share_trees: {estimator['estimator']} builds no label trees that could be"
                " shared (docs/extending.md)"
            )
    return trees_of(estimator, wildcards)


def trees_of(estimator, wildcards):
    """The files of an estimator's label trees; none if it has none, or cannot be imported (its run says why)."""
    if not (recipe := tree_recipe_of(estimator)):
        return {}
    folder = f"results/trees/{wildcards.dataset}/{wildcards.variant}/{recipe_name(recipe)}/seed-{wildcards.seed}"
    return {"trees": f"{folder}/trees", "cost": f"{folder}/cost.json"}


def tree_recipe_of(estimator):
    try:
        return tree_recipe(**estimator)
    except NotImportable:
        return None


def matches_of(name, recipe, wildcards):
    folder = f"results/matches/{wildcards.dataset}/{wildcards.variant}/{recipe_name(recipe)}/seed-{wildcards.seed}"
    return {name: f"{folder}/matches", "cost": f"{folder}/cost.json"}


CROSS_FITTED = {"folds": 2}  # the matches by which clusters are judged, whatever they were chosen by


@cache
def match_recipes(dataset):
    """{name: recipe} of all matches that some method may ask for on a data set."""
    adding = [name for name, method in METHODS.items() if "overlap" in method]
    others = {"overlap", "impute", "search", "word_vectors"}
    plain = [name for name, method in METHODS.items() if not others & method.keys()]
    recipes = []
    for name in [*METHODS, *(f"{one}+{other}" for one in adding for other in plain)]:
        method = method_named(name, METHODS)
        estimator, overlap = estimator_for(method, dataset), overlap_for(method, dataset)
        recipes += [match_recipe(estimator, {}), match_recipe(estimator, CROSS_FITTED)]
        recipes += [match_recipe(estimator, overlap, number + 1) for number in range(overlap.get("rounds", 1))]
    return {recipe_name(recipe): recipe for recipe in recipes}


def match_named(wildcards):
    return pick("match", wildcards.match, match_recipes(wildcards.dataset))


def matches_to_judge(wildcards):
    """The matches that the clusters of a method are chosen by, and those of its backbone, plain and cross-fitted."""
    method = method_config(wildcards)
    estimator, overlap = estimator_for(method, wildcards.dataset), overlap_for(method, wildcards.dataset)
    if overlap.get("rounds", 1) > 1:
        raise ConfigError(
            f"method {wildcards.method!r}: clusters of a later round are not those of the backbone's matcher"
        )
    wanted = {"matches": overlap, "plain": {}, "crossed": CROSS_FITTED}
    inputs = {}
    for name, options in wanted.items():
        inputs |= matches_of(name, match_recipe(estimator, options), wildcards)
    return inputs


def matches_of_method(wildcards):
    """The matches that the clusters of a method with an `overlap` are chosen by."""
    method = method_config(wildcards)
    if "overlap" not in method:
        raise ConfigError(f"method {wildcards.method!r} has no overlapping clusters (no `overlap`)")
    recipe = match_recipe(estimator_for(method, wildcards.dataset), overlap_for(method, wildcards.dataset))
    return matches_of("matches", recipe, wildcards)


def trees_to_match(wildcards):
    """The trees that samples are matched over: the method's own, or with the clusters that earlier matches give."""
    recipe = match_named(wildcards)
    if "after" in recipe:
        return matches_of("before", recipe["after"], wildcards)
    if trees := trees_of({key: recipe[key] for key in ("estimator", "parameters")}, wildcards):
        return trees
    raise ConfigError(f"{recipe['estimator']} has no label trees that could overlap")


def match_code(wildcards):
    return code_behind("match.py", match_named(wildcards)["estimator"], wildcards.match, "estimator")


def recipe_named(wildcards):
    """The recipe of the first method whose trees have this name."""
    class_name = wildcards.tree.rpartition("-")[0]
    return pick("tree", wildcards.tree, tree_recipes(class_name, wildcards.dataset))


@cache
def tree_recipes(class_name, dataset):
    """{name: recipe} of all trees that methods of a class need on a data set; only that class is imported."""
    of_class = [method for method in METHODS.values() if method["estimator"].endswith(f".{class_name}")]
    recipes = filter(None, (tree_recipe_of(estimator_for(method, dataset)) for method in of_class))
    return {recipe_name(recipe): recipe for recipe in recipes}


def tree_code(wildcards):
    """Editing what builds trees makes new ones; editing what trains and searches over them does not."""
    return code_of("tree.py", [recipe_named(wildcards)["estimator"].rpartition(".")[0]], NOT_FOR_TREES)


def fetched_config(wildcards):
    """Data sets, encoders and word vectors are fetched alike."""
    return pick("data set, encoder or word vectors", wildcards.dataset, DATASETS | ENCODERS | WORD_VECTORS)


def fetched_files(wildcards):
    return {key: value for key, value in fetched_config(wildcards).items() if key == "files"}


def own_file_editions(wildcards):
    """A user's own file is copied anew when it was edited."""
    return own_editions(wildcards.dataset, fetched_config(wildcards), f"results/raw/{wildcards.dataset}")


def raw_files(wildcards):
    """A data set's own files, or those of another one; generated and bundled data has none."""
    dataset = dataset_config(wildcards)
    owner = wildcards.dataset if "files" in dataset else dataset.get("files_of")
    return f"results/raw/{owner}/source.json" if owner else []


def encoder_files(wildcards):
    """Only sentences need an encoder."""
    encoder = dataset_config(wildcards)["reader"].get("encoder")
    return f"results/raw/{encoder}/source.json" if encoder else []


def encoder_part(wildcards):
    """Which class with which parameters encodes the sentences of a data set; nothing if there are none."""
    encoder = ENCODERS.get(dataset_config(wildcards)["reader"].get("encoder"), {})
    return {key: encoder[key] for key in ("encoder", "parameters") if key in encoder}


def prepare_config(wildcards):
    """What a prepared data set depends on, beside code and files."""
    keys = ("title", "simulated", "propensity", "reader", "statistics")
    encoder = encoder_part(wildcards)
    return dataset_part(*keys)(wildcards) | ({"encoder": encoder} if encoder else {})


def reader_code(wildcards):
    """Readers and encoders are found by name: an edit of one re-runs the data sets that it reads, and no others."""
    modules = [module_of(dataset_config(wildcards))]
    if encoder := encoder_part(wildcards):
        modules.append(encoder["encoder"].rpartition(".")[0])
    try:
        return code_of("prepare.py", modules)
    except (ModuleNotFoundError, SyntaxError) as error:
        raise ConfigError(f"config/datasets/{wildcards.dataset}.yaml: reader: {error}")


def prepare_memory_mb(wildcards):
    """An encoder is a network, and comes with the library that runs it."""
    return memory_mb(wildcards) + (1000 if encoder_part(wildcards) else 0)


def word_vectors_config(wildcards):
    """What prepared word vectors depend on, beside code and files."""
    entry = pick("word vectors", wildcards.vectors, WORD_VECTORS)
    return {key: entry[key] for key in ("reader", "statistics")}


def word_vectors_memory_mb(wildcards):
    """A guess: the vectors once, and 300 bytes for every word, which stands in a list and in a dictionary."""
    sizes = word_vectors_config(wildcards)["statistics"]
    return 1000 + int(sizes["n_words"] * (4 * sizes["dimensions"] + 300) / 1e6)


def estimator_code(wildcards):
    return code_of_method(wildcards, "run.py")


def held_out_code(wildcards):
    if "impute" in method_config(wildcards):
        raise ConfigError(f"method {wildcards.method!r} imputes labels of groups: `validate` judges it")
    return code_of_method(wildcards, "hold_out.py")


def code_of_method(wildcards, script):
    """Estimators, imputations and overlaps are found by name: an edit re-runs the methods that have it, and no others."""
    method = method_config(wildcards)
    found_by_name = {"estimator": method["estimator"]}
    if "impute" in method:
        found_by_name["impute"] = method["impute"]["function"]
    if "overlap" in method:
        found_by_name["overlap"] = f"{OVERLAPPING}.overlapping_fit"
    return {key: code_behind(script, path, wildcards.method, key) for key, path in found_by_name.items()}


def imputation_code(wildcards):
    """What a validation depends on: the imputation alone."""
    method = method_config(wildcards)
    if "impute" not in method:
        raise ConfigError(f"method {wildcards.method!r} imputes no labels (no `impute`): there is nothing to validate")
    return code_behind("validate.py", method["impute"]["function"], wildcards.method, "impute")


def code_behind(script, path, method, key):
    """`code_of` a script and of what a method names under a key."""
    try:
        return code_of(script, [path.rpartition(".")[0]])
    except (ModuleNotFoundError, SyntaxError) as error:
        raise ConfigError(f"config/methods: {method}: {key}: {error}")


def variant_labels(wildcards):
    """The label files that a variant puts in the place of the data set's own."""
    folder = f"results/variants/{wildcards.dataset}/{wildcards.variant}/seed-{wildcards.seed}"
    files = {
        "clean": {},
        "aggregated": {"Y1": f"{folder}/Y1.npz", "Y2": f"{folder}/Y2.npz"},
        "entangled": {"Y_train": f"{folder}/Y.trn.npz", "Y_test": f"{folder}/Y.tst.npz"},
    }
    return pick("variant", wildcards.variant.partition("/")[0], files)


def memory_mb(wildcards):
    """A guess from the number of entries: X three times (8 bytes each) while it is read, checked and written."""
    rows, _, features, _ = registered_sizes(wildcards)
    return 1000 + int(24 * rows * features / 1e6)


def training_memory_mb(wildcards):
    """A guess for label trees and runs: X twice, and three times the label embeddings, 8 bytes an entry.

    A label's embedding has at most the features of all its samples. The third of them stands for the model. Measured:
    EurLex-4K 0.35 GB (guess 1.1), amazon-67k-sim 0.77 (1.1), amazon-670k-sim 4.7 for the tree, 5.4 for the run (6.8).
    A variant that spreads labels over more samples needs more than this. An imputation gets room for the largest matrix
    of `impute_labels_plus`, 12,000 × 12,000 groups, and for its factor.
    """
    rows, train_rows, features, labels = registered_sizes(wildcards)
    statistics = dataset_config(wildcards)["statistics"]
    dense = statistics.get("n_labels", float("inf")) * statistics.get("n_features", float("inf"))
    imputes = "method" in wildcards.keys() and "impute" in method_config(wildcards)
    return 500 + 1200 * imputes + int((16 * rows * features + 24 * min(train_rows * labels * features, dense)) / 1e6)


def dense_memory_mb(wildcards):
    """A guess for networks: all rows dense, and copies of them for label embeddings and validation, 40 bytes an entry."""
    rows, *_ = registered_sizes(wildcards)
    return 1000 + int(40e-6 * rows * dataset_config(wildcards)["statistics"].get("n_features", 512))


def registered_sizes(wildcards):
    """(rows, training rows, features per row, labels per row), as far as the registry knows them."""
    statistics, reader = dataset_config(wildcards)["statistics"], dataset_config(wildcards)["reader"]
    train_rows = statistics.get("n_train", 0)
    features = statistics.get("features_per_sample", reader.get("words_per_sample", 250))
    labels = reader.get("labels_per_sample", statistics.get("labels_per_sample", 5))
    return (
        train_rows + statistics.get("n_test", 0),
        train_rows,
        features,
        statistics.get("labels_per_train_sample", labels),
    )


def prepare_threads(wildcards):
    """Only the generator uses more than one."""
    return 2 if dataset_config(wildcards)["simulated"] else 1


LARGE = 20_000_000  # entries of X


def compute_threads(wildcards):
    """One, so that as many jobs run as there are cores, which keeps all of them busy; two where X is large.

    Reading, compiling and the upper levels of a tree leave a second thread idle. Large data sets have few jobs, each
    with much memory. Results do not depend on it.
    """
    rows, _, features, _ = registered_sizes(wildcards)
    return 2 if rows * features > LARGE else 1


def shown_datasets(paper, artefact):
    """The data sets that an artefact shows at this scale, or those that the user asked for instead."""
    names = config.get("datasets", ARTEFACTS[paper][artefact]["datasets"][SCALE])
    names = [first_at_hand(name) for name in (names.split(",") if isinstance(names, str) else names)]
    for name in names:
        pick("data set", name, DATASETS)
    return names


def first_at_hand(names):
    """Of `a | b` the first whose raw files were fetched before, for whatever reason, and else the last."""
    *preferred, last = names.split(" | ")
    fetched = (name for name in preferred if Path(raw_folder(name), "source.json").is_file())
    return next(fetched, last)


def raw_folder(name):
    return f"results/raw/{pick('data set', name, DATASETS).get('files_of', name)}"


def measured_data(paper, artefact):
    return [f"results/data/{name}" for name in shown_datasets(paper, artefact)]


def measured_scores(paper, artefact, folder="results/runs", file="score.json"):
    """The runs (or validations …) that an artefact shows: its rows with a method, on its data sets, with its seeds."""
    runs = runs_of(ARTEFACTS[paper][artefact], SCALE, shown_datasets(paper, artefact))
    return [f"{folder}/{name}/{variant}/{method}/seed-{seed}/{file}" for name, variant, method, seed in runs]


def artefact_part(paper, artefact, *keys):
    """Those keys of an artefact's entry that its rendering depends on; its rows as they are at this scale."""
    entry = ARTEFACTS[paper][artefact]
    if "rows" in keys:
        entry = entry | {"rows": resolve_rows(entry, SCALE, shown_datasets(paper, artefact))}
    return {key: value for key, value in entry.items() if key in keys}


def simulation_of(paper, artefact):
    """What an artefact without data sets simulates, with the repetitions of this scale."""
    simulation = ARTEFACTS[paper][artefact]["simulation"]
    return simulation | {"repetitions": simulation["repetitions"][SCALE]}


def artefact_outputs(paper, artefact):
    """A table is CSV and Markdown; a figure is PNG and SVG, and its numbers as CSV.

    Snakemake's own report (`snakemake --report`) has figures, and the numbers of tables.
    """
    paths, kind = artefact_paths(paper, artefact), ARTEFACTS[paper][artefact]["kind"]
    reported = {"table": "csv", "figure": "svg"}[kind]
    labels = {"artefact": artefact, "scale": SHOWN, "kind": kind}
    marked = report(paths[reported], caption="report/caption.rst", category=paper, labels=labels)
    return paths | {reported: marked}


def artefact_paths(paper, artefact):
    kinds = {"table": ("csv", "md"), "figure": ("png", "svg", "csv")}[ARTEFACTS[paper][artefact]["kind"]]
    return {kind: f"{ARTEFACT_FOLDER}/{paper}-{artefact}.{kind}" for kind in kinds}


def artefact_files(paper):
    return [path for artefact in ARTEFACTS[paper] for path in artefact_paths(paper, artefact).values()]


def suggest_target(wildcards):
    names = [rule.name for rule in workflow.rules]
    raise ConfigError(
        f"unknown target {wildcards.target!r}{did_you_mean(wildcards.target, names)} "
        "(`snakemake --list-target-rules` shows all; a target appears when its artefact comes to life)"
    )


def methods_to_time(wildcards):
    """The methods of a table of costs, each with its estimator and its overlap."""
    rows = artefact_part("disentangle", wildcards.artefact, "rows")["rows"]
    return [timed_method(name, wildcards.dataset) for name in methods_of(rows)]


def timed_method(name, dataset):
    method = method_named(name, METHODS)
    return {"method": name, "overlap": overlap_for(method, dataset)} | estimator_for(method, dataset)


def methods_to_search(wildcards):
    """The methods whose searches labeltrees-latency shows."""
    rows = artefact_part("labeltrees", "latency", "rows")["rows"]
    return [timed_method(name, wildcards.dataset) for name in methods_of(rows)]


def measured_latencies(artefact):
    """At every scale its own: which methods take turns depends on it."""
    folder = f"results/latencies/{SCALE}"
    return [f"{folder}/{name}/cost.json" for name in shown_datasets("labeltrees", artefact)]


def measured_costs(artefact):
    """At every scale its own: which methods take turns depends on it."""
    folder = f"results/costs/{SCALE}/disentangle-{artefact}"
    return [f"{folder}/{name}/cost.json" for name in shown_datasets("disentangle", artefact)]
