"""The two names of each variable, over all variables that the package reads."""

import re
from pathlib import Path

import pytest

from simbatch._variables import VariableError, environment_with, environment_without_settings, variable

SOURCES = sorted(Path(__file__).parents[1].joinpath("simbatch").rglob("*.py"))
NAMES = sorted({name for path in SOURCES for name in re.findall(r'\bvariable\("([A-Z_]+)"', path.read_text(encoding="utf-8"))})


def test_the_variables_are_found():
    assert {"ENDPOINT", "TOKEN", "TOKEN_FILE", "RUN_CONFIG", "OUTPUT_DIR", "PARENT_DIR", "TELEMETRY_URL"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_read_under_both_names(name, monkeypatch):
    first, second = f"SIMBATCH_{name}", f"SVC_{name}"
    for given in [{first: "a"}, {second: "a"}, {first: "a", second: "a"}, {first: "", second: "a"}, {first: "a", second: ""}]:
        assert variable(name, given) == "a"
    assert variable(name, {}) is None
    with pytest.raises(VariableError, match=f"{first} and {second} are two names.*unset one of them") as caught:
        variable(name, {first: "a-secret", second: "another"})
    assert "a-secret" not in str(caught.value)
    monkeypatch.setenv(first, "b")
    monkeypatch.delenv(second, raising=False)
    assert variable(name) == "b"


def test_a_process_gets_each_setting_once(monkeypatch):
    monkeypatch.setenv("SIMBATCH_TOKEN", "mine")
    monkeypatch.setenv("SIMBATCH_HOME", "/opt/simbatch")
    assert "SIMBATCH_TOKEN" not in environment_with({"SVC_TOKEN": "given"})
    assert environment_with({"SVC_TOKEN": "given"})["SVC_TOKEN"] == "given"
    others = environment_without_settings()
    assert "SIMBATCH_TOKEN" not in others and others["SIMBATCH_HOME"] == "/opt/simbatch"
