"""From measurements to figures: medians, which peers are comparable, ratios, differences, fits. It measures nothing."""

import math
import statistics
from dataclasses import dataclass

from bench import settings
from bench.settings import CONFIGURATIONS, PRECISIONS, QUANTITIES, Configuration, Quantity


@dataclass(frozen=True)
class Figure:
    """A quantity over its repetitions."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Half of the range, as a share of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


@dataclass(frozen=True)
class Summary:
    """One configuration on one data set. Where `reason` is given it failed, and there are no figures."""

    dataset: str
    configuration: Configuration
    threads: int
    n: int
    figures: dict[str, Figure]
    precision: dict[str, float]  # per cent, mean over the repetitions, which differ in their seeds
    digests: dict[int, tuple[str, ...]]  # of the saved models, by repetition
    reason: str | None = None
    runs: frozenset[str] = frozenset()  # the runs of `make bench` that its measurements come from
    load_average: float = 0.0  # the largest at the start of a measurement

    @property
    def ok(self) -> bool:
        return self.reason is None

    @property
    def mean_precision(self) -> float:
        return statistics.fmean(self.precision.values())


def choose_editions(records: list[dict], current: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """{configuration: the edition to show}, and the configurations of which only an older engine was measured.

    Peers are shown in their current edition only. Orchard, which is edited all the time, is shown in the last one that
    was measured with the current settings where there is none of today's, and the tables say so.
    """
    chosen, older = dict(current), []
    for configuration in CONFIGURATIONS:
        name = configuration.name
        found = [record["edition"] for record in records if record["configuration"] == name]
        settings_part = current[name].rpartition("/")[2]
        found = [edition for edition in found if edition.rpartition("/")[2] == settings_part]
        if configuration.is_orchard and found and current[name] not in found:
            chosen[name] = found[-1]
            older.append(name)
    return chosen, older


def summarise(records: list[dict], editions: dict[str, str]) -> list[Summary]:
    """Group the measurements of the current editions, in the order of the configurations."""
    datasets = list(dict.fromkeys([*settings.PEER_DATASETS, *settings.CURVE_DATASETS]))
    groups = {}
    for record in records:
        if record["dataset"] in datasets and editions.get(record["configuration"]) == record["edition"]:
            groups.setdefault((record["dataset"], record["configuration"], record["threads"]), []).append(record)
    order = {configuration.name: number for number, configuration in enumerate(CONFIGURATIONS)}
    keys = sorted(groups, key=lambda key: (datasets.index(key[0]), order[key[1]], key[2]))
    return [_summary(*key, groups[key]) for key in keys]


def _summary(dataset, name, threads, records):
    configuration = next(one for one in CONFIGURATIONS if one.name == name)
    good = [record for record in records if record["status"] == "ok" and not record["again"]]
    if not good:
        return Summary(dataset, configuration, threads, 0, {}, {}, {}, records[0].get("reason", "not measured"))
    keys = [quantity.key for quantity in QUANTITIES] + ["read_s", "load_s", "save_s", "memory_before_bytes"]
    figures = {key: _figure([record[key] for record in good]) for key in keys}
    precision = {key: statistics.fmean(record[key] for record in good) for key in PRECISIONS}
    digests = {}
    for record in records:
        if record["status"] == "ok":
            digests[record["repetition"]] = (*digests.get(record["repetition"], ()), record["model_sha256"])
    runs = frozenset(record.get("run", "an unknown run") for record in good)
    load_average = max(record["load_average"] for record in good)
    return Summary(
        dataset, configuration, threads, len(good), figures, precision, digests, runs=runs, load_average=load_average
    )


def _figure(values):
    return Figure(statistics.median(values), min(values), max(values))


# ---- Orchard and its peers ----


def rivals(summary: Summary, summaries: list[Summary]) -> list[Summary]:
    """The peers that were measured on the same data set with as many trees, whatever their arity."""
    n_trees = summary.configuration.settings.get("n_trees", 1)
    return [
        one
        for one in summaries
        if one.ok
        and not one.configuration.is_orchard
        and (one.dataset, one.threads) == (summary.dataset, summary.threads)
        and one.configuration.settings.get("n_trees", 1) == n_trees
    ]


def comparable(peers: list[Summary]) -> list[Summary]:
    """Those whose mean P@1/3/5 is at most COMPARABLE_POINTS below that of the most accurate among them."""
    if not peers:
        return []
    best = max(peer.mean_precision for peer in peers)
    return [peer for peer in peers if peer.mean_precision >= best - settings.COMPARABLE_POINTS]


@dataclass(frozen=True)
class Ratio:
    """Orchard's median over the best comparable peer's, for one quantity."""

    orchard: Summary
    quantity: Quantity
    peer: Summary

    @property
    def value(self) -> float:
        return self.orchard.figures[self.quantity.key].median / self.peer.figures[self.quantity.key].median

    @property
    def met(self) -> bool | None:
        return None if self.quantity.bar is None else self.value <= self.quantity.bar


def ratios(summaries: list[Summary]) -> list[Ratio]:
    """For every configuration of Orchard and every quantity, against the peer that is best in that quantity."""
    found = []
    for summary in summaries:
        peers = comparable(rivals(summary, summaries)) if summary.configuration.is_orchard and summary.ok else []
        if peers:
            for quantity in QUANTITIES:
                best = min(peers, key=lambda peer, key=quantity.key: peer.figures[key].median)
                found.append(Ratio(summary, quantity, best))
    return found


@dataclass(frozen=True)
class Difference:
    """Orchard's P@1/3/5 minus those of a peer with the same settings, or of a publication, in points."""

    orchard: Summary
    other: str
    points: tuple[float, ...]
    bar: float

    @property
    def verdict(self) -> str:
        """A precision above the bar is no failure of the engine, but it has to be explained as well."""
        if min(self.points) < -self.bar:
            return "below"
        return "above" if max(self.points) > self.bar else "within"


