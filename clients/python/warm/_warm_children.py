"""The processes that a server has created for the runner: orders, output and ends, all on the control channel.

Each process has two sockets for its stdout and stderr, of which the server reads the other ends. A chunk of output goes to
the runner as a message with its length, followed by its bytes; the next chunk of that stream is read when the runner has
asked for more, so that a process that writes faster than its log waits, and no other one does.

    <- {"type": "reap", "id"}    the runner sends no more signals to the process or its group, or checks whose pid it is
    <- {"type": "more", "id", "fd"}, {"type": "drop", "id", "fd"}, {"type": "ping"}
    -> {"type": "started", "id", "pid", "start"}, {"type": "unforked", "id", "code"}, {"type": "no-cgroup", "id", "reason"}
    -> {"type": "output", "id", "fd", "bytes"}, {"type": "closed", "id", "fd"}
    -> {"type": "ended", "id", "closed", "reaped", "code" or "signal"}, {"type": "reaped", "id"}, {"type": "pong"}

The server survives SIGTERM, which a cluster sends to every process of an allocation: the runner ends it, after its last run. Its processes get
the signal as a fresh program does.

A process that has ended is a zombie until `reap` has come: while the runner may still signal its group, the kernel gives
its pid to no other process. An order that says `reap` permits that at once: the runner sees by its start, in ticks since boot, whose a pid is.
"""

import _signal
import _socket
import json
import os
import select

CONTROL = 3
CHUNK = 1 << 16
STREAMS = (1, 2)


def close_inherited():
    """Closes all descriptors but the standard ones and the channel: no process of a run inherits what this one inherited."""
    try:
        open_ones = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        open_ones = range(256)
    for fd in open_ones:
        try:
            if fd > CONTROL and os.get_inheritable(fd):
                os.close(fd)
        except OSError:
            pass  # it is not open, as that of the listing


class Stop:
    """SIGTERM: caught by the server, and as before its start in the processes of runs. Create it before anything else."""

    def __init__(self):
        self.before = _signal.signal(_signal.SIGTERM, self._survive)

    @staticmethod
    def _survive(*_):
        pass  # caught, not ignored: a program that is executed gets the default

    def keep(self):
        """After imports, which may have set a handler of their own: a run has it."""
        found = _signal.signal(_signal.SIGTERM, self._survive)
        if found is not self._survive:
            self.before = found

    def fork(self):
        """As os.fork; a signal between the fork and `release` waits for `release`."""
        self.mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGTERM])
        pid = None
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                _signal.pthread_sigmask(_signal.SIG_SETMASK, self.mask)
        return pid

    def release(self):
        """In the process of a run."""
        _signal.signal(_signal.SIGTERM, _signal.SIG_DFL if self.before is None else self.before)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self.mask)


def error_code(error):
    import errno

    return errno.errorcode.get(error.errno or 0, "")


