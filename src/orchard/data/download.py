"""One file over HTTP: resumed after a break, retried after a hiccup, verified before it gets its name."""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import requests
from tqdm import tqdm

from orchard.errors import FetchError
from orchard.files import read_json, sha256_of_file, write_json

Log = Callable[[str], None]

_TIMEOUT = (15, 60)  # seconds to connect, and between two arrivals of data
_ATTEMPTS = 4  # in a row without a new byte
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_CHUNK = 1 << 16  # the most that a broken connection takes with it
_WORTH_RETRYING = {408, 425, 429, 500, 502, 503, 504}


class _Hiccup(Exception):
    """A failure that the next attempt may not meet."""

    def __init__(self, reason: str, pause: float | None = None):
        super().__init__(reason)
        self.pause = pause


def download(
    url: str,
    target,
    log: Log,
    *,
    sha256: str | None = None,
    n_bytes: int | None = None,
    session: requests.Session | None = None,
) -> Path:
    """Fetch `url` to `target`, and return it; what arrives is kept in `<target>.part` until it is whole and verified.

    A `.part` left by a broken or killed run is continued if the server says that the file is still the same.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    shown = without_credentials(url)
    if target.is_file() and sha256 is not None and sha256_of_file(target) == sha256:
        return target
    partial = _Partial(target, url)
    most, failures = partial.size, 0
    with session or requests.Session() as client:
        while True:
            resumed_at = partial.size
            try:
                _receive(client, url, partial, n_bytes, log)
                problem = _mismatch(partial.path, sha256, n_bytes)
                if problem is None:
                    partial.path.replace(target)
                    partial.forget()
                    return target
                partial.forget()
                if not resumed_at:
                    raise FetchError(f"{shown}: {problem}")
                reason, pause = f"{problem}; starting again from the first byte", None
            except _Hiccup as hiccup:
                reason, pause = str(hiccup), hiccup.pause
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                reason, pause = _innermost(error), None
            except requests.exceptions.InvalidSchema as error:
                raise FetchError(
                    f"{shown}: led to an address that is not http(s), which is refused ({error})"
                ) from error
            except requests.RequestException as error:
                raise FetchError(f"{shown}: {_innermost(error)}") from error
            failures = 0 if partial.size > most else failures + 1
            most = max(most, partial.size)
            if failures >= _ATTEMPTS:
                raise FetchError(f"{shown}: {reason} (gave up after {_ATTEMPTS} attempts)")
            if pause is None:
                pause = _FIRST_PAUSE * 2 ** max(failures - 1, 0)
            pause = min(pause, _LONGEST_PAUSE)
            log(f"{target.name}: {reason}; trying again in {pause:g} s")
            time.sleep(pause)


class _Partial:
    """The bytes that arrived so far, and by what the server will recognise the file they belong to."""

    def __init__(self, target: Path, url: str):
        self.path = target.with_name(target.name + ".part")
        self._identity_path = target.with_name(target.name + ".part.json")
        self.url = without_credentials(url)
        try:
            self.identity = read_json(self._identity_path)
        except (OSError, ValueError):
            self.identity = {}
        if self.identity.get("url") != self.url:
            self.forget()

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def total(self) -> int | None:
        return self.identity.get("total")

    def remember(self, total: int | None, headers) -> None:
        etag = headers.get("ETag", "")
        validator = etag if etag.startswith('"') else headers.get("Last-Modified")  # a weak ETag cannot guard a range
        self.identity = {"url": self.url, "total": total, "validator": validator}
        write_json(self._identity_path, self.identity)

    def forget(self) -> None:
        self.identity = {}
        self.path.unlink(missing_ok=True)
        self._identity_path.unlink(missing_ok=True)


def _receive(client: requests.Session, url: str, partial: _Partial, n_bytes: int | None, log: Log) -> None:
    """One request: append what is missing to the part file, or raise."""
    start = partial.size
    if start and start == partial.total:
        return
    headers = {"Accept-Encoding": "identity"}  # the bytes as they are stored, so that sizes and digests mean something
    if start:
        headers["Range"] = f"bytes={start}-"
        if partial.identity.get("validator"):
            headers["If-Range"] = partial.identity["validator"]
    with client.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        if url.startswith("https:") and not response.url.startswith("https:"):
            raise FetchError(f"{without_credentials(url)}: led from https to plain http, which is refused")
        status = response.status_code
        if status in _WORTH_RETRYING:
            raise _Hiccup(f"the server answered {status} {response.reason}", _retry_after(response))
        if status == 416:
            partial.forget()
            raise _Hiccup("the server has no such range any more")
        if status not in (200, 206):
            raise FetchError(f"{without_credentials(url)}: the server answered {status} {response.reason}")
        if status == 206:
            match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
            if not match or int(match[1]) != start or int(match[2]) != partial.total:
                partial.forget()
                raise _Hiccup("the file on the server has changed")
            total = partial.total
        else:
            start = 0
            total = _content_length(response)
            if n_bytes is not None and total not in (None, n_bytes):
                raise FetchError(f"{without_credentials(url)}: expected {n_bytes} bytes, the server offers {total}")
            partial.remember(total, response.headers)
        with partial.path.open("ab" if start else "wb") as file, Progress(partial.path.stem, total, start, log) as seen:
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                seen.update(len(chunk))
    if total is not None and partial.size != total:
        raise _Hiccup(f"the connection ended after {partial.size} of {total} bytes")


def _content_length(response: requests.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None


def _retry_after(response: requests.Response) -> float | None:
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdigit() else None


def _mismatch(path: Path, sha256: str | None, n_bytes: int | None) -> str | None:
    """What is wrong with the file, or None; the size first, because it is cheap."""
    size = path.stat().st_size
    if n_bytes is not None and size != n_bytes:
        return f"expected {n_bytes} bytes, got {size}"
    if sha256 is not None and (got := sha256_of_file(path)) != sha256:
        return f"expected SHA-256 {sha256}, got {got}"
    return None


def _innermost(error: BaseException) -> str:
    """The plain cause at the bottom of the wrapping that HTTP libraries do."""
    while True:
        inner = error.args[-1] if error.args else None
        inner = getattr(inner, "reason", inner)
        if not isinstance(inner, BaseException) or inner is error:
            return re.sub(r"<[^>]*>: ?", "", f"{type(error).__name__}: {error}")  # no addresses of Python objects
        error = inner


def without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class Progress:
    """A bar on a terminal; in a log file a line now and then."""

    _LOG_SECONDS = 5.0

    def __init__(self, name: str, total: int | None, start: int, log: Log):
        self.name, self.total, self.log = name, total, log
        self.done, self.logged_at = start, time.monotonic()
        # disable=None lets tqdm be silent by itself where stderr is no terminal.
        options = {"unit": "B", "unit_scale": True, "disable": None, "leave": False}
        self.bar = tqdm(total=total, initial=start, desc=name, file=sys.stderr, **options)

    def update(self, n_bytes: int) -> None:
        self.done += n_bytes
        self.bar.update(n_bytes)
        if self.bar.disable and time.monotonic() - self.logged_at > self._LOG_SECONDS:
            self.logged_at = time.monotonic()
            share = f" of {self.total / 1e6:.0f} MB ({self.done / self.total:.0%})" if self.total else " MB"
            self.log(f"{self.name}: {self.done / 1e6:.0f}{share}")

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        self.bar.close()
