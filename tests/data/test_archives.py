"""Archives are strangers': what is wanted comes out whole, and nothing that could do harm comes out at all."""

import bz2
import gzip
import io
import lzma
import random
import shutil
import subprocess
import tarfile
import zipfile
from contextlib import suppress

import pytest

from orchard.data.archives import extract_members
from orchard.errors import OrchardError

CONTENT = bytes(range(256)) * 2000


def tar_entry(name, kind=tarfile.REGTYPE, link="", content=CONTENT):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    entry.size = len(content) if kind == tarfile.REGTYPE else 0
    return entry, content


def write_tar(path, *entries, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for entry, content in entries:
            tar.addfile(entry, io.BytesIO(content) if entry.isreg() else None)
    return path


def everything_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "deep" / "out"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_only_the_named_members_of_a_tar_are_written(tmp_path, out, mode):
    """Whatever the compression and the file's name; a leading ./ in the archive makes no difference."""
    archive = write_tar(
        tmp_path / "archive.bin", tar_entry("./a/wanted"), tar_entry("a/other"), tar_entry("a/last"), mode=mode
    )
    extract_members(archive, {"x.txt": "a/wanted", "y.txt": "./a/last"}, out)
    assert everything_in(out) == ["x.txt", "y.txt"]
    assert (out / "x.txt").read_bytes() == CONTENT


def test_only_the_named_members_of_a_zip_are_written(tmp_path, out):
    with zipfile.ZipFile(tmp_path / "archive", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/wanted", CONTENT)
        file.writestr("../../evil", b"evil")
    extract_members(tmp_path / "archive", {"x": "a/wanted"}, out)
    assert everything_in(tmp_path) == ["archive", "deep", "deep/out", "deep/out/x"]
    assert (out / "x").read_bytes() == CONTENT


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_one_compressed_file_is_an_archive_of_itself(tmp_path, out, compress):
    (tmp_path / "archive").write_bytes(compress(CONTENT))
    extract_members(tmp_path / "archive", {"x": "x"}, out)
    assert (out / "x").read_bytes() == CONTENT
    with pytest.raises(OrchardError, match="one compressed file, but x, y are wanted"):
        extract_members(tmp_path / "archive", {"x": "x", "y": "y"}, out)


def test_a_compressed_member_is_decompressed_when_the_target_lacks_its_suffix(tmp_path, out):
    packed = gzip.compress(CONTENT)
    archive = write_tar(tmp_path / "a.tgz", tar_entry("d/x.gz", content=packed), tar_entry("d/y.gz", content=packed))
    extract_members(archive, {"x": "d/x.gz", "y.gz": "d/y.gz"}, out)
    assert (out / "x").read_bytes() == CONTENT
    assert (out / "y.gz").read_bytes() == packed


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed")
def test_a_debian_package_is_unpacked_by_its_client(tmp_path, out):
    data = tmp_path / "package" / "usr" / "share" / "x.gz"
    control = tmp_path / "package" / "DEBIAN" / "control"
    for path in (data, control):
        path.parent.mkdir(parents=True)
    data.write_bytes(gzip.compress(CONTENT))
    control.write_text("Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: tiny\n")
    deb = tmp_path / "tiny.deb"
    build = ["dpkg-deb", "--root-owner-group", "--build", tmp_path / "package", deb]
    subprocess.run(build, check=True, capture_output=True, timeout=60)
    extract_members(deb, {"x": "usr/share/x.gz"}, out)
    assert (out / "x").read_bytes() == CONTENT

    deb.write_bytes(deb.read_bytes()[:-100])
    with pytest.raises(OrchardError, match=r"tiny\.deb"):
        extract_members(deb, {"y": "usr/share/x.gz"}, out)
    assert everything_in(out) == ["x"]


def test_a_debian_package_without_its_client_is_explained(tmp_path, out, monkeypatch):
    (tmp_path / "tiny.deb").write_bytes(b"!<arch>\ndebian-binary   ")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OrchardError, match="dpkg-deb is not installed"):
        extract_members(tmp_path / "tiny.deb", {"x": "x"}, out)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a\\..\\x", ""])
def test_a_wanted_path_that_leaves_the_archive_is_refused(tmp_path, out, path):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("../x"), tar_entry("/etc/passwd"), tar_entry("a/../../x"))
    with pytest.raises(OrchardError, match="must be relative"):
        extract_members(archive, {"x": path}, out)
    assert everything_in(out) == []


@pytest.mark.parametrize("target", ["../x", "/x", "a/x", "..", "", "a\\x"])
def test_a_target_that_leaves_the_folder_is_refused(tmp_path, out, target):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("x"))
    with pytest.raises(OrchardError, match="plain file name"):
        extract_members(archive, {target: "x"}, out)


