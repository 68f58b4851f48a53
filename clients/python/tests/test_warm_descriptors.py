"""The look at open descriptors between the runs of one process: exact, in each way that systems list them."""

import contextlib
import importlib.util
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
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


class Files:
    """Opens one of three files by its number; closes all at the end."""

    def __init__(self, folder):
        self.folder, self.opened = folder, []

    def __enter__(self):
        return self

    def __call__(self, number):
        path = self.folder / str(number)
        path.touch()
        self.opened.append(os.open(path, os.O_RDONLY))
        return self.opened[-1]

    def __exit__(self, *_):
        for fd in self.opened:
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.fixture(scope="module")
def alone():
    """A process for what is listed: in that of the tests, threads of other tests open and close files meanwhile."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield process


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


def looks(run, places, is_counting, folder):
    """What is wanted after `run`, and what the look before it and the two after it find."""
    with Files(folder) as open_one:
        held = open_one(0)
        look = descriptors.Descriptors(places)
        look.is_counted &= is_counting
        before = look.look()
        wanted = run(open_one, held)
        return wanted, [before, look.look(), look.look()]


@pytest.mark.parametrize("is_counting", [True, False], ids=["counts where it can", "lists"])
@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize(
    "run",
    [nothing, opens, opens_two_and_closes_the_lower, closes, replaces, replaces_and_opens, swaps_with_the_next_free_number, closes_what_it_opens],
)
def test_what_a_run_has_opened_closed_and_replaced_is_found(alone, places, is_counting, run, tmp_path):
    wanted, found = alone.submit(looks, run, places, is_counting, tmp_path).result()
    assert found == [None, wanted, wanted]


def looks_at_sources(places):
    """What is found as sources of random numbers are opened one by one, and the number of the last."""
    look = descriptors.Descriptors(places)
    with contextlib.ExitStack() as sources:
        found = []
        for _ in range(descriptors.MOST_RANDOM + 1):
            last = os.open("/dev/urandom", os.O_RDONLY)
            sources.callback(os.close, last)
            found.append(look.look())
        return found, last


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_sources_of_random_numbers_may_stay_open_as_far_as_libraries_need_them(alone, places):
    found, last = alone.submit(looks_at_sources, places).result()
    assert found == [None] * descriptors.MOST_RANDOM + [({last}, set())]


def test_an_open_file_has_a_name_for_people(tmp_path):
    with Files(tmp_path) as open_one:
        fd = open_one(1)
        named = descriptors.Descriptors().describe(fd)
        assert named.endswith("/1") or named == f"descriptor {fd}"
        assert descriptors.Descriptors(()).describe(fd) == f"descriptor {fd}"
