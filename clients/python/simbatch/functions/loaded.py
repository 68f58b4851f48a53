"""The function of SVC_FUNCTION, loaded at import: a warm interpreter imports this module once, and every run is a fork of it."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional

from .execute import load_file

FUNCTION: Optional[Callable[..., Any]] = load_file(os.environ["SVC_FUNCTION"]) if os.environ.get("SVC_FUNCTION") else None
"""None where the variable is not set: an interpreter that waits for its first study."""
