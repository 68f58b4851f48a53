"""An answer of a coordinator: status, headers, body."""

from __future__ import annotations

import json
from typing import Any, Mapping

from ..errors import ApiError


class Answer:
    """A whole answer: status, headers, body as parsed JSON (None when it is not JSON)."""

    def __init__(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.data = data
        self._json: Any = None

    @property
    def is_json(self) -> bool:
        """Whether the media type is JSON or ends in `+json`."""
        media = self.headers.get("content-type", "").split(";")[0].strip().lower()
        return media == "application/json" or media.endswith("+json")

    def json(self) -> Any:
        """The body as a value. Raises ApiError `unexpected-answer` when it is not JSON."""
        if self._json is None:
            try:
                self._json = json.loads(self.data.decode("utf-8"))
            except ValueError as error:
                text = f"the answer is not JSON ({error}); check that the address is that of a simbatch coordinator"
                raise ApiError(self.status, "unexpected-answer", text) from error
        return self._json
