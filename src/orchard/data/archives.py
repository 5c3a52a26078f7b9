"""Take named files out of an archive, and nothing else: an archive is a stranger's, so every entry is suspect."""

import bz2
import difflib
import errno
import gzip
import lzma
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from orchard.errors import OrchardError
from orchard.files import atomic_file

_DECOMPRESSORS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MAGIC_OF_SUFFIX = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
_DEBIAN_MAGIC = b"!<arch>\ndebian-binary"
_ZIP_MAGIC = b"PK"
_ZIP_ENCRYPTED = 0x1  # the bit in an entry's flags
_CHUNK = 1 << 20
_CLIENT_SECONDS = 60


def extract_members(
    archive,
    members: Mapping[str, str],
    folder,
    *,
    optional: Collection[str] = (),
    max_bytes: Mapping[str, int] | None = None,
) -> None:
    """Write the named members of `archive` into `folder`; the kind of archive is told by its content.

    archive : tar (also .gz, .bz2, .xz), zip, Debian package, or one file compressed by itself
    members : target name -> path inside. A target whose name lacks the member's .gz, .bz2 or .xz is decompressed.
              A file compressed by itself has no path inside: it takes exactly one target, whatever its path.
    optional : targets that the archive may lack
    max_bytes : target -> most bytes it may have, against archives that unpack without end

    Only regular files are written, only under their target names, and each appears whole or not at all.
    """
    archive, folder = Path(archive), Path(folder)
    for target, path in members.items():
        _check_plain_name(target)
        _check_inside(path)
    if len({_normal(path) for path in members.values()}) < len(members):
        raise OrchardError(f"{archive}: two targets want the same member; name each member once")
    if not archive.is_file():
        raise OrchardError(f"{archive}: no such file")
    extraction = _Extraction(archive, members, folder, max_bytes or {})
    with _damage_explained(archive):
        _walk(archive, extraction)
    extraction.refuse_missing(optional)


def _check_plain_name(name: str) -> None:
    if name in ("", ".", "..") or any(sign in name for sign in "/\\\0"):
        raise OrchardError(f"{name!r}: a target must be a plain file name")


