"""A worker: one process that executes run after run of a study with `isolation: shared`.

It is a fork of the server like the process of a run, and has four connections of its own to the runner: for orders, for messages, and
for the stdout and the stderr of its runs. The runner feeds it ahead:

    <- {"id", "env", "seed", "config", "on_demand"}, JSON lines: the runs that may come; `config`: the text of the run configuration;
       `on_demand`: its directory and its file are made when the run asks for them
    <- the number of a run as eight bytes, in a named pipe: its reader has the run, so that the runner can take back
       a run that has not begun
    -> {"id", "code", "ms", "restored", "left", "outputs", "metadata", "reads", "last"}, a JSON line for each run that has ended;
       `outputs`: the text of the outputs of a run without a directory, or null; `metadata`: the text of `metadata.json` if that is the
       only file of the run, null for no file, absent if the runner has to look; `reads`: the parameters that it looked up, absent where
       that is not known; `last`: the worker ends
    -> {"id", "fault", "code"}: the directory of the run could not be made
    -> {"id", "stale"}: a file of the program has changed, the run has not begun and the worker ends

After each run the mark of the worker with the number of the run follows its output on both connections. A run that ends the process
has no message: its output ends with the connections, and the runner learns of the end from the server.
"""

import _socket
import gc
import json
import os
import stat
import sys
import time
from _collections import deque
from _contextvars import copy_context

import _warm_children as children
import _warm_place as places
import _warm_run as runs
import _warm_seed as seeds
import _warm_traces as traces

# The runner's own tolerance for a changed entrypoint.
FILES_LOOK_S = 0.02
# At most this share of the time.
FILES_LOOK_SHARE = 0.005
MEMORY_LOOK_S = 0.05
NUMBER_BYTES = 8
CHUNK = 1 << 16
MOST_METADATA_BYTES = 1 << 16
# A leak that no check sees is bounded: a new worker is a fork away.
MOST_RUNS = 10_000
MOST_GROWTH_BYTES = 256 << 20
# The same as a share of the memory limit, so that no run meets the limit for what others have left.
MOST_GROWTH_SHARE = 0.25
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
STREAMS = {"stdout": 1, "stderr": 2}
# The functions of the module `json` choose them anew in each call. The text is the runner's: it begins with the value and ends with it.
_decode = json.JSONDecoder().raw_decode
_encode = json.JSONEncoder(separators=(",", ":")).encode


def serve(server, order):
    """Executes runs until the runner wants no more; returns the exit code of the process, or ends it."""
    runs.set_up(server, order)
    gc.enable()
    try:
        return Worker(server, order["worker"]).loop()
    except (ConnectionError, EOFError):
        # The runner has gone, and takes no outcome.
        os._exit(0)


