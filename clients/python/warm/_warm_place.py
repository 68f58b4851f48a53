"""The output directory and the configuration file of a run, made when the run first asks for them: a function of a millisecond seldom does.

A run asks by `run.output_dir`, by reading SVC_OUTPUT_DIR or SVC_RUN_CONFIG from `os.environ`, and by starting a process, which inherits
these variables. Not noticed: C code that reads them in the process itself.
"""

import _thread
import os
import sys
import time

UNREAD_NS = 1_000_000_000
STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec"))
# Made by the runner beside the run.
OF_RUNNER = frozenset(("stdout.log", "stderr.log", "telemetry.parquet", "telemetry.journal"))


class Place:
    """Of one run. `environment`: the variables that it was given; `outputs`: the text of its outputs, where they have no file."""

    def __init__(self, order):
        self.environment = environment = order["env"]
        self.directory = environment["SVC_OUTPUT_DIR"]
        self.config_path = environment["SVC_RUN_CONFIG"]
        self.config = order["config"]
        self.is_made = False
        # Why it could not be made.
        self.fault = None
        self.outputs = None
        # Called when it is made.
        self.on_made = None
        self.lock = _thread.allocate_lock()

    def make(self):
        """Makes the directory and the file, once. Raises OSError, also for a directory with files of another run."""
        with self.lock:
            if self.is_made:
                return
            try:
                self._make()
            except OSError as error:
                self.fault = error
                raise
            self.is_made = True
        if self.on_made is not None:
            self.on_made()

    def _make(self):
        parent = os.path.dirname(self.directory)
        try:
            os.mkdir(parent)
        except FileExistsError:
            pass
        except FileNotFoundError:
            os.makedirs(parent, exist_ok=True)
        try:
            os.mkdir(self.directory)
        except FileExistsError:
            if not OF_RUNNER.issuperset(os.listdir(self.directory)):
                raise
        fd = os.open(self.config_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            data = self.config.encode()
            while data:
                data = data[os.write(fd, data) :]
            # The access time of a run configuration that nothing has read.
            os.utime(fd, ns=(UNREAD_NS, time.time_ns()))
        finally:
            os.close(fd)


class Watch:
    """Makes the place of the current run as soon as the run can know of it."""

    def __init__(self):
        self.place = None
        self.paths = ()
        for environ in (os.environ, os.environb):
            environ.decodevalue = self._noticing(environ.decodevalue)
        sys.addaudithook(self._audit)

    def begin(self, place):
        self.paths = os.fsencode(place.directory), os.fsencode(place.config_path)
        self.place = place

    def end(self):
        self.place = None
        self.paths = ()

    def _noticing(self, decode):
        def decoded(value):
            if value in self.paths:
                self._ask()
            return decode(value)

        return decoded

    def _audit(self, event, _):
        if event in STARTS:
            self._ask()

    def _ask(self):
        place = self.place
        if place is not None:
            place.make()
