"""`make bench`: set the peers up, measure what is not measured yet, write the tables and the plots.

python bench/run.py                                                      everything; hours
python bench/run.py --quick                                              EurLex-4K only, everything once; minutes
python bench/run.py --only eurlex-4k --engines pecos,orchard --repeats 1 a part of it
python bench/run.py --parts report                                       only the tables and the plots, anew
"""

import argparse
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # so that `python bench/run.py` finds the package `bench`

from bench import data, measure, peers, records, schedule, settings  # noqa: E402

PARTS = (
    "peers",
    "scaling",
    "trees",
    "jit",
    "limits",
    "imputation",
    "overlap",
    "building",
    "softmax",
    "steps",
    "report",
)


def main(arguments=None) -> int:
    options = parse(arguments)
    started = time.monotonic()
    needs_peers = {"peers", "trees", "overlap", "softmax"} & set(options.parts) and set(options.engines) - {"orchard"}
    if needs_peers and (problem := peers.set_up()):
        print(f"peers: {problem}", file=sys.stderr)
    measurements = plan(options)
    compared = datasets_of_trees(options)
    imputations, overlaps = plan_imputation(options), plan_overlap(options)
    buildings, softmaxes = plan_building(options), plan_softmax(options)
    sizes = plan_steps(options)
    planned = [*measurements, *imputations, *overlaps, *buildings, *softmaxes]
    data.prepare(sorted({one.dataset for one in planned} | set(compared) | {one["dataset"] for one in sizes}))
    run(measurements, options.fresh)
    if compared:
        from bench import same_trees

        same_trees.measure(compared, options.repeats, options.fresh)
    if "jit" in options.parts:
        from bench import jit

        jit.measure()
    if "limits" in options.parts:
        from bench import limits

        limits.measure()
    if imputations:
        from bench import imputation

        imputation.measure(imputations, options.fresh)
    if overlaps:
        from bench import overlap

        overlap.measure(overlaps, options.fresh)
    if buildings:
        from bench import tree_building

        tree_building.measure(buildings, options.fresh)
    if compares_overlap(options):
        from bench import overlap_agreement

        overlap_agreement.compare_seeds(options.repeats, options.fresh)
    if softmaxes:
        from bench import softmax

        softmax.measure_jobs(softmaxes, options.fresh)
    if sizes:
        from bench import steps

        steps.measure(sizes, options.fresh)
    from bench import report

    report.write()
    print(f"Done in {clock(time.monotonic() - started)}; see {report.FOLDER.relative_to(records.ROOT)}/")
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines = tuple(dict.fromkeys(one.engine for one in settings.CONFIGURATIONS))
    of_steps = [one["dataset"] for one in settings.STEP_SIZES]
    datasets = (*settings.PEER_DATASETS, *settings.CURVE_DATASETS, *settings.SOFTMAX_WORD_NGRAMS, *of_steps)
    datasets = tuple(dict.fromkeys(datasets))
    parser.add_argument("--only", type=names_of(datasets), help=f"data sets, of {','.join(datasets)}")
    parser.add_argument("--engines", type=names_of(engines), default=engines, help=f"of {','.join(engines)}")
    parser.add_argument("--repeats", type=int, default=settings.REPEATS, help="of a measurement (default %(default)s)")
    parser.add_argument("--parts", type=names_of(PARTS), default=PARTS, help=f"of {','.join(PARTS)}")
    parser.add_argument("--fresh", action="store_true", help="measure again what has been measured")
    parser.add_argument("--quick", action="store_true", help="the same as --only eurlex-4k --repeats 1")
    options = parser.parse_args(arguments)
    if options.quick:
        options.only, options.repeats = ("eurlex-4k",), 1
    return options


def names_of(allowed):
    """An argument type: names from `allowed`, separated by commas."""

    def parse_names(text):
        names = tuple(text.split(","))
        if unknown := [name for name in names if name not in allowed]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: unknown, there are {', '.join(allowed)}")
        return names

    return parse_names


def plan(options) -> list[schedule.Measurement]:
    measurements = []
    if "peers" in options.parts:
        datasets = [name for name in settings.PEER_DATASETS if options.only is None or name in options.only]
        measurements += schedule.peers(datasets, options.engines, options.repeats)
    if "scaling" in options.parts and "orchard" in options.engines:
        measurements += schedule.scaling(options.only, options.repeats)
    return list(dict.fromkeys(measurements))


def datasets_of_trees(options) -> list[str]:
    """Where Orchard is compared with PECOS on its trees."""
    if "trees" not in options.parts or not {"orchard", "pecos"} <= set(options.engines):
        return []
    return [name for name in settings.PEER_DATASETS if options.only is None or name in options.only]


