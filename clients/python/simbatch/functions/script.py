"""A script as the code that a study carries: `simbatch extract --with post.py` sends one."""

from __future__ import annotations

import linecache
import sys
import types
from typing import Tuple


class Script:
    """The source of a Python program, with the name of its file. It travels as a call of this class with both texts."""

    def __init__(self, name: str, source: str) -> None:
        """Raises SyntaxError where it is not Python."""
        self.name = name
        self.source = source
        self._code = compile(source, name, "exec")

    def __call__(self) -> None:
        """Executes it as the program of this process; errors show its lines."""
        module = types.ModuleType("__main__")
        module.__file__ = self.name
        sys.modules["__main__"] = module
        sys.argv[0] = self.name
        linecache.cache[self.name] = (len(self.source), None, self.source.splitlines(True), self.name)
        exec(self._code, module.__dict__)

    def __reduce__(self) -> Tuple[type, Tuple[str, str]]:
        return Script, (self.name, self.source)
