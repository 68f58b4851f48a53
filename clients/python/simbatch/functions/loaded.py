"""The function of SVC_FUNCTION, loaded at import: a warm interpreter imports this module once, and every run is a fork of it."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .._variables import variable
from .execute import load_file

_PATH = variable("FUNCTION")
FUNCTION: Optional[Callable[..., Any]] = load_file(_PATH) if _PATH else None
"""None where the variable is not set: an interpreter that waits for its first study."""
