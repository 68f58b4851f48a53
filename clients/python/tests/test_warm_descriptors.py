"""The look at open descriptors between the runs of one process: exact, in each way that systems list them."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
WARM = Path(__file__).parents[1] / "warm"
# Linux, macOS, and a system that lists none: all work on Linux.
PLACES = [("/proc/self/fd", "/dev/fd"), ("/nowhere", "/dev/fd"), ("/nowhere",)]


def load(name):
    spec = importlib.util.spec_from_file_location(name, WARM / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


descriptors = load("_warm_descriptors")


@pytest.fixture
def files(tmp_path):
    """Opens one of three files by its number; closes all at the end."""
    opened = []

    def open_one(number):
        path = tmp_path / str(number)
        path.touch()
        opened.append(os.open(path, os.O_RDONLY))
        return opened[-1]

    yield open_one
    for fd in opened:
        try:
            os.close(fd)
        except OSError:
            pass


def nothing(open_one, held):
    return None


def opens(open_one, held):
    fd = open_one(1)
    return {fd}, set()


def opens_two_and_closes_the_lower(open_one, held):
    lower, higher = open_one(1), open_one(2)
    os.close(lower)
    return {higher}, set()


def closes(open_one, held):
    os.close(held)
    return set(), {held}


def replaces(open_one, held):
    os.close(held)
    assert open_one(1) == held
    return {held}, {held}


def replaces_and_opens(open_one, held):
    os.close(held)
    assert open_one(1) == held
    return {held, open_one(2)}, {held}


def swaps_with_the_next_free_number(open_one, held):
    # Their listing has the same numbers: that of the listing itself is the free one.
    free = os.dup(held)
    os.close(held)
    return {free}, {held}


def closes_what_it_opens(open_one, held):
    os.close(open_one(1))
    return None


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize(
    "run",
    [nothing, opens, opens_two_and_closes_the_lower, closes, replaces, replaces_and_opens, swaps_with_the_next_free_number, closes_what_it_opens],
)
def test_what_a_run_has_opened_closed_and_replaced_is_found(files, places, run):
    held = files(0)
    look = descriptors.Descriptors(places)
    assert look.look() is None
    wanted = run(files, held)
    assert look.look() == wanted
    assert look.look() == wanted


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_sources_of_random_numbers_may_stay_open_as_far_as_libraries_need_them(places):
    look = descriptors.Descriptors(places)
    opened = []
    try:
        for _ in range(descriptors.MOST_RANDOM):
            opened.append(os.open("/dev/urandom", os.O_RDONLY))
            assert look.look() is None
        opened.append(os.open("/dev/urandom", os.O_RDONLY))
        assert look.look() == ({opened[-1]}, set())
    finally:
        for fd in opened:
            os.close(fd)


def test_an_open_file_has_a_name_for_people(files):
    fd = files(1)
    named = descriptors.Descriptors().describe(fd)
    assert named.endswith("/1") or named == f"descriptor {fd}"
    assert descriptors.Descriptors(()).describe(fd) == f"descriptor {fd}"
