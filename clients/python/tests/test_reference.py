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


def test_a_simulation_does_not_load_the_client():
    import subprocess
    import sys

    program = "import sys, simbatch; print([name for name in sys.modules if name.startswith(('simbatch.', 'http', 'ssl'))])"
    ended = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, encoding="utf-8", cwd=ROOT / "clients" / "python"
    )
    assert "simbatch.study" not in ended.stdout and "simbatch.api" not in ended.stdout and "'ssl'" not in ended.stdout
