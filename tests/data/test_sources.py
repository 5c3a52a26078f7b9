"""Fetching: from every kind of source, through every kind of trouble, and never a wrong or half a file."""

import gzip
import hashlib
import io
import json
import random
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import requests
import scipy.sparse as sp
import yaml

from orchard.data import download as download_module
from orchard.data.download import download
from orchard.data.registry import own_editions
from orchard.data.sources import fetch
from orchard.errors import ConfigError, FetchError
from orchard.files import read_json

CONFIG = Path(__file__).parents[2] / "config"
RAW = random.Random(0).randbytes(300_000)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Server:
    """Files on loopback; `script` makes the next answers go wrong, one entry per request, None for a good one."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.script: list[str | int | None] = []
        self.requests: list[tuple[str, str | None]] = []  # path, Range
        self.redirects: dict[str, str] = {}
        self.etags = True
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def starts(self):
        return [int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0 for _, wanted in self.requests]

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def answer(self, request):
        wanted = request.headers.get("Range")
        self.requests.append((request.path, wanted))
        trouble = self.script.pop(0) if self.script else None
        if request.path in self.redirects:
            request.send_response(302)
            request.send_header("Location", self.redirects[request.path])
            request.end_headers()
            return
        if isinstance(trouble, str) and trouble.startswith("come back in "):
            request.send_response(503)
            request.send_header("Retry-After", trouble.removeprefix("come back in "))
            request.end_headers()
            return
        body = self.files.get(request.path)
        if isinstance(trouble, int) or body is None:
            request.send_error(trouble if isinstance(trouble, int) else 404)
            return
        etag = f'"{digest(body)[:8]}"'
        start = self.starts()[-1] if trouble != "ignore range" else 0
        if self.etags and request.headers.get("If-Range", etag) != etag:
            start = 0
        if start >= len(body):
            request.send_error(416)
            return
        request.send_response(206 if start else 200)
        if self.etags:
            request.send_header("ETag", etag)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        extra = 1000 if trouble == "lie about length" else 0
        request.send_header("Content-Length", str(len(body) - start + extra))
        request.end_headers()
        end = (start + len(body)) // 2 if trouble == "drop" else len(body)
        request.wfile.write(body[start:end])
        request.close_connection = True


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def calm_surroundings(monkeypatch):
    """No pauses between attempts, no settings of the machine, no proxy between us and loopback."""
    pauses = []
    monkeypatch.setattr(download_module.time, "sleep", pauses.append)
    monkeypatch.delenv("ORCHARD_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return pauses


def one_file(url, **facts):
    return {"files": {"train.txt": facts}, "sources": [{"kind": "http", "url": url, "file": "train.txt"}]}


def left_in(folder):
    """Without the second copy of the record, which is hidden."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".source.json")


# --- http ------------------------------------------------------------------------------------------------------------


def test_a_file_comes_whole_with_its_record(server, tmp_path):
    server.files["/f"] = RAW
    lines = []
    folder = fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny", log=lines.append)
    assert left_in(folder) == ["source.json", "train.txt"]
    assert (folder / "train.txt").read_bytes() == RAW
    record = read_json(folder / "source.json")
    assert record["dataset"] == "tiny"
    assert record["source"] == {"kind": "http", "url": f"{server.url}/f", "file": "train.txt"}
    assert record["files"] == {"train.txt": {"sha256": digest(RAW), "bytes": len(RAW)}}
    assert left_in(tmp_path) == ["tiny"]
    assert lines == ["tiny: trying http 127.0.0.1", "tiny: fetched from http 127.0.0.1"]


def test_a_complete_folder_is_not_fetched_again(server, tmp_path):
    server.files["/f"] = RAW
    config = one_file(f"{server.url}/f")
    fetch("tiny", config, tmp_path / "tiny")
    fetch("tiny", config, tmp_path / "tiny")
    assert len(server.requests) == 1
    (tmp_path / "tiny" / "train.txt").write_bytes(b"short")
    fetch("tiny", config, tmp_path / "tiny")
    assert len(server.requests) == 2
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == RAW


