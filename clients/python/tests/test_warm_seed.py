"""The seed of numpy's global generator in a warm Python: the same numbers whether numpy was imported before the run or in it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import package

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
WARM = Path(__file__).parents[1] / "warm"


def printed(program):
    package("numpy")
    before = "import sys, json; sys.path.insert(0, %r); import _warm_seed\n" % str(WARM)
    run = subprocess.run([sys.executable, "-c", before + program], capture_output=True, text=True, check=True, timeout=120)
    return json.loads(run.stdout)


DRAW = "print(json.dumps([numpy.random.random(), len(numpy.random.get_state()[1])]))"
SEED = (5 << 40) + 7


def test_numpy_has_the_seed_of_the_run_whichever_comes_first():
    before = printed("import numpy.random; _warm_seed.seed(%d); %s" % (SEED, DRAW))
    assert printed("_warm_seed.seed(%d); import numpy.random; %s" % (SEED, DRAW)) == before
    assert printed("_warm_seed.seed(1); _warm_seed.seed(%d); import numpy.random; %s" % (SEED, DRAW)) == before
    assert printed("_warm_seed.seed(%d); import numpy.random; %s" % (SEED + 1, DRAW)) != before


def test_the_import_leaves_no_trace():
    program = (
        "known = list(sys.meta_path); _warm_seed.seed(1); _warm_seed.seed(2); count = len(sys.meta_path); import numpy.random; "
        "loader = numpy.random.__spec__.loader; print(json.dumps([count - len(known), sys.meta_path == known, 'exec_module' in vars(loader)]))"
    )
    assert printed(program) == [1, True, False]
