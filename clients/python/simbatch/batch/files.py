"""Files of runs: their lists, their bytes, and copies of them that continue after an interruption."""

from __future__ import annotations

import fnmatch
import hashlib
import os
from datetime import datetime
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence, Tuple, Union
from urllib.request import Request, urlopen

from ..api.transport import PathLike, segment
from ..errors import SimbatchError, UnreachableError
from .connection import Submitted

_TRIES = 4


class Owner(Protocol):
    """The run that files belong to."""

    @property
    def run_id(self) -> int: ...
    @property
    def job(self) -> Dict[str, Any]: ...
    @property
    def batch(self) -> Submitted: ...


class RunFile:
    """A file of a run. Made by `Batch.files` and `RunView.listing`."""

    def __init__(self, run: Owner, resource: Mapping[str, Any], attempt: Optional[int]) -> None:
        self.run = run
        self.path = str(resource["path"])
        """Its path in the output directory, with `/` between folders."""
        self.kind = str(resource["kind"])
        """`stdout`, `stderr`, `telemetry`, `metadata` or `artifact`."""
        self.size: Optional[int] = resource.get("bytes")
        """In bytes; None where the runner cannot be asked."""
        self.address = str(resource["address"])
        """Its path on the runner, or its address in the object store."""
        self._modified: Optional[str] = resource.get("modified_at")
        self._attempt = attempt

    def read(self, start: int = 0, end: Optional[int] = None) -> bytes:
        """The bytes of the file from `start`, counted from the end when it is negative, up to `end`.

        Raises ApiError `artifact-not-uploaded` when its runner does not send it, `range-not-satisfiable` beyond its end.
        """
        return b"".join(self._open(start, end)[1])

    def text(self) -> str:
        """The content of the file as UTF-8, with a replacement character for bytes that are not."""
        return self.read().decode("utf-8", "replace")

    def fetch(self, to: PathLike, *, overwrite: bool = False) -> Path:
        """Copies the file below a folder, and returns the path there. A copy that is there is not made again, a half one is continued.

        Raises FileExistsError when another file is there, unless `overwrite`.
        """
        target = Path(to, *_parts(self.path))
        if target.exists() and self._is_same(target):
            return target
        if target.exists() and not overwrite:
            raise FileExistsError(f"{target} differs from the file of the run; give overwrite=True, or another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        for tries in range(1, _TRIES + 1):
            try:
                begun = self._receive(target)
                break
            except UnreachableError:
                if tries == _TRIES:
                    raise
        if self._modified is not None:
            seconds = datetime.fromisoformat(self._modified.replace("Z", "+00:00")).timestamp()
            os.utime(begun, (seconds, seconds))
        if overwrite:
            os.replace(begun, target)
        else:
            os.link(begun, target)  # fails for a name that exists, which a rename would replace
            begun.unlink()
        return target

    def _is_same(self, target: Path) -> bool:
        found = target.stat()
        if self.size != found.st_size or self._modified is None:
            return False
        seconds = datetime.fromisoformat(self._modified.replace("Z", "+00:00")).timestamp()
        return abs(seconds - found.st_mtime) < 0.002

    def _receive(self, target: Path) -> Path:
        headers, pieces = self._open(0, None)
        size, version = int(headers["content-length"]), headers.get("etag", "")
        # The download of another version of the file begins at its first byte.
        begun = target.with_name(f"{target.name}.{hashlib.sha256(version.encode()).hexdigest()[:12]}.part")
        have = begun.stat().st_size if begun.exists() else 0
        if have > size:
            begun.unlink()
            have = 0
        if 0 < have < size:
            pieces.close()  # type: ignore[attr-defined]
            headers, pieces = self._open(have, None)
            if headers.get("etag", "") != version:
                raise UnreachableError(f"{self.path} changed while it was read")
        if have == size and size > 0:
            pieces.close()  # type: ignore[attr-defined]
            return begun
        with open(begun, "ab") as output:
            for piece in pieces:
                output.write(piece)
            output.flush()
            os.fsync(output.fileno())
        if begun.stat().st_size != size:
            raise UnreachableError(f"{self.path} ended early while it was read")
        return begun

    def _open(self, start: int, end: Optional[int]) -> "tuple[Dict[str, str], Iterator[bytes]]":
        headers: Dict[str, str] = {}
        if start < 0:
            headers["Range"] = f"bytes={start}"
        elif start > 0 or end is not None:
            headers["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
        transport = self.run.batch.coordinator.transport
        path = f"/jobs/{segment(self.run.job['id'])}/files/{segment(self.path)}"
        found, pieces = transport.open(path, {"attempt": self._attempt}, headers=headers)
        elsewhere = found.get("location")
        if elsewhere is None:
            return found, pieces
        pieces.close()  # type: ignore[attr-defined]
        return _opened(elsewhere, headers, transport.timeout_s)

    def __repr__(self) -> str:
        return f"<file {self.path} of run {self.run.run_id}, {'?' if self.size is None else self.size} bytes>"


class RunFiles(List[RunFile]):
    """The files of a run, as a list that a notebook shows as a table."""

    notes: List[str]
    """What the list lacks, and why files cannot be read."""

    def __getitem__(self, key: Any) -> Any:
        """A file by its index, or by its path."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for one in self:
            if one.path == key:
                return one
        raise KeyError(f"no file {key!r}; there are: {', '.join(one.path for one in self) or 'none'}")

    def _repr_html_(self) -> str:
        from ..show.html import table_html

        return table_html(["path", "kind", "bytes"], [[one.path, one.kind, one.size] for one in self])


def files_of(run: Owner, attempt: Optional[int]) -> RunFiles:
    """The files of a run, by default of its last attempt."""
    transport = run.batch.coordinator.transport
    found = transport.get(f"/jobs/{segment(run.job['id'])}/files", {"attempt": attempt}, extra_s=30)
    made = RunFiles(RunFile(run, one, attempt) for one in found["files"])
    made.notes = list(found["notes"])
    return made


def fetch_files(
    lists: Iterable[Tuple[int, RunFiles]], to: PathLike, path: str, kind: Union[str, Sequence[str], None], overwrite: bool
) -> List[Path]:
    """Copies the files of runs into a folder for each run."""
    kinds = [kind] if isinstance(kind, str) else kind
    copied: List[Path] = []
    for number, files in lists:
        folder = Path(to, f"{number:08d}")
        for one in files:
            if fnmatch.fnmatchcase(one.path, path) and (kinds is None or one.kind in kinds):
                copied.append(one.fetch(folder, overwrite=overwrite))
    return copied


def _opened(url: str, headers: Mapping[str, str], timeout_s: float) -> "tuple[Dict[str, str], Iterator[bytes]]":
    """A file in an object store, without the credential of the coordinator: the address has one of its own."""
    try:
        response = urlopen(Request(url, headers=dict(headers)), timeout=timeout_s)
    except OSError as error:
        raise UnreachableError(f"the object store does not send the file: {error}") from error

    def pieces() -> Iterator[bytes]:
        with response:
            while True:
                try:
                    piece = response.read(65536)
                except (OSError, HTTPException) as error:
                    raise UnreachableError(f"the object store stopped sending the file: {error}") from error
                if not piece:
                    return
                yield piece

    return {name.lower(): value for name, value in response.headers.items()}, pieces()


def _parts(path: str) -> Sequence[str]:
    """The folders and the name of a path. Raises SimbatchError for a path that leaves its folder."""
    pure = PurePosixPath(path)
    names = path.split("/")
    if pure.is_absolute() or any(name in ("", ".", "..") for name in names) or (os.sep != "/" and os.sep in path):
        raise SimbatchError(f"the path {path!r} leaves the folder of the run")
    return names