class Children:
    def __init__(self):
        self.pids = {}  # id -> pid, of those not reaped
        self.ended = set()  # ids whose end is reported
        self.at_once = set()  # ids that are reaped when they end
        self.ends = {}  # (id, stream) -> descriptor
        self.streams = {}  # descriptor -> (id, stream)
        self.waiting = set()  # descriptors that are not read until `more`
        self.closed = {}  # id -> streams that ended before the process
        self.messages = []
        self.buffer = b""
        self.restore = None  # the handler of SIGCHLD before
        self.wakeup = ()
        self.poller = select.poll()
        self.can_wait = hasattr(os, "waitid")

    def watch(self):
        """Call before the first process is created."""
        self.restore = _signal.getsignal(_signal.SIGCHLD)
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        self.wakeup = read, write
        _signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        os.set_inheritable(CONTROL, False)
        for fd in (CONTROL, read):
            self.poller.register(fd, select.POLLIN)

    def send(self, **message):
        """Queues a message; `flush` writes it."""
        self.messages.append(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def flush(self):
        data = b"".join(self.messages)
        self.messages.clear()
        while data:
            data = data[os.write(CONTROL, data) :]

    def loop(self, obey):
        """Calls `obey` for orders until it returns something else than None, and returns that; None at the channel's end."""
        while True:
            self.flush()
            orders = children = False
            for fd, _ in self.poller.poll():
                if fd == CONTROL:
                    orders = True
                elif fd == self.wakeup[0]:
                    children = True
                else:
                    self._read(fd)
            if children:
                self._look()
            if orders:
                try:
                    data = os.read(CONTROL, CHUNK)
                except ConnectionError:
                    data = b""
                if not data:
                    self._end_all()
                    return None
                *lines, self.buffer = (self.buffer + data).split(b"\n")
                for line in lines:
                    order = json.loads(line)
                    if not self._obey(order):
                        result = obey(order)
                        if result is not None:
                            return result

    def create(self, order, start):
        """Creates the process of an order by `start(stdout, stderr)`, which returns its pid; 0 in the process itself."""
        number = order["id"]
        pairs = []
        try:
            for _ in STREAMS:
                pairs.append([it.detach() for it in _socket.socketpair()])
            self.flush()
            pid = self._start(order, start, [theirs for _, theirs in pairs])
        except (OSError, ValueError) as error:
            for pair in pairs:
                for fd in pair:
                    os.close(fd)
            self.send(type="unforked", id=number, code=error_code(error) if isinstance(error, OSError) else "EINVAL")
            return None
        if pid == 0:
            for own, _ in pairs:
                os.close(own)
            return 0
        self.pids[number] = pid
        ticks = _start_of(pid) if order.get("reap") else None
        if ticks is not None:
            self.at_once.add(number)
        self.send(type="started", id=number, pid=pid, start=ticks)
        for stream, (own, theirs) in zip(STREAMS, pairs):
            os.close(theirs)
            os.set_blocking(own, False)
            self.ends[number, stream] = own
            self.streams[own] = number, stream
            self.poller.register(own, select.POLLIN)
        return pid

    def _start(self, order, start, streams):
        """The process is born in the run's cgroup: this process, which has one thread, enters it and leaves it again."""
        group = order.get("cgroup")
        if not group:
            return start(*streams)
        try:
            _move(group["directory"])
        except OSError as error:
            self.send(type="no-cgroup", id=order["id"], reason=str(error))
            return start(*streams)
        pid = None
        try:
            pid = start(*streams)
        finally:
            if pid != 0:
                _return(group["home"])
        return pid

    def release(self):
        """In the process of a run: lets go of the server's descriptors."""
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, self.restore if self.restore is not None else _signal.SIG_DFL)
        for fd in (CONTROL, *self.wakeup, *self.streams):
            os.close(fd)

    def _obey(self, order):
        kind = order["type"]
        if kind == "reap":
            if order["id"] in self.ended:
                self._reap(order["id"])
                self.send(type="reaped", id=order["id"])
        elif kind == "more":
            fd = self.ends.get((order["id"], order["fd"]))
            if fd in self.waiting:
                self.waiting.discard(fd)
                self.poller.register(fd, select.POLLIN)
        elif kind == "drop":
            self._close(order["id"], order["fd"])
        elif kind == "ping":
            self.send(type="pong")
        else:
            return False
        return True

    # --- output ------------------------------------------------------------------------------------------------------

    def _read(self, fd):
        number, stream = self.streams[fd]
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.poller.unregister(fd)
            self.waiting.add(fd)
            self.send(type="output", id=number, fd=stream, bytes=len(data))
            self.messages.append(data)
            self.flush()
            return
        self._close(number, stream)
        if number in self.pids and number not in self.ended:
            self.closed.setdefault(number, []).append(stream)
        else:
            self.send(type="closed", id=number, fd=stream)

    def _close(self, number, stream):
        fd = self.ends.pop((number, stream), None)
        if fd is None:
            return
        if fd in self.waiting:
            self.waiting.discard(fd)
        else:
            self.poller.unregister(fd)
        del self.streams[fd]
        os.close(fd)

    # --- ends --------------------------------------------------------------------------------------------------------

    def _look(self):
        try:
            while os.read(self.wakeup[0], 4096):
                pass
        except BlockingIOError:
            pass
        for number, pid in list(self.pids.items()):
            if number in self.ended:
                continue
            ending = self._ending(pid)
            if ending is None:
                continue
            for stream in STREAMS:
                fd = self.ends.get((number, stream))
                if fd is not None and fd not in self.waiting:
                    self._read(fd)
            self.ended.add(number)
            reaped = number in self.at_once
            if reaped:
                self._reap(number)
            self.send(type="ended", id=number, closed=self.closed.pop(number, []), reaped=reaped, **ending)

    def _reap(self, number):
        pid = self.pids.pop(number)
        self.ended.discard(number)
        self.at_once.discard(number)
        if self.can_wait:
            os.waitpid(pid, 0)

    def _ending(self, pid):
        if not self.can_wait:
            # macOS before Python 3.13: the pid is free from here on.
            found, status = os.waitpid(pid, os.WNOHANG)
            if found == 0:
                return None
            if os.WIFSIGNALED(status):
                return {"signal": os.WTERMSIG(status)}
            return {"code": os.WEXITSTATUS(status)}
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return {"code" if found.si_code == os.CLD_EXITED else "signal": found.si_status}

    def _end_all(self):
        for number, pid in self.pids.items():
            if self.can_wait or number not in self.ended:
                # The process before its group, which it may not have made yet, and without which it has no others.
                for kill in (os.kill, os.killpg):
                    try:
                        kill(pid, _signal.SIGKILL)
                    except OSError:
                        pass


def _start_of(pid):
    """The start time of a child that is not reaped; None where there is no /proc."""
    try:
        fd = os.open("/proc/%d/stat" % pid, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(fd, 4096).rpartition(b") ")[2].split()[19].decode()
    finally:
        os.close(fd)


def _move(directory):
    fd = os.open(directory + "/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, b"0")
    finally:
        os.close(fd)


def _return(directory):
    try:
        _move(directory)
    except OSError as error:
        # Inside, this process would be counted and ended with the run.
        raise SystemExit("it could not leave the cgroup of a run: %s" % error) from error