def test_files_that_are_there_survive_the_loss_of_the_declared_record(server, tmp_path):
    """A workflow engine deletes its declared outputs before it runs a step again; no reason to download again."""
    server.files["/f"] = RAW
    config = one_file(f"{server.url}/f")
    folder = fetch("tiny", config, tmp_path / "tiny")
    record = (folder / "source.json").read_bytes()
    (folder / "source.json").unlink()
    fetch("tiny", config, tmp_path / "tiny")
    assert len(server.requests) == 1
    assert (folder / "source.json").read_bytes() == record


def test_an_edited_file_of_the_users_own_is_copied_again(tmp_path, monkeypatch):
    """But it is not gone because ORCHARD_DATA is not set in the next shell."""
    original = tmp_path / "mine" / "tiny" / "train.txt"
    original.parent.mkdir(parents=True)
    original.write_bytes(RAW)
    config = {"files": {"train.txt": {}}}
    monkeypatch.setenv("ORCHARD_DATA", str(tmp_path / "mine"))
    first = own_editions("tiny", config, tmp_path / "tiny")
    fetch("tiny", config, tmp_path / "tiny")
    assert own_editions("tiny", config, tmp_path / "tiny") == first
    original.write_bytes(b"edited")
    assert own_editions("tiny", config, tmp_path / "tiny") != first
    folder = fetch("tiny", config, tmp_path / "tiny")
    assert (folder / "train.txt").read_bytes() == b"edited"
    second = own_editions("tiny", config, tmp_path / "tiny")
    monkeypatch.delenv("ORCHARD_DATA")
    assert own_editions("tiny", config, tmp_path / "tiny") == second
    assert fetch("tiny", config, tmp_path / "tiny") == folder


def test_a_file_with_a_registered_digest_has_no_editions(tmp_path, monkeypatch):
    (tmp_path / "mine" / "tiny").mkdir(parents=True)
    (tmp_path / "mine" / "tiny" / "train.txt").write_bytes(RAW)
    monkeypatch.setenv("ORCHARD_DATA", str(tmp_path / "mine"))
    assert own_editions("tiny", {"files": {"train.txt": {"sha256": digest(RAW)}}}, tmp_path / "tiny") == {}


def test_a_folder_without_its_record_is_replaced(server, tmp_path):
    server.files["/f"] = RAW
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "leftover").write_bytes(b"x")
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert left_in(tmp_path / "tiny") == ["source.json", "train.txt"]


@pytest.mark.parametrize("etags", [True, False])
def test_a_dropped_connection_is_resumed(server, tmp_path, etags):
    """By ETag where there is one, by the total size where there is none."""
    server.files["/f"], server.script, server.etags = RAW, ["drop", "drop"], etags
    folder = fetch("tiny", one_file(f"{server.url}/f", sha256=digest(RAW)), tmp_path / "tiny")
    assert (folder / "train.txt").read_bytes() == RAW
    first, second, third = server.starts()
    assert first == 0 < second < third


def test_the_next_run_resumes_what_a_failed_one_left(server, tmp_path):
    server.files["/f"], server.script = RAW, ["drop", 404]
    config = one_file(f"{server.url}/f", sha256=digest(RAW))
    with pytest.raises(FetchError):
        fetch("tiny", config, tmp_path / "tiny")
    assert left_in(tmp_path) == ["tiny.partial"]
    assert left_in(tmp_path / "tiny.partial") == ["train.txt.part", "train.txt.part.json"]
    fetch("tiny", config, tmp_path / "tiny")
    assert server.starts()[-1] > 0
    assert left_in(tmp_path) == ["tiny"]


@pytest.mark.parametrize("etags", [True, False])
def test_a_file_that_changed_on_the_server_is_not_spliced(server, tmp_path, etags):
    server.files["/f"], server.script, server.etags = RAW, ["drop", 404], etags
    with pytest.raises(FetchError):
        fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    server.files["/f"] = changed = RAW[::-1] + b"more"
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == changed


def test_a_splice_that_no_header_betrays_is_found_by_the_digest(server, tmp_path):
    """Same size, no ETag: the digest fails after the resume, and a fresh download puts it right."""
    server.files["/f"], server.script, server.etags = RAW, ["drop", 404], False
    changed = RAW[::-1]
    config = one_file(f"{server.url}/f") | {"files": {"train.txt": {"sha256": digest(changed)}}}
    config["sources"][0]["sha256"] = digest(changed)
    with pytest.raises(FetchError):
        fetch("tiny", config, tmp_path / "tiny")
    server.files["/f"] = changed
    fetch("tiny", config, tmp_path / "tiny")
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == changed


