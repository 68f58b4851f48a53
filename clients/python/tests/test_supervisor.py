"""The supervisor of a folder, with a clock of the test in place of the machine's."""

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("needs POSIX", allow_module_level=True)

from simbatch.local import supervisor


def test_the_first_user_has_its_time_from_the_announcement_on_however_long_the_start_takes(folder, monkeypatch):
    now, ticks = [0.0], []

    def pass_time(*_):
        now[0] += 2 * supervisor.FIRST_USER_S

    def tick(_):
        ticks.append(now[0])
        now[0] += supervisor.FIRST_USER_S / 2

    monkeypatch.setattr(supervisor.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(supervisor.signal, "signal", lambda *_: None)
    for name, stub in {"_token": pass_time, "_start_coordinator": pass_time, "_tick": tick, "_end": lambda _: None}.items():
        monkeypatch.setattr(supervisor.Supervisor, name, stub)
    supervisor.Supervisor(folder).run()
    start = 4 * supervisor.FIRST_USER_S
    assert ticks == [start, start + supervisor.FIRST_USER_S / 2]