def differences(summaries: list[Summary]) -> list[Difference]:
    found = []
    for summary in summaries:
        if not summary.configuration.is_orchard or not summary.ok:
            continue
        family = summary.configuration.family
        own = [summary.precision[key] for key in PRECISIONS]
        for peer in rivals(summary, summaries):
            if peer.configuration.family == family:
                points = tuple(a - peer.precision[key] for a, key in zip(own, PRECISIONS, strict=True))
                found.append(Difference(summary, peer.configuration.title, points, settings.PRECISION_BAR))
        if published := settings.PUBLISHED.get((summary.dataset, family)):
            points = tuple(a - b for a, b in zip(own, published, strict=True))
            found.append(Difference(summary, "published", points, settings.PUBLISHED_BAR))
    return found


def measured_apart(summaries: list[Summary]) -> list[str]:
    """The data sets on which Orchard and its peers come from different runs: nothing was interleaved there."""
    sides = {}
    for one in summaries:
        if one.ok:
            sides.setdefault(one.dataset, {}).setdefault(one.configuration.is_orchard, set()).update(one.runs)
    return [dataset for dataset, runs in sides.items() if len(runs) == 2 and runs[True] != runs[False]]


# ---- Scaling ----


def same_models(*summaries: Summary) -> tuple[int, bool]:
    """How many models were saved, and whether those of the same seed are the same to the byte."""
    digests = {}
    for summary in summaries:
        for repetition, found in summary.digests.items():
            digests.setdefault(repetition, []).extend(found)
    return sum(map(len, digests.values())), all(len(set(found)) == 1 for found in digests.values())


def curve(summaries: list[Summary]) -> dict[str, list[Summary]]:
    """{configuration: its points on the curve of cost against labels}, for those with at least two points."""
    points = {}
    for summary in summaries:
        is_point = summary.dataset in settings.CURVE_DATASETS and summary.threads == settings.THREADS and summary.ok
        if is_point and summary.configuration.name in settings.SCALED:
            points.setdefault(summary.configuration.name, []).append(summary)
    for found in points.values():
        found.sort(key=lambda one: settings.CURVE_DATASETS[one.dataset])
    return {name: found for name, found in points.items() if len(found) >= 2}


def fit_exponent(labels: list[float], costs: list[float]) -> float:
    """The slope of log cost over log L: 1 is linear; L log L is a little above it."""
    x, y = [math.log(value) for value in labels], [math.log(value) for value in costs]
    return statistics.linear_regression(x, y).slope


def fit_l_log_l(labels: list[float], costs: list[float]) -> tuple[float, float]:
    """The factor a of cost = a · L · log2 L (least squares in the logarithm), and the largest ratio of cost to it."""
    shares = [math.log(cost / l_log_l(n)) for n, cost in zip(labels, costs, strict=True)]
    factor = statistics.fmean(shares)
    return math.exp(factor), math.exp(max(abs(share - factor) for share in shares))


def l_log_l(n_labels: float) -> float:
    return n_labels * math.log2(n_labels)
