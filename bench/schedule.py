"""Which measurements there are, in which order, and how long the rest will take."""

from dataclasses import dataclass

from bench import settings
from bench.settings import CONFIGURATIONS, Configuration


@dataclass(frozen=True)
class Measurement:
    configuration: Configuration
    dataset: str
    repetition: int
    threads: int = settings.THREADS
    again: bool = False  # a second run of the same: its model must be the same to the byte

    def __str__(self):
        again = ", again" if self.again else ""
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.dataset} · {self.configuration.name} · repetition {self.repetition} · {threads}{again}"


def peers(datasets, engines, repeats) -> list[Measurement]:
    """Interleaved: repetition 1 of everything, then repetition 2; what drifts on the machine then hits all alike."""
    return [
        Measurement(configuration, dataset, repetition)
        for repetition in range(1, repeats + 1)
        for dataset in datasets
        for configuration in CONFIGURATIONS
        if configuration.engine in engines
        and (configuration.datasets is None or dataset in configuration.datasets)
        and repetition <= configuration.repeats(dataset, repeats)
    ]


def scaling(only, repeats) -> list[Measurement]:
    """Orchard with one thread and with two, a second run of the same, and the curve of cost against labels.

    What the peers' part measures already has the same identity, and is not measured twice.
    """
    measurements = []
    orchard = [configuration for configuration in CONFIGURATIONS if configuration.name in settings.SCALED]
    for repetition in range(1, repeats + 1):
        for dataset in settings.THREAD_DATASETS:
            for configuration in orchard:
                if repetition <= settings.ONE_THREAD_REPEATS[dataset]:
                    measurements += [Measurement(configuration, dataset, repetition, threads) for threads in (1, 2)]
                if repetition == 1:
                    measurements.append(Measurement(configuration, dataset, repetition, again=True))
        for dataset in settings.CURVE_DATASETS:
            if repetition <= settings.CURVE_REPEATS.get(dataset, repeats):
                measurements += [Measurement(configuration, dataset, repetition) for configuration in orchard]
    unique = dict.fromkeys(measurements)
    return [measurement for measurement in unique if only is None or measurement.dataset in only]


def seconds_left(remaining: list[Measurement], records: list[dict]) -> float | None:
    """The sum over what remains of how long the same took before; None while nothing is known."""
    known = {}
    for record in records:
        if "elapsed_s" in record:
            known.setdefault((record["dataset"], record["configuration"]), record["elapsed_s"])
    if not known:
        return None
    typical = sum(known.values()) / len(known)
    return sum(known.get((one.dataset, one.configuration.name), typical) for one in remaining)
