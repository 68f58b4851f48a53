"""Fixtures that the tests share: folders of their own, the program where it is needed, servers that play a coordinator."""

import os
import shutil
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import simbatch as sb
from simbatch.batch.batch import ENDED
from simbatch.local.embedded import embedded
from simbatch.local.program import find_program

PACKAGE = Path(__file__).resolve().parents[1]

# Tests with a coordinator that are run on each Python: they pickle, start interpreters and call from threads.
ON_EACH_PYTHON = (
    "test_a_function_is_executed_for_every_run_and_answers_are_there",
    "test_a_notebook_executes_what_is_new_alone",
    "test_histories_of_a_continued_study_have_the_runs_of_all_its_batches",
    "test_interpreters_execute_many_runs_each",
    "test_points_are_executed_once_and_come_back_in_order",
    "test_threads_programs_and_coroutines_ask_for_the_same_points_at_once",
)


def pytest_collection_modifyitems(items):
    """Marks the tests that need a coordinator; on a second Python most of them repeat those on the first."""
    names = {item.originalname for item in items}
    unknown = [name for name in ON_EACH_PYTHON if len(names) > 100 and name not in names]
    if unknown:
        raise pytest.UsageError(f"no test is named {', '.join(unknown)}")
    for item in items:
        if not {"folder", "lab"}.isdisjoint(item.fixturenames) and item.originalname not in ON_EACH_PYTHON:
            item.add_marker("coordinator")


def missing(reason):
    """Skips a test; a failure where everything is demanded."""
    if os.environ.get("SIMBATCH_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} is needed")
    pytest.skip(f"{reason} is needed")


def package(name):
    """An optional package; without it the test is skipped."""
    try:
        return __import__(name)
    except ImportError:
        return missing(name)


NOTEBOOK_S = 400
"""For the execution of one cell, on a busy machine too."""


@pytest.fixture
def notebook_client(monkeypatch):
    """`notebook_client(notebook, folder)`: nbclient's executor of a notebook in a folder, with this package.

    Its kernel has sockets in the file system: a port that Jupyter found free may be taken a moment later.
    """
    for name in ("nbclient", "ipykernel", "cloudpickle", "pandas"):
        package(name)
    from nbclient import NotebookClient
    from traitlets.config import Config

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
    # The path of a socket has at most about 100 characters.
    place = tempfile.mkdtemp(prefix="kernel-")
    config = Config({"ConnectionFileMixin": {"transport": "ipc", "ip": os.path.join(place, "socket")}})

    def client(notebook, folder):
        return NotebookClient(notebook, timeout=NOTEBOOK_S, resources={"metadata": {"path": str(folder)}}, config=config)

    yield client
    shutil.rmtree(place)


@pytest.fixture
def program():
    """The command line of `simbatch`."""
    try:
        return find_program()
    except sb.ProgramNotFoundError:
        return missing("the program simbatch")


def work_in(place, monkeypatch):
    """Makes a folder the working directory; no variable names another coordinator."""
    monkeypatch.chdir(place)
    for name in ("SVC_ENDPOINT", "SVC_TOKEN", "SVC_TOKEN_FILE", "NODE_EXTRA_CA_CERTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory. A coordinator in it is ended: for tests of its start, its end or what it finds on the disk."""
    work_in(tmp_path, monkeypatch)
    yield tmp_path
    if (tmp_path / ".simbatch").exists():
        sb.stop(tmp_path / ".simbatch")


@pytest.fixture(scope="session")
def shared_place(tmp_path_factory):
    """The folder of the one coordinator that most tests share: its start takes longer than what they ask of it."""
    place = tmp_path_factory.mktemp("lab")
    yield place
    if (place / ".simbatch").exists():
        sb.stop(place / ".simbatch")


@pytest.fixture
def lab(program, shared_place, monkeypatch):
    """A working directory without files and studies, with the coordinator and the runner of the test before."""
    work_in(shared_place, monkeypatch)
    yield shared_place
    if (shared_place / ".simbatch").exists():
        forget_studies(embedded(shared_place / ".simbatch").coordinator())
    for path in shared_place.iterdir():
        if path.name == ".simbatch":
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def forget_studies(coordinator):
    """Ends and deletes all studies, the newest first: a study is deleted after its extensions and its audits."""
    end = time.monotonic() + 120
    for batch in reversed(coordinator.batches()):
        if batch.refresh()["batch"]["status"] not in ENDED:
            batch.cancel()
        while batch.refresh()["batch"]["status"] not in ENDED:
            assert time.monotonic() < end, f"a cancelled study does not end: {batch.resource}"
            time.sleep(0.02)
        batch.delete()
    assert list(coordinator.batches()) == []


class FakeCoordinator:
    """Answers each request with the next of `answers`: (status, headers, body), or None to close the connection."""

    def __init__(self):
        self.answers, self.requests, self.connections = [], [], set()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_request(self):
                size = int(self.headers.get("content-length") or 0)
                fake.connections.add(self.client_address)
                fake.requests.append((self.command, self.path, dict(self.headers), self.rfile.read(size)))
                answer = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = handle_request

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def fake():
    """A server that plays a coordinator."""
    made = FakeCoordinator()
    yield made
    made.server.shutdown()
    made.server.server_close()