def test_a_part_of_another_address_is_not_continued(server, tmp_path):
    server.files |= {"/f": RAW, "/g": RAW[::-1]}
    server.script = ["drop", 404]
    with pytest.raises(FetchError):
        fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    fetch("tiny", one_file(f"{server.url}/g"), tmp_path / "tiny")
    assert server.requests[-1] == ("/g", None)
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == RAW[::-1]


def test_a_server_that_ignores_ranges_is_read_from_the_start(server, tmp_path):
    server.files["/f"], server.script = RAW, ["drop", "ignore range"]
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == RAW


def test_a_part_that_is_already_whole_needs_no_request(server, tmp_path):
    """Killed between the last byte and the renaming."""
    part = tmp_path / "tiny.partial" / "train.txt.part"
    part.parent.mkdir()
    part.write_bytes(RAW)
    identity = {"url": f"{server.url}/f", "total": len(RAW), "validator": None}
    part.with_name("train.txt.part.json").write_text(json.dumps(identity))
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert server.requests == []


def test_a_part_longer_than_the_file_is_thrown_away(server, tmp_path):
    part = tmp_path / "tiny.partial" / "train.txt.part"
    part.parent.mkdir()
    part.write_bytes(RAW + RAW)
    identity = {"url": f"{server.url}/f", "total": len(RAW), "validator": None}
    part.with_name("train.txt.part.json").write_text(json.dumps(identity))
    server.files["/f"] = RAW
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == RAW


def test_progress_is_logged_where_there_is_no_terminal(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download_module.Progress, "_LOG_SECONDS", -1)
    server.files["/f"] = RAW * 10
    lines = []
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny", log=lines.append)
    assert lines[-2] == "train.txt: 3 of 3 MB (100%)"


def test_a_server_that_says_when_to_come_back_is_obeyed_within_reason(server, tmp_path, calm_surroundings):
    server.files["/f"], server.script = RAW, ["come back in 30", "come back in 86400"]
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert calm_surroundings == [30, 60]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_with_growing_pauses(server, tmp_path, calm_surroundings, status):
    server.files["/f"], server.script = RAW, [status, status, status]
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert calm_surroundings == [1, 2, 4]


def test_a_server_that_lies_about_the_length_is_given_up(server, tmp_path):
    server.files["/f"], server.script = RAW, ["lie about length"] * 20
    with pytest.raises(FetchError, match="gave up after 4 attempts"):
        fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert not (tmp_path / "tiny").exists()


def test_a_missing_file_is_not_asked_for_twice(server, tmp_path):
    with pytest.raises(FetchError, match="404 Not Found"):
        fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert len(server.requests) == 1


def test_a_dead_server_is_a_reason_not_a_traceback(server, tmp_path):
    server.close()
    with pytest.raises(FetchError, match="Connection refused"):
        fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")


def test_a_wrong_file_is_refused_with_both_digests(server, tmp_path):
    server.files["/f"] = RAW
    with pytest.raises(FetchError, match=f"train.txt: expected SHA-256 {'0' * 64}, got {digest(RAW)}"):
        fetch("tiny", one_file(f"{server.url}/f", sha256="0" * 64), tmp_path / "tiny")
    with pytest.raises(FetchError, match=r"train\.txt: expected 7 bytes, got 300000"):
        fetch("tiny", one_file(f"{server.url}/f", bytes=7), tmp_path / "tiny")
    assert not (tmp_path / "tiny").exists()
    assert left_in(tmp_path / "tiny.partial") == []


def test_a_file_of_the_wrong_size_is_not_even_downloaded(server, tmp_path):
    server.files["/f"] = RAW
    config = one_file(f"{server.url}/f")
    config["sources"][0]["bytes"] = 7
    with pytest.raises(FetchError, match="expected 7 bytes, the server offers 300000"):
        fetch("tiny", config, tmp_path / "tiny")


def test_a_redirect_is_followed_to_http_only(server, tmp_path):
    server.files["/f"] = RAW
    server.redirects = {"/good": "/f", "/bad": "file:///etc/passwd"}
    with pytest.raises(FetchError, match=r"not http\(s\), which is refused"):
        fetch("tiny", one_file(f"{server.url}/bad"), tmp_path / "tiny")
    fetch("tiny", one_file(f"{server.url}/good"), tmp_path / "tiny")