def test_unwanted_malicious_entries_leave_no_trace(tmp_path, out):
    """Slips, links and devices beside the wanted member are passed over, not followed."""
    archive = write_tar(
        tmp_path / "a.tgz",
        tar_entry("../../evil"),
        tar_entry("/evil"),
        tar_entry("d", tarfile.SYMTYPE, link=".."),
        tar_entry("d/x"),
        tar_entry("device", tarfile.CHRTYPE),
        tar_entry("wanted"),
    )
    extract_members(archive, {"x": "wanted"}, out)
    assert everything_in(tmp_path) == ["a.tgz", "deep", "deep/out", "deep/out/x"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (tarfile.SYMTYPE, "a symbolic link"),
        (tarfile.LNKTYPE, "a hard link"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.FIFOTYPE, "a pipe"),
        (tarfile.DIRTYPE, "a folder"),
    ],
)
def test_a_member_that_is_no_regular_file_is_refused(tmp_path, out, kind, said):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("secret"), tar_entry("x", kind, link="secret"))
    with pytest.raises(OrchardError, match=f"'x' is {said}"):
        extract_members(archive, {"x": "x"}, out)
    assert everything_in(out) == []


def test_links_and_encrypted_entries_of_a_zip_are_refused(tmp_path, out):
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr(link, "/etc/passwd")
        file.writestr("locked", CONTENT)
        file.writestr("folder/", "")
    with pytest.raises(OrchardError, match="is a link or a device"):
        extract_members(tmp_path / "a.zip", {"x": "link"}, out)
    with pytest.raises(OrchardError, match="is a folder"):
        extract_members(tmp_path / "a.zip", {"x": "folder"}, out)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"locked"))
    data[entry + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(OrchardError, match="is encrypted"):
        extract_members(tmp_path / "a.zip", {"x": "locked"}, out)
    assert everything_in(out) == []


def test_a_missing_member_is_named_with_those_that_look_like_it(tmp_path, out):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("base/set/X.trn.npz"), tar_entry("readme"))
    with pytest.raises(OrchardError, match=r"no member 'set/X\.trn\.npz' for X; it has base/set/X\.trn\.npz"):
        extract_members(archive, {"X": "set/X.trn.npz"}, out)
    extract_members(archive, {"X": "set/X.trn.npz", "r": "readme"}, out, optional=["X"])
    assert everything_in(out) == ["r"]


def test_a_member_that_occurs_twice_is_refused(tmp_path, out):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("x"), tar_entry("x", content=b"other"))
    with pytest.raises(OrchardError, match="occurs twice"):
        extract_members(archive, {"x": "x"}, out)


def test_a_member_wanted_for_two_targets_is_refused(tmp_path, out):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("x"))
    with pytest.raises(OrchardError, match="two targets want the same member"):
        extract_members(archive, {"a": "x", "b": "./x"}, out)


@pytest.mark.parametrize("kept", [0.3, 0.99])
@pytest.mark.parametrize("kind", ["tar.gz", "tar.xz", "zip", "gz", "tar"])
def test_a_truncated_archive_is_refused(tmp_path, out, kind, kept):
    """Even when the cut lies behind the wanted member, because nobody knows what else is missing."""
    archive = tmp_path / "archive"
    noise = random.Random(0).randbytes(50_000)
    if kind == "gz":
        archive.write_bytes(gzip.compress(noise))
    elif kind == "zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("x", noise)
    else:
        _, _, compression = kind.partition(".")
        write_tar(archive, tar_entry("x", content=noise), mode=f"w:{compression}")
    size = archive.stat().st_size
    if kind == "tar":
        size = len(noise)  # a plain tar ends in padding, which may be lost without harm
    archive.write_bytes(archive.read_bytes()[: int(size * kept)])
    with pytest.raises(OrchardError, match="damaged"):
        extract_members(archive, {"x": "x"}, out)
    assert everything_in(out) == []


def test_a_flipped_bit_is_noticed(tmp_path, out):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("x"))
    data = bytearray(archive.read_bytes())
    data[-6] ^= 1  # in the checksum at the end, which a reader that stops early never sees
    archive.write_bytes(data)
    with pytest.raises(OrchardError, match="damaged"):
        extract_members(archive, {"x": "x"}, out)


def test_what_is_no_archive_is_shown(tmp_path, out):
    """Download pages that ask for a confirmation arrive under an archive's name."""
    (tmp_path / "a.zip").write_bytes(b"<!DOCTYPE html><html>confirm")
    with pytest.raises(OrchardError, match=r"not a tar, zip.*<!DOCTYPE html>"):
        extract_members(tmp_path / "a.zip", {"x": "x"}, out)
    with pytest.raises(OrchardError, match="no such file"):
        extract_members(tmp_path / "b.zip", {"x": "x"}, out)


def test_an_archive_that_unpacks_to_too_much_is_stopped(tmp_path, out):
    archive = write_tar(tmp_path / "a.tgz", tar_entry("x"))
    with pytest.raises(OrchardError, match="x is larger than the 1000 bytes"):
        extract_members(archive, {"x": "x"}, out, max_bytes={"x": 1000})
    assert everything_in(out) == []
    extract_members(archive, {"x": "x"}, out, max_bytes={"x": len(CONTENT)})


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_a_damaged_archive_is_refused_or_read_never_worse(tmp_path, out, kind):
    """Three bytes changed at random places: whatever the libraries raise, the user is told of a damaged archive."""
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data/train.txt", CONTENT * 50)
    else:
        write_tar(path, tar_entry("data/train.txt", content=CONTENT * 50), mode="w" if kind == "tar" else "w:gz")
    whole = path.read_bytes()
    rng = random.Random(0)
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        with suppress(OrchardError):
            extract_members(path, {"train.txt": "data/train.txt"}, out)