class Worker:
    """`given`: socket (path), pipe (path), token, memory (limit in bytes, or None)."""

    def __init__(self, server, given):
        self.server = server
        self.pid = os.getpid()
        self.token = given["token"].encode()
        self.ends = []
        for name, fd in STREAMS.items():
            end = self._connect(given["socket"], name)
            os.dup2(end, fd)
            self.ends.append(end)
        os.mkfifo(given["pipe"], 0o600)
        self.incoming = self._connect(given["socket"], "orders")
        self.channel = self._connect(given["socket"], "messages")
        # Opens as soon as the runner has opened its side, which leaves the name until then.
        self.pipe = os.open(given["pipe"], os.O_RDONLY | os.O_CLOEXEC)
        os.unlink(given["pipe"])
        # The work of other runs depends on them, and a run may close, replace or change any descriptor.
        self.own = [(fd, _identity(fd)) for fd in (self.incoming, self.channel, self.pipe, *self.ends)]
        # As they came: hundreds of objects would be visited by each collection.
        self.orders = deque()
        self.buffer = b""
        self.next_look = 0.0
        self.next_memory_look = 0.0
        self.first_bytes = None
        limit = given.get("memory")
        self.most_growth = MOST_GROWTH_BYTES if limit is None else min(MOST_GROWTH_BYTES, int(limit * MOST_GROWTH_SHARE))
        self.runs = 0

    def _connect(self, path, kind):
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(path)
        fd = connection.detach()
        os.set_inheritable(fd, False)
        _write(fd, self.token + b" " + kind.encode() + b"\n")
        return fd

    def loop(self):
        before = traces.Traces(self.server.globals_before)
        watch = places.Watch()
        gc.collect()
        gc.freeze()
        while True:
            number = os.read(self.pipe, NUMBER_BYTES)
            if len(number) < NUMBER_BYTES:
                os._exit(0)
            order = self._order(int.from_bytes(number, "little"))
            path = self._changed_file()
            if path is not None:
                self._send(id=order["id"], stale=path)
                os._exit(0)
            environment = before.enter(order["env"])
            place = places.Place(order)
            if order.get("on_demand"):
                watch.begin(place)
            else:
                try:
                    place.make()
                except OSError:
                    self._mark(order["id"])
                    self._send(id=order["id"], **_fault(place))
                    continue
            began = time.perf_counter()
            status, signal = self._execute(order, place)
            if signal is not None or os.getpid() != self.pid:
                # A child of the run that came to here is not the worker, and ends as a program does.
                before.leave()
                return runs.end(self.server, status, signal)
            self.runs += 1
            found = self._look(before, environment)
            watch.end()
            # The descriptors of the process were compared, and its own are among them.
            if found.left and not self._is_connected():
                _say("the run closed or replaced a connection of its process to the runner, such as with os.closerange")
                os._exit(1)
            if not (os.get_blocking(self.incoming) and os.get_blocking(self.channel) and os.get_blocking(self.pipe)):
                found.left.append("changed the blocking mode of a connection of its process to the runner")
            ms = round((time.perf_counter() - began) * 1000, 3)
            last = bool(found.left) or self.runs >= MOST_RUNS or self._has_grown()
            self._mark(order["id"])
            message = {"id": order["id"], "code": status, "ms": ms, "restored": found.restored, "left": found.left, "last": last}
            if found.reads is not None:
                message["reads"] = found.reads
            if place.fault is not None:
                message = {"id": order["id"], **_fault(place)}
            elif place.is_made:
                message.update(_metadata_of(place.directory))
            else:
                message["outputs"] = place.outputs
            self._send(**message)
            if last:
                # Not by the interpreter's own end, which waits for what the run has left.
                os._exit(0)

    @staticmethod
    def _look(before, environment):
        try:
            reads = traces.finish()
            found = before.look(environment)
            found.reads = reads
            return found
        except BaseException as error:
            # The run has ended, and is not judged by what it has made of its process.
            found = traces.Found()
            found.left.append("left its process in a state that cannot be looked at: %s: %s" % (type(error).__name__, error))
            return found

    def _execute(self, order, place):
        seeds.seed(order["seed"])
        traces.begin_run(place, order.get("on_demand", False))
        sys.modules["__main__"] = runs.main_module(self.server.entrypoint)
        # With context variables of its own.
        return copy_context().run(runs.run, self.server.code, self.server.entrypoint)

    def _is_connected(self):
        try:
            return all(_identity(fd) == identity for fd, identity in self.own)
        except OSError:
            return False

    # --- messages ------------------------------------------------------------------------------------------------------

    def _order(self, number):
        """The order with this number, which comes before it; those before it were taken back."""
        while True:
            while not self.orders:
                data = os.read(self.incoming, CHUNK)
                if not data:
                    raise EOFError
                *lines, self.buffer = (self.buffer + data).split(b"\n")
                self.orders.extend(lines)
            order, _ = _decode(self.orders.popleft().decode())
            if order["id"] == number:
                return order

    def _mark(self, number):
        mark = b"\0%s %d\n" % (self.token, number)
        for end in self.ends:
            _write(end, mark)

    def _send(self, **message):
        _write(self.channel, _encode(message).encode() + b"\n")

    def _has_grown(self):
        """Whether more memory is in use than after the first run, which imports what it needs: what runs have left adds up."""
        now = time.monotonic()
        if now < self.next_memory_look:
            return False
        self.next_memory_look = now + MEMORY_LOOK_S
        used = _resident_bytes()
        if self.first_bytes is None:
            self.first_bytes = used
        return used - self.first_bytes > self.most_growth

    def _changed_file(self):
        now = time.monotonic()
        if now < self.next_look:
            return None
        path = self.server.changed_file()
        ended = time.monotonic()
        self.next_look = ended + max(FILES_LOOK_S, (ended - now) / FILES_LOOK_SHARE)
        return path


def _resident_bytes():
    """The memory of this process that is in use; 0 where the system does not show it."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except OSError:
        return 0


def _identity(fd):
    found = os.fstat(fd)
    return found.st_dev, found.st_ino


def _say(text):
    try:
        os.write(2, text.encode() + b"\n")
    except OSError:
        pass


def _write(fd, data):
    while data:
        data = data[os.write(fd, data) :]


def _fault(place):
    return {"fault": str(place.fault), "code": children.error_code(place.fault)}


def _metadata_of(directory):
    """The content of the directory, where it is nothing or one small file of outputs."""
    try:
        names = os.listdir(directory)
        if not names:
            return {"metadata": None}
        if names != ["metadata.json"]:
            return {}
        fd = os.open(directory + "/metadata.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return {}
            data = os.read(fd, MOST_METADATA_BYTES)
        finally:
            os.close(fd)
        return {"metadata": data.decode()} if len(data) < MOST_METADATA_BYTES else {}
    except (OSError, ValueError):
        return {}
