"""Functions as simulations: their identity, what travels with them, how they are called."""

import math
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

import simbatch as sb
from simbatch._run import Run
from simbatch.functions import execute, ship
from simbatch.functions.digest import digest_of

from .conftest import package

ROOT = Path(__file__).parents[1]

CELL = """
import math
LIMITS = {"a", "b", "c", "d"}
class Model:
    gain = 2.0
    def __call__(self, x):
        return helper(x) * self.gain
def helper(x):
    return math.sin(x) + len(LIMITS)
model = Model()
def flight(p, run):
    if p["x"] in {1.5, 2.5, "z"}:
        return {}
    return {"y": model(p["x"])}
"""


def in_another_process(source, expression, hash_seed="1"):
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{source}\nfrom simbatch.functions.digest import digest_of\nprint({expression})"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", env={"PYTHONHASHSEED": hash_seed, "PATH": ""}
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_the_digest_is_the_same_in_another_process_and_at_other_lines():
    first = in_another_process(CELL, "digest_of(flight)", "1")
    assert first == in_another_process(CELL, "digest_of(flight)", "2")
    assert first == in_another_process(f"\n\n# a comment\n{CELL}", "digest_of(flight)", "3")


@pytest.mark.parametrize(
    "before, after",
    [
        ("gain = 2.0", "gain = 2.5"),
        ("math.sin", "math.cos"),
        ('"c", "d"}', '"c", "d", "e"}'),
        ("{1.5, 2.5", "{1.5, 2.75"),
        ('{"y":', '{"z":'),
    ],
)
def test_the_digest_changes_with_anything_the_function_uses(before, after):
    assert before in CELL
    assert in_another_process(CELL, "digest_of(flight)") != in_another_process(CELL.replace(before, after), "digest_of(flight)")


def test_the_digest_ends_for_functions_that_refer_to_themselves():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert len(digest_of(even, frozenset([__name__]))) == 64


def test_a_function_travels_with_what_it_refers_to(tmp_path):
    package("cloudpickle")
    module = types.ModuleType("my_aero")
    (tmp_path / "my_aero.py").write_text("def drag(v):\n    return 0.5 * v * v\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import my_aero as module
    finally:
        sys.path.remove(str(tmp_path))
    scale = 3.0

    def flight(p):
        return {"drag": scale * module.drag(p["v"]), "sin": math.sin(0)}

    artifact = ship.ship(flight, [module])
    (tmp_path / "artifact").write_bytes(artifact.data)
    program = textwrap.dedent(
        f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        from simbatch.functions.execute import load
        print(load(open({str(tmp_path / "artifact")!r}, "rb").read())({{"v": 2.0}}))
        """
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", cwd="/")
    assert ended.stdout.strip() == "{'drag': 6.0, 'sin': 0.0}", ended.stderr


def test_a_function_that_cannot_travel_is_refused_with_the_remedy():
    package("cloudpickle")
    import threading

    lock = threading.Lock()

    def flight(p):
        with lock:
            return {}

    with pytest.raises(sb.SimbatchError, match="cannot be serialised: .*create what cannot travel .* inside it"):
        ship.ship(flight)
    data = bytes(range(256)) * 8192

    def large(p):
        return {"n": len(data)}

    with pytest.raises(sb.SimbatchError, match="1,048,576 are allowed; load large data from a file"):
        ship.ship(large)


def test_without_cloudpickle_the_message_has_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(sb.MissingPackageError, match="pip install cloudpickle"):
        sb.Study("x", simulation=lambda p: {}, inputs={}, runs=1)


def a_run(tmp_path):
    return Run({"run_id": 1, "parameters": {"x": 2.0}, "metadata": {"seed": 1}}, tmp_path, None, None)


def test_a_function_takes_the_parameters_and_the_run_if_it_wants_it(tmp_path):
    import json

    def written(function):
        execute.call(function, a_run(tmp_path))
        return json.loads((tmp_path / "metadata.json").read_text())

    assert written(lambda p: {"a": p["x"]}) == {"a": 2.0}
    assert written(lambda p, run: {"b": run.run_id})["b"] == 1
    assert written(lambda p, run=None: {"c": run.random_seed})["c"] > 0
    assert "d" not in written(lambda p: None)
    with pytest.raises(TypeError, match="returned float; return a mapping"):
        execute.call(lambda p: 1.5, a_run(tmp_path))
    with pytest.raises(TypeError, match=r"f\(p\) or f\(p, run\)"):
        execute.call(lambda: {}, a_run(tmp_path))


def test_an_import_that_is_missing_where_runs_are_executed_has_a_remedy():
    package("cloudpickle")
    import pickle

    with pytest.raises(RuntimeError, match="needs absent_module, which this Python .* cannot import; install it"):
        execute.load(pickle.dumps(0)[:0] + b"cabsent_module\nf\n.")


def test_a_damaged_artifact_is_not_loaded(tmp_path):
    path = tmp_path / ("0" * 64 + ".pickle")
    path.write_bytes(b"x")
    with pytest.raises(RuntimeError, match="is damaged"):
        execute.load_file(str(path))


def _executed(artifact, tmp_path, parameters="{}"):
    """The value that the artifact returns in another interpreter, from another folder."""
    (tmp_path / "artifact").write_bytes(artifact.data)
    program = textwrap.dedent(
        f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        from simbatch.functions.execute import load
        print(load(open({str(tmp_path / "artifact")!r}, "rb").read())({parameters}))
        """
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", cwd="/")
    return ended.stdout.strip() or ended.stderr


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A folder of modules that only this process finds."""
    package("cloudpickle")
    monkeypatch.syspath_prepend(str(tmp_path))
    # Another interpreter must not find this module, which has the functions, by the environment either.
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr("simbatch.functions.travelling._known", {})
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_modules_beside_the_notebook_travel_by_themselves(beside):
    (beside / "beside_tables.py").write_text("GRAVITY = 9.81\n")
    (beside / "beside_model.py").write_text(
        "import math\nimport beside_tables\nclass Rocket:\n    def weight(self, m):\n        return round(m * beside_tables.GRAVITY + math.sin(0), 2)\n"
    )
    (beside / "beside_pack").mkdir()
    (beside / "beside_pack" / "__init__.py").write_text("from .part import two\n")
    (beside / "beside_pack" / "part.py").write_text("def two():\n    return 2\n")
    import beside_model
    from beside_pack import two

    def flight(p):
        return {"w": beside_model.Rocket().weight(p["m"]) * two()}

    artifact = ship.ship(flight)
    assert _executed(artifact, beside, '{"m": 10}') == "{'w': 196.2}"
    digest = artifact.digest
    beside_model.beside_tables.GRAVITY = 1.0
    assert ship.ship(flight).digest != digest, "the identity changes with a module that travels"


def test_a_module_that_is_imported_inside_the_function_is_refused_by_its_name(beside):
    (beside / "beside_late.py").write_text("def one():\n    return 1\n")

    def flight(p):
        import math

        from beside_late import one

        return {"x": one() + math.sin(0)}

    message = "the module beside_late cannot travel with the function: flight imports it inside itself, .*import beside_late at the top"
    with pytest.raises(sb.SimbatchError, match=message):
        ship.ship(flight)
    with pytest.raises(sb.SimbatchError, match="beside_late"):
        sb.Study("late", simulation=flight, inputs={"x": sb.Normal(0, 1)}, runs=2)
