"""Files of a folder that processes share: replaced as a whole, locked."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import IO, Any


def replace(path: Path, text: str) -> None:
    """Writes a file as a whole, readable by this user only; a reader never finds half of it."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def lock(file: "IO[Any]", patience_s: float) -> bool:
    """Locks a file until this process ends; False when another process has it for longer than `patience_s`."""
    import fcntl

    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)