def test_files_at_addresses_of_their_own_are_decompressed_when_named_so(server, tmp_path):
    server.files |= {"/x.gz": gzip.compress(RAW), "/y.gz": gzip.compress(b"y")}
    urls = {"x": f"{server.url}/x.gz", "y.gz": f"{server.url}/y.gz"}
    config = {"files": {"x": {"sha256": digest(RAW)}, "y.gz": {}}, "sources": [{"kind": "http", "urls": urls}]}
    folder = fetch("tiny", config, tmp_path / "tiny")
    assert (folder / "x").read_bytes() == RAW
    assert gzip.decompress((folder / "y.gz").read_bytes()) == b"y"


# --- an archive, end to end ------------------------------------------------------------------------------------------


def pecos_archive(with_text: bool) -> bytes:
    """A tar.gz laid out as the PECOS data sets are."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:

        def add(name, data):
            entry = tarfile.TarInfo(f"xmc-base/wiki10-31k/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))

        for split, n_rows in (("trn", 5), ("tst", 3)):
            for name, n_columns in (("tfidf-attnxml/X", 7), ("Y", 4)):
                matrix = io.BytesIO()
                sp.save_npz(matrix, sp.csr_matrix(np.eye(n_rows, n_columns, dtype=np.float32)))
                add(f"{name}.{split}.npz", matrix.getvalue())
            if with_text:
                add(f"X.{split}.txt", b"some words\n" * n_rows)
    return buffer.getvalue()


@pytest.mark.parametrize("with_text", [True, False])
def test_a_pecos_archive_is_fetched_through_a_drop(server, tmp_path, with_text):
    """The registered data set itself, only its host replaced; what is optional may be lacking."""
    config = yaml.safe_load((CONFIG / "datasets" / "wiki10-31k.yaml").read_text())
    config["sources"][0]["url"] = f"{server.url}/wiki10-31k.tar.gz"
    server.files["/wiki10-31k.tar.gz"], server.script = pecos_archive(with_text), ["drop"]
    folder = fetch("wiki10-31k", config, tmp_path / "wiki10-31k")
    matrices = ["X.trn.npz", "X.tst.npz", "Y.trn.npz", "Y.tst.npz"]
    texts = ["X.trn.txt", "X.tst.txt"] if with_text else []
    assert left_in(folder) == sorted([*matrices, *texts, "source.json"])
    assert sp.load_npz(folder / "Y.tst.npz").shape == (3, 4)
    assert left_in(tmp_path) == ["wiki10-31k"]


def test_a_web_page_in_place_of_an_archive_is_fetched_anew_next_time(server, tmp_path):
    source = {"kind": "http", "url": f"{server.url}/a.tar.gz", "members": {"x": "x"}}
    config = {"files": {"x": {}}, "sources": [source]}
    server.files["/a.tar.gz"] = b"<html>quota exceeded"
    with pytest.raises(FetchError, match="<html>quota exceeded"):
        fetch("tiny", config, tmp_path / "tiny")
    server.files["/a.tar.gz"] = gzip.compress(RAW)
    fetch("tiny", config, tmp_path / "tiny")
    assert (tmp_path / "tiny" / "x").read_bytes() == RAW


# --- ORCHARD_DATA ----------------------------------------------------------------------------------------------------


def test_a_local_folder_comes_first(server, tmp_path, monkeypatch):
    (tmp_path / "mine" / "tiny").mkdir(parents=True)
    (tmp_path / "mine" / "tiny" / "train.txt").write_bytes(RAW)
    monkeypatch.setenv("ORCHARD_DATA", str(tmp_path / "mine"))
    folder = fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    assert (folder / "train.txt").read_bytes() == RAW
    assert read_json(folder / "source.json")["source"] == {"kind": "folder"}
    assert str(tmp_path) not in (folder / "source.json").read_text()
    assert server.requests == []


def test_what_was_verified_does_not_change_with_the_original(tmp_path, monkeypatch):
    """A link to the user's own file would let an edit in under the recorded digest."""
    original = tmp_path / "mine" / "tiny" / "train.txt"
    original.parent.mkdir(parents=True)
    original.write_bytes(RAW)
    monkeypatch.setenv("ORCHARD_DATA", str(tmp_path / "mine"))
    folder = fetch("tiny", {"files": {"train.txt": {}}}, tmp_path / "tiny")
    with original.open("ab") as file:
        file.write(b"more")
    assert (folder / "train.txt").read_bytes() == RAW