def plan_imputation(options) -> list:
    if "imputation" not in options.parts or "orchard" not in options.engines:
        return []
    from bench import imputation

    return imputation.plan(options.only, options.repeats, options.quick)


def plan_overlap(options) -> list:
    if "overlap" not in options.parts or "orchard" not in options.engines:
        return []
    from bench import overlap

    return overlap.plan(options.only, options.repeats)


def plan_building(options) -> list:
    if "building" not in options.parts or "orchard" not in options.engines:
        return []
    from bench import tree_building

    return tree_building.plan(options.only, options.repeats)


def plan_softmax(options) -> list:
    """Only beside fastText: what Orchard takes alone says nothing here."""
    if "softmax" not in options.parts or not {"orchard", "fasttext"} <= set(options.engines):
        return []
    from bench import softmax

    return softmax.plan(options.only, options.repeats, options.quick)


def plan_steps(options) -> list[dict]:
    if "steps" not in options.parts or "orchard" not in options.engines:
        return []
    from bench import steps

    return steps.plan(options.only)


def compares_overlap(options) -> bool:
    """Whether Orchard is compared with PECOS over overlapping trees."""
    return (
        "overlap" in options.parts
        and {"orchard", "pecos"} <= set(options.engines)
        and (options.only is None or settings.AGREEMENT_DATASET in options.only)
    )


def run(measurements: list[schedule.Measurement], fresh: bool) -> None:
    """Measure one after the other; a line for each. Where a repetition failed, the others are not tried."""
    this_run = time.strftime("%Y-%m-%d %H:%M:%S")
    known = [] if fresh else records.load()
    done = {records.identity(record) for record in known}
    failed = {_subject(record): record["reason"] for record in known if record["status"] != "ok"}
    todo = [one for one in measurements if _identity(one) not in done]
    if len(todo) < len(measurements):
        print(f"{len(measurements) - len(todo)} of {len(measurements)} measurements are there (--fresh repeats them)")
    for configuration in dict.fromkeys(one.configuration for one in todo if one.configuration.is_orchard):
        print(f"Compiling for {configuration.name}", flush=True)
        if reason := measure.fill_cache(configuration):
            print(f"{configuration.name}: {reason}", file=sys.stderr, flush=True)
    for number, one in enumerate(todo, start=1):
        prefix = f"[{number}/{len(todo)}] {time.strftime('%H:%M:%S')} {one}: "
        subject = (one.dataset, one.configuration.name, one.threads, measure.edition(one.configuration))
        if subject in failed:
            print(f"{prefix}left out, it failed before ({failed[subject]})", flush=True)
            continue
        print(prefix, end="", flush=True)
        data.export(one.dataset, data.FILES_OF_ENGINE.get(one.configuration.engine, set()))
        started = time.monotonic()
        record = measure.measure(one.configuration, one.dataset, one.repetition, one.threads, one.again)
        record |= {"elapsed_s": time.monotonic() - started, "run": this_run}
        records.append(record)
        known.append(record)
        if record["status"] != "ok":
            failed[subject] = record["reason"]
        left = schedule.seconds_left(todo[number:], known)
        print(describe(record) + (f" · about {clock(left)} left" if left else ""), flush=True)


def describe(record: dict) -> str:
    if record["status"] != "ok":
        return f"FAILED, {record['reason']}"
    return (
        "train {train_s:.1f} s (CPU {train_cpu_s:.1f}) · batch {batch_ms:.3f} ms (CPU {batch_cpu_ms:.3f}) · "
        "single {single_median_ms:.2f}/{single_p99_ms:.2f} ms · P@1/3/5 {P@1:.1f}/{P@3:.1f}/{P@5:.1f} · "
        "{peak:.0f} MB, model {size:.1f} MB"
    ).format(**record, peak=record["train_peak_bytes"] / 1e6, size=record["model_bytes"] / 1e6)


def clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{round(seconds)} s" if seconds < 100 else f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def _identity(one: schedule.Measurement) -> tuple:
    record = {
        "dataset": one.dataset, "configuration": one.configuration.name, "repetition": one.repetition,
        "threads": one.threads, "edition": measure.edition(one.configuration), "again": one.again,
    }  # fmt: skip
    return records.identity(record)


def _subject(record: dict) -> tuple:
    return tuple(record[key] for key in ("dataset", "configuration", "threads", "edition"))


if __name__ == "__main__":
    sys.exit(main())