def _check_inside(path: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path:
        raise OrchardError(f"{path!r}: a member's path must be relative, with / between its parts and no ..")


@contextmanager
def _damage_explained(archive: Path) -> Iterator[None]:
    try:
        yield
    except OrchardError:
        raise
    except (EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise OrchardError(f"{archive}: damaged or cut short ({error}); delete it and fetch it again") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # the machine's trouble (disk full), not the archive's
            raise
        raise OrchardError(f"{archive}: damaged ({error}); delete it and fetch it again") from error


class _Extraction:
    """What is wanted, what was seen, and the writing of one member."""

    def __init__(self, archive: Path, members: Mapping[str, str], folder: Path, max_bytes: Mapping[str, int]):
        self.archive, self.folder, self.max_bytes = archive, folder, max_bytes
        self.path_of_target = {target: _normal(path) for target, path in members.items()}
        self.target_of_path = {path: target for target, path in self.path_of_target.items()}
        self.names_seen: list[str] = []
        self.done: set[str] = set()

    def target_of(self, name: str) -> str | None:
        """Note that the archive has `name`; return the target it is wanted for, if it is."""
        self.names_seen.append(_normal(name))
        return self.target_of_path.get(_normal(name))

    def refuse(self, name: str, problem: str):
        raise OrchardError(f"{self.archive}: member {name!r} {problem}; only regular files are taken")

    def write(self, target: str, stream: IO[bytes]) -> None:
        if target in self.done:
            raise OrchardError(
                f"{self.archive}: member {self.path_of_target[target]!r} occurs twice; which is meant is unclear"
            )
        suffix = PurePosixPath(self.path_of_target[target]).suffix
        if suffix in _DECOMPRESSORS and not target.endswith(suffix):
            stream = _DECOMPRESSORS[suffix](stream)
        limit = self.max_bytes.get(target, float("inf"))
        n_bytes = 0
        with atomic_file(self.folder / target) as temporary, temporary.open("wb") as file:
            while chunk := stream.read(_CHUNK):
                n_bytes += len(chunk)
                if n_bytes > limit:
                    raise OrchardError(f"{self.archive}: {target} is larger than the {limit} bytes it should have")
                file.write(chunk)
        self.done.add(target)

    def refuse_missing(self, optional: Collection[str]) -> None:
        for target, path in self.path_of_target.items():
            if target in self.done or target in optional:
                continue
            base = PurePosixPath(path).name
            similar = [name for name in self.names_seen if PurePosixPath(name).name == base]
            similar += difflib.get_close_matches(path, self.names_seen, n=3, cutoff=0.5)
            hint = ", ".join(dict.fromkeys(similar[:4])) or "nothing"
            raise OrchardError(f"{self.archive}: no member {path!r} for {target}; it has {hint} of a similar name")


def _normal(path: str) -> str:
    """The name without a leading ./ and doubled slashes; .. is kept, so it never equals a wanted path."""
    absolute = "/" if path.startswith("/") else ""
    return absolute + "/".join(part for part in path.split("/") if part not in ("", "."))


def _walk(archive: Path, extraction: _Extraction) -> None:
    with archive.open("rb") as file:
        head = file.read(512)
    if head.startswith(_DEBIAN_MAGIC):
        with _debian_files(archive) as stream:
            _walk_tar(stream, extraction)
    elif head.startswith(_ZIP_MAGIC):
        _walk_zip(archive, extraction)
    else:
        suffix = next((suffix for suffix, magic in _MAGIC_OF_SUFFIX.items() if head.startswith(magic)), None)
        with _DECOMPRESSORS.get(suffix, open)(archive, "rb") as stream:
            if _is_tar_header(stream.read(512)):
                stream.seek(0)
                _walk_tar(stream, extraction)
            elif suffix is None:
                kinds = "a tar, zip, gzip, bzip2, xz or Debian archive"
                raise OrchardError(f"{archive}: not {kinds}; it starts with {head[:40]!r}")
            else:
                stream.seek(0)
                _take_single_file(stream, extraction)


def _is_tar_header(block: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _walk_tar(stream: IO[bytes], extraction: _Extraction) -> None:
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for entry in tar:
            target = extraction.target_of(entry.name)
            if target is None:
                continue
            if not entry.isreg():
                extraction.refuse(entry.name, f"is {_kind_of(entry)}")
            extraction.write(target, tar.extractfile(entry))
    while stream.read(_CHUNK):  # to the very end, where a compressed stream keeps its checksum
        pass


def _kind_of(entry: tarfile.TarInfo) -> str:
    kinds = {
        tarfile.SYMTYPE: "a symbolic link",
        tarfile.LNKTYPE: "a hard link",
        tarfile.DIRTYPE: "a folder",
        tarfile.FIFOTYPE: "a pipe",
        tarfile.CHRTYPE: "a device",
        tarfile.BLKTYPE: "a device",
    }
    return kinds.get(entry.type, "of an unknown kind")


def _walk_zip(archive: Path, extraction: _Extraction) -> None:
    with zipfile.ZipFile(archive) as file:
        for entry in file.infolist():
            target = extraction.target_of(entry.filename)
            if target is None:
                continue
            file_type = stat.S_IFMT(entry.external_attr >> 16)  # 0 where the zip was not made on Unix
            if entry.is_dir():
                extraction.refuse(entry.filename, "is a folder")
            if file_type not in (0, stat.S_IFREG):
                extraction.refuse(entry.filename, "is a link or a device")
            if entry.flag_bits & _ZIP_ENCRYPTED:
                extraction.refuse(entry.filename, "is encrypted")
            with file.open(entry) as stream:
                extraction.write(target, stream)


def _take_single_file(stream: IO[bytes], extraction: _Extraction) -> None:
    if len(extraction.path_of_target) != 1:
        wanted = ", ".join(extraction.path_of_target)
        raise OrchardError(f"{extraction.archive}: one compressed file, but {wanted} are wanted from it")
    (target,) = extraction.path_of_target
    extraction.path_of_target[target] = target  # it is being decompressed already
    extraction.write(target, stream)


@contextmanager
def _debian_files(archive: Path) -> Iterator[IO[bytes]]:
    """The package's files as an uncompressed tar stream, unpacked by Debian's own client."""
    client = shutil.which("dpkg-deb")
    if client is None:
        raise OrchardError(f"{archive}: a Debian package, but the program dpkg-deb is not installed")
    with tempfile.TemporaryFile() as complaints:
        command = [client, "--fsys-tarfile", str(archive)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints) as process:
            try:
                yield process.stdout
                process.wait(_CLIENT_SECONDS)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()
            raise OrchardError(f"{archive}: dpkg-deb failed: {said or process.returncode}")
