"""The state of a run, kept from attempt to attempt: saved as a whole, checked when it is read, never needed."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import time
from pathlib import Path
from typing import Any, Optional

_HEAD = b"simbatch-checkpoint-1\n"
_NAME = "checkpoint.pickle"


class Checkpoint:
    """The state that a run keeps for its next attempt. Made by `Run.checkpoint`."""

    directory: Optional[Path]
    """A directory of the run for files of its own; None where no state is kept. Made by the first `save`."""

    def __init__(self, directory: Optional[Path]) -> None:
        self.directory = directory
        self._saved = time.monotonic()

    def load(self) -> Any:
        """The state that an earlier attempt saved last; None without one.

        A damaged one counts as none, with a line on stderr: the run begins anew.
        """
        if self.directory is None:
            return None
        path = self.directory / _NAME
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        head, digest, body = data[: len(_HEAD)], data[len(_HEAD) : len(_HEAD) + 32], data[len(_HEAD) + 32 :]
        if head != _HEAD or hashlib.sha256(body).digest() != digest:
            print(f"simbatch: the checkpoint {path} is damaged; the run begins anew", file=sys.stderr)
            return None
        try:
            return pickle.loads(body)
        except Exception as error:  # e.g. a class that this version of the simulation does not have
            print(f"simbatch: the checkpoint {path} cannot be read ({error}); the run begins anew", file=sys.stderr)
            return None

    def save(self, state: Any) -> None:
        """Keeps a state, anything that pickle takes; the file is replaced as a whole, and is on the disk when this returns.

        Does nothing where no state is kept. Raises OSError when the file cannot be written, the errors of pickle otherwise.
        """
        self._saved = time.monotonic()
        if self.directory is None:
            return
        body = pickle.dumps(state, protocol=4)
        self.directory.mkdir(parents=True, exist_ok=True)
        part = self.directory / f".{_NAME}.{os.getpid()}"
        with open(part, "wb") as file:
            file.write(_HEAD + hashlib.sha256(body).digest() + body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.directory / _NAME)

    def due(self, every_s: float = 60.0) -> bool:
        """Whether `every_s` seconds have passed since the last `save`, or since the beginning."""
        return time.monotonic() - self._saved >= every_s
