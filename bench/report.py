"""The tables and the plots of the bench, from raw.jsonl."""

from bench import records

FOLDER = records.FOLDER


def write() -> None:
    raise NotImplementedError