def test_a_redirect_from_https_to_http_is_refused(tmp_path):
    """A session that answers as a server would which sends people from https to http."""

    class Session(requests.Session):
        def get(self, url, **_):
            response = requests.Response()
            response.status_code, response.url, response.raw = 200, "http://127.0.0.1/f", io.BytesIO(RAW)
            return response

    with pytest.raises(FetchError, match="led from https to plain http"):
        download("https://127.0.0.1/f", tmp_path / "f", print, session=Session())
    assert left_in(tmp_path) == []


def test_a_whole_file_without_a_digest_is_not_trusted(server, tmp_path):
    """It may be another address's, or an older one."""
    (tmp_path / "f").write_bytes(b"something else")
    server.files["/f"] = RAW
    download(f"{server.url}/f", tmp_path / "f", print)
    assert (tmp_path / "f").read_bytes() == RAW


@pytest.mark.parametrize("content", [None, b"wrong"])
def test_a_local_folder_that_lacks_a_file_or_has_a_wrong_one_is_passed_over(server, tmp_path, monkeypatch, content):
    (tmp_path / "mine" / "tiny").mkdir(parents=True)
    if content:
        (tmp_path / "mine" / "tiny" / "train.txt").write_bytes(content)
    monkeypatch.setenv("ORCHARD_DATA", str(tmp_path / "mine"))
    server.files["/f"] = RAW
    folder = fetch("tiny", one_file(f"{server.url}/f", sha256=digest(RAW)), tmp_path / "tiny")
    assert (folder / "train.txt").read_bytes() == RAW
    if content:
        assert (tmp_path / "mine" / "tiny" / "train.txt").read_bytes() == content


def test_a_mirror_has_the_layout_of_the_folder(server, tmp_path, monkeypatch):
    server.files["/mirror/tiny/train.txt"] = RAW
    monkeypatch.setenv("ORCHARD_DATA", f"{server.url}/mirror/")
    config = {"files": {"train.txt": {"sha256": digest(RAW)}, "names.txt": {"optional": True}}}
    folder = fetch("tiny", config, tmp_path / "tiny")
    assert left_in(folder) == ["source.json", "train.txt"]
    assert read_json(folder / "source.json")["source"] == {"kind": "mirror"}


# --- package registries ----------------------------------------------------------------------------------------------


