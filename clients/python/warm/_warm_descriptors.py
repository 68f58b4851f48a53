"""The open descriptors of a process that executes more runs: those that a run has opened, closed or replaced.

Exact by number and file: after each run the process compares the file of each descriptor with that before it, and counts its descriptors. It
lists them if one was opened, and where the system does not count them.
"""

import os
import stat

# The folders in which systems list the descriptors of a process, the best first.
PLACES = ("/proc/self/fd", "/dev/fd")
# Descriptors that are looked at one by one where there is no such folder.
FIRST = 256
# Sources of random numbers that libraries may keep open.
RANDOM = ("/dev/random", "/dev/urandom")
MOST_RANDOM = 4


class Descriptors:
    """The descriptors that are open now. `places`: folders that may list them."""

    def __init__(self, places=PLACES):
        self.place = next((it for it in places if _is_complete(it)), None)
        self.is_counted = self.place is not None and _is_counted(self.place)
        self.devices = {it.st_rdev for it in map(_status, RANDOM) if it is not None}
        self.spare = MOST_RANDOM
        self._remember()

    def _remember(self):
        self.names = self._names()
        self.files = [(it, _file(it)) for it in self._open_of(self.names)]

    def look(self):
        """What has changed since: (opened, changed), each a set of numbers; None for nothing. A replaced descriptor is in both."""
        changed = self._changed()
        if not changed and self.is_counted and _count(self.place) == len(self.files):
            return None
        names = self._names()
        if not changed and names == self.names:
            return None
        now = set(self._open_of(names))
        new = now - {fd for fd, _ in self.files}
        if not changed and len(new) <= self.spare and all(map(self._is_random, new)):
            self.spare -= len(new)
            self._remember()
            return None
        return new | changed & now, changed

    def _changed(self):
        """The numbers of descriptors that have another file than before, or none. Written out, since it is called after each run."""
        changed = set()
        fstat = os.fstat
        for fd, (device, inode) in self.files:
            try:
                it = fstat(fd)
                if it.st_ino != inode or it.st_dev != device:
                    changed.add(fd)
            except OSError:
                changed.add(fd)
        return changed

    def describe(self, fd):
        """The path of an open descriptor, or its number where the system does not name it."""
        try:
            return os.readlink("%s/%d" % (self.place, fd))
        except OSError:
            return "descriptor %d" % fd

    def _names(self):
        if self.place is None:
            return [it for it in range(FIRST) if _file(it) is not None]
        return os.listdir(self.place)

    def _open_of(self, names):
        """The open descriptors of a listing, without that of the listing itself."""
        return [it for it in sorted(map(int, names)) if _file(it) is not None]

    def _is_random(self, fd):
        status = _status(fd)
        return status is not None and stat.S_ISCHR(status.st_mode) and status.st_rdev in self.devices


def _is_complete(place):
    """Whether the folder lists the descriptors of this process: in some systems it has the first three alone."""
    fd = os.dup(0)
    try:
        high = _high(fd)
        try:
            return {"0", str(fd), str(high)} <= set(os.listdir(place))
        finally:
            os.close(high)
    except OSError:
        return False
    finally:
        os.close(fd)


def _count(place):
    """The size of the folder: Linux gives it the number of descriptors from version 6.2 on, and 0 before."""
    return os.stat(place).st_size


def _is_counted(place):
    before = _count(place)
    fd = os.dup(0)
    try:
        return before > 0 and _count(place) == before + 1
    finally:
        os.close(fd)


def _high(fd):
    """A copy of the descriptor with a number that is not the next one."""
    between = os.dup(fd)
    try:
        return os.dup(fd)
    finally:
        os.close(between)


def _status(place):
    """Of a descriptor or a path; None where there is none."""
    try:
        return os.stat(place)
    except OSError:
        return None


def _file(fd):
    """The identity of the file of a descriptor; None where it is closed."""
    try:
        it = os.fstat(fd)
    except OSError:
        return None
    return it.st_dev, it.st_ino
