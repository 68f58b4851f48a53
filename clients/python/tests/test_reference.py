"""The reference page is made of the docstrings, and every public name has one."""

import importlib.util
from pathlib import Path

import pytest

import simbatch as sb

ROOT = Path(__file__).resolve().parents[3]


def test_the_reference_is_current(tmp_path):
    page = ROOT / "docs" / "python-reference.md"
    if not page.exists():
        pytest.skip("this is not a clone of the repository")
    spec = importlib.util.spec_from_file_location("reference", ROOT / "clients" / "python" / "tools" / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.main() == page.read_text(encoding="utf-8"), "run: python3 clients/python/tools/reference.py"


def test_every_public_name_is_documented():
    for name in sb.__all__:
        assert getattr(sb, name).__doc__, name


ONE_RUN = """
import os, sys, simbatch
from simbatch import _run
run = simbatch.run({"x": 1.5})
run.result(y=run.parameters["x"])
print(*sys.modules)
_run.load_all()
before = set(sys.modules)
run.random_seed, run.output_dir, run.parent, run.checkpoint(), run.telemetry(y=1.0)
_run.hint("y", {"x": 1})
print(*(set(sys.modules) - before))
"""


def test_a_simulation_loads_what_it_uses_and_an_interpreter_for_many_runs_all_of_it_at_once(tmp_path):
    import subprocess
    import sys

    environment = {"PYTHONPATH": str(ROOT / "clients" / "python"), "SVC_OUTPUT_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-S", "-c", ONE_RUN], env=environment, capture_output=True, encoding="utf-8")
    at_first, later = run.stdout.splitlines()
    unused = {"difflib", "hashlib", "http", "pathlib", "pickle", "socket", "ssl", "typing"}
    assert unused.isdisjoint(at_first.split())
    names = [name for name in at_first.split() if name.startswith("simbatch")]
    assert sorted(names) == ["simbatch", "simbatch._parameters", "simbatch._run", "simbatch._sender", "simbatch._variables"]
    assert later == ""


def test_telemetry_that_cannot_be_loaded_is_off(monkeypatch, capsys, tmp_path):
    import sys

    from simbatch._run import Run

    monkeypatch.setitem(sys.modules, "simbatch._telemetry", None)
    run = Run({"run_id": 0, "parameters": {}, "metadata": {}}, str(tmp_path), "127.0.0.1:9", "token")
    run.telemetry(y=1.0)
    run.close()
    assert capsys.readouterr().err.startswith("simbatch: telemetry is off: import of simbatch._telemetry halted")