def install(folder, name, *lines):
    """A pretended program, in Python."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("\n".join([f"#!{sys.executable}", "import sys, pathlib", *lines]))
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder that is all of PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def tar_of(**members) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in members.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


NPM = {
    "files": {"x": {"sha256": digest(RAW)}},
    "sources": [{"kind": "npm", "package": "@some/data", "version": "1.2.3", "members": {"x": "package/x"}}],
}
DEBIAN = {
    "files": {"x": {"sha256": digest(RAW)}},
    "sources": [{"kind": "debian", "package": "dataset-x", "version": "0.1~git-1", "members": {"x": "package/x"}}],
}


def test_npm_packs_the_pinned_version(tmp_path, programs):
    (tmp_path / "packed").write_bytes(tar_of(x=RAW))
    copy = f"pathlib.Path('some-data-1.2.3.tgz').write_bytes(pathlib.Path({str(tmp_path / 'packed')!r}).read_bytes())"
    install(programs, "npm", "assert sys.argv[1:] == ['pack', '--ignore-scripts', '@some/data@1.2.3'], sys.argv", copy)
    folder = fetch("tiny", NPM, tmp_path / "tiny")
    assert (folder / "x").read_bytes() == RAW
    assert read_json(folder / "source.json")["source"] == {"kind": "npm", "package": "@some/data", "version": "1.2.3"}
    assert left_in(tmp_path) == ["bin", "packed", "tiny"]


def test_apt_downloads_the_pinned_version_and_dpkg_unpacks_it(tmp_path, programs):
    (tmp_path / "tar").write_bytes(gzip.decompress(tar_of(x=RAW)))
    install(
        programs,
        "apt-get",
        "assert sys.argv[1:] == ['download', 'dataset-x=0.1~git-1'], sys.argv",
        "pathlib.Path('dataset-x.deb').write_bytes(b'!<arch>\\ndebian-binary   ')",
    )
    dump = f"sys.stdout.buffer.write(pathlib.Path({str(tmp_path / 'tar')!r}).read_bytes())"
    install(programs, "dpkg-deb", "assert sys.argv[1] == '--fsys-tarfile'", dump)
    assert (fetch("tiny", DEBIAN, tmp_path / "tiny") / "x").read_bytes() == RAW


def test_a_client_that_is_not_installed_or_fails_is_a_reason(tmp_path, programs):
    with pytest.raises(FetchError, match=r"npm @some/data 1\.2\.3: the program npm is not installed"):
        fetch("tiny", NPM, tmp_path / "tiny")
    with pytest.raises(FetchError, match="the program dpkg-deb is not installed"):
        fetch("tiny", DEBIAN, tmp_path / "tiny")
    install(programs, "npm", "sys.exit('E404 no such version')")
    with pytest.raises(FetchError, match="npm failed: E404 no such version"):
        fetch("tiny", NPM, tmp_path / "tiny")
    install(programs, "npm", "")
    with pytest.raises(FetchError, match=r"left 0 files \*\.tgz"):
        fetch("tiny", NPM, tmp_path / "tiny")


def pypi_config(archive: bytes) -> dict:
    source = {"kind": "pypi", "project": "some-data", "version": "1.0", "filename": "some_data-1.0.tar.gz"}
    return {
        "files": {"x": {"sha256": digest(RAW)}},
        "sources": [source | {"sha256": digest(archive), "members": {"x": "package/x"}}],
    }


def test_pypi_is_asked_at_the_index_that_pip_uses(server, tmp_path, monkeypatch):
    archive = tar_of(x=RAW)
    link = f'<a href="../../files/some_data-1.0.tar.gz#sha256={digest(archive)}">some_data-1.0.tar.gz</a>'
    server.files |= {"/simple/some-data/": link.encode(), "/files/some_data-1.0.tar.gz": archive}
    monkeypatch.setattr(BaseHTTPRequestHandler, "end_headers", _as_html(BaseHTTPRequestHandler.end_headers))
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple/")
    server.script = [None, "drop"]
    folder = fetch("tiny", pypi_config(archive), tmp_path / "tiny")
    assert (folder / "x").read_bytes() == RAW
    assert [path for path, _ in server.requests] == ["/simple/some-data/", *["/files/some_data-1.0.tar.gz"] * 2]

    server.files["/simple/some-data/"] = b"<html></html>"
    with pytest.raises(FetchError, match=r"the package index has no file some_data-1\.0\.tar\.gz"):
        fetch("tiny", pypi_config(archive), tmp_path / "again")
    del server.files["/simple/some-data/"]
    with pytest.raises(FetchError, match="the package index does not answer for some-data"):
        fetch("tiny", pypi_config(archive), tmp_path / "again")


def _as_html(end_headers):
    """Package indices must say that their pages are HTML."""

    def wrapped(self):
        if self.path.startswith("/simple/"):
            self.send_header("Content-Type", "text/html")
        end_headers(self)

    return wrapped


# --- when nothing works ----------------------------------------------------------------------------------------------


def test_the_last_error_lists_every_source_and_the_way_out(server, tmp_path, monkeypatch):
    monkeypatch.setenv("ORCHARD_DATA", str(tmp_path / "nowhere"))
    config = one_file(f"{server.url}/f", sha256="0" * 64)
    config["files"]["names.txt"] = {"optional": True}
    config["sources"].append({"kind": "http", "url": f"{server.url}/g", "file": "train.txt"})
    config |= {"homepage": "http://home.example", "by_hand": "Ask the author.\n"}
    with pytest.raises(FetchError) as caught:
        fetch("tiny", config, tmp_path / "tiny")
    lines = str(caught.value).splitlines()
    assert lines[0] == "tiny: no source could deliver this data set"
    assert lines[1] == f"  1. ORCHARD_DATA ({tmp_path / 'nowhere' / 'tiny'}): no such folder"
    assert lines[2] == f"  2. http 127.0.0.1: {server.url}/f: the server answered 404 Not Found"
    assert lines[3] == f"  3. http 127.0.0.1: {server.url}/g: the server answered 404 Not Found"
    assert lines[4].endswith("set ORCHARD_DATA=/your/folder and put these files into $ORCHARD_DATA/tiny/:")
    assert lines[5:7] == [f"  train.txt (SHA-256 {'0' * 64})", "  names.txt (optional)"]
    assert lines[7:9] == ["Ask the author.", "Homepage: http://home.example"]
    assert "make reproduce-all SCALE=smoke" in lines[-1]


def test_a_later_source_serves_where_an_earlier_one_fails(server, tmp_path):
    server.files["/good"] = RAW
    config = one_file(f"{server.url}/bad", sha256=digest(RAW))
    config["sources"].append({"kind": "http", "url": f"{server.url}/good", "file": "train.txt"})
    folder = fetch("tiny", config, tmp_path / "tiny")
    assert read_json(folder / "source.json")["source"]["url"] == f"{server.url}/good"


def test_an_old_folder_survives_a_failed_fetch(server, tmp_path):
    server.files["/f"] = RAW
    fetch("tiny", one_file(f"{server.url}/f"), tmp_path / "tiny")
    with pytest.raises(FetchError):
        fetch("tiny", one_file(f"{server.url}/gone", sha256="0" * 64), tmp_path / "tiny")
    assert (tmp_path / "tiny" / "train.txt").read_bytes() == RAW


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", "source.json", ""])
def test_a_file_name_that_escapes_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="not a plain file name"):
        fetch("tiny", {"files": {name: {}}}, tmp_path / "tiny")


def test_a_configuration_that_contradicts_itself_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"sources\[0\]: '\.\./x' does not stand under files"):
        source = {"kind": "http", "url": "http://127.0.0.1/", "file": "../x"}
        fetch("tiny", {"files": {"x": {}}, "sources": [source]}, tmp_path / "tiny")
    with pytest.raises(ConfigError, match="nothing to fetch"):
        fetch("tiny", {"files": {}}, tmp_path / "tiny")
    with pytest.raises(ConfigError, match="data set's id"):
        fetch("../tiny", {"files": {"x": {}}}, tmp_path / "tiny")


def test_credentials_in_an_address_are_not_shown(server, tmp_path):
    url = server.url.replace("http://", "http://me:secret@")
    lines = []
    with pytest.raises(FetchError) as caught:
        fetch("tiny", one_file(f"{url}/f"), tmp_path / "tiny", log=lines.append)
    assert "secret" not in str(caught.value) + "".join(lines)


# --- the registered data sets ----------------------------------------------------------------------------------------

DATASETS = sorted((CONFIG / "datasets").glob("*.yaml"))
ENCODERS = sorted((CONFIG / "encoders").glob("*.yaml"))
WORD_VECTORS = sorted((CONFIG / "word_vectors").glob("*.yaml"))


@pytest.mark.parametrize("path", DATASETS, ids=lambda path: path.stem)
def test_every_registered_data_set_obeys_the_schema(path):
    schema = yaml.safe_load((CONFIG / "schemas" / "dataset.schema.yaml").read_text())
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("path", DATASETS + ENCODERS + WORD_VECTORS, ids=lambda path: path.stem)
def test_every_source_delivers_every_file_that_is_not_optional(path):
    config = yaml.safe_load(path.read_text())
    required = {name for name, facts in config.get("files", {}).items() if not facts.get("optional")}
    for source in config.get("sources", []):
        delivered = {*source.get("members", {}), *source.get("urls", {}), source.get("file")}
        assert required <= delivered
    assert "files" not in config or config.get("sources") or config.get("by_hand")


@pytest.mark.network
@pytest.mark.parametrize("dataset_id", ["eurlex-4k", "mnist", "fashion-mnist"])
def test_a_registry_delivers_the_real_data(tmp_path, dataset_id):
    config = yaml.safe_load((CONFIG / "datasets" / f"{dataset_id}.yaml").read_text())
    folder = fetch(dataset_id, config, tmp_path / dataset_id)
    record = read_json(folder / "source.json")
    assert record["files"] == config["files"]
    assert record["source"]["kind"] == config["sources"][0]["kind"]
