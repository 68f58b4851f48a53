"""Variables of the environment have two names, `SIMBATCH_NAME` and that of the run contract, `SVC_NAME`. `src/base/text/variables.ts` has the same rule."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in _run.py
if TYPE_CHECKING:
    from typing import Dict, Mapping, Optional

_OWN = "SIMBATCH_"
_CONTRACT = "SVC_"
_ALONE = ("SIMBATCH_HOME", "SIMBATCH_NODE")


class VariableError(ValueError):
    """Two names of one setting have different values."""


def variable(name: str, environment: Mapping[str, str] = os.environ) -> Optional[str]:
    """The value of a setting; None where neither name is set. Raises VariableError where both are, to different values."""
    first, second = environment.get(_OWN + name), environment.get(_CONTRACT + name)
    if first and second and first != second:
        # The values may be secrets.
        raise VariableError(
            f"the environment is ambiguous: {_OWN}{name} and {_CONTRACT}{name} are two names of one setting and have different values; unset one of them"
        )
    return first or second


def environment_with(settings: Mapping[str, str]) -> Dict[str, str]:
    """The environment with these settings in place of its own, under whichever name it has them."""
    others = {_OWN + name[len(_CONTRACT) :] for name in settings if name.startswith(_CONTRACT)}
    return {**{name: value for name, value in os.environ.items() if name not in others}, **settings}


def environment_without_settings() -> Dict[str, str]:
    """The environment without the settings of any coordinator or runner."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _ALONE or not name.startswith((_OWN, _CONTRACT))
    }
