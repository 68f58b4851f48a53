"""Searches whose driver, coordinator and runner are killed come to the same end. The night's tests kill each of them 20 times."""

import os
import sys

import pytest

from . import kills
from .conftest import package

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


@pytest.mark.parametrize("search", sorted(kills.SEARCHES))
def test_a_search_comes_to_the_same_end_after_kills_of_each_part(search, program):
    for needed in ("cloudpickle", "numpy", search):
        package(needed)
    if search == "scipy":
        kills.needs_scipy()
    if not kills.EXAMPLES.exists():
        pytest.skip("this is not a clone of the repository")
    report = kills.campaign(search, 1, int.from_bytes(os.urandom(4), "big"), size=3)
    assert report["runs"] == report["distinct"] > 0, report
