"""Files of runs: lists, ranges, copies that continue, and files that are never overwritten silently."""

import hashlib
import json
import os

import pytest

import simbatch as sb
from simbatch.api.transport import Transport
from simbatch.batch.batch import Batch
from simbatch.batch.coordinator import Coordinator

BATCH = "01900000-0000-8000-8000-000000000000"
JOB = "01900000-0000-8000-8000-000000000001"
CONTENT = bytes(range(256)) * 300
FILE = {"path": "deep/a b.csv", "kind": "artifact", "bytes": len(CONTENT), "modified_at": "2026-01-02T03:04:05.678Z"}


class Runs:
    """A coordinator that has one run with one file. `cut`: how many bytes of the next answers are sent."""

    def __init__(self, fake):
        self.fake, self.cut, self.version = fake, [], "v1"
        fake.answers = self
        self.batch = Batch(Coordinator(Transport(fake.url, retry_s=0)), BATCH)

    def __len__(self):
        return 1

    def __getitem__(self, _):
        method, path, headers, _ = self.fake.requests[-1]
        assert method == "GET"
        if path.startswith("/jobs?"):
            return self.value([{"id": JOB, "status": "Completed"}])
        if path.startswith(f"/jobs/{JOB}/files?") or path == f"/jobs/{JOB}/files":
            return self.value({"files": [{**FILE, "place": "runner", "address": "/out/x"}], "notes": ["a note"]})
        assert path == f"/jobs/{JOB}/files/deep%2Fa%20b.csv"
        begin, end = 0, len(CONTENT)
        if "Range" in headers:
            first, last = headers["Range"][len("bytes=") :].split("-", 1)
            begin = int(first) if first else end - int(last)
            end = int(last) + 1 if first and last else end
        found = {"ETag": f'"{self.version}"', "Content-Type": "text/csv"}
        return (206 if "Range" in headers else 200), found, CONTENT[begin:end]

    @staticmethod
    def value(value):
        return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


@pytest.fixture
def runs(fake):
    return Runs(fake)


def test_files_are_listed_and_read_in_ranges(runs):
    files = runs.batch.files(0)
    assert [(one.path, one.kind, one.size) for one in files] == [("deep/a b.csv", "artifact", len(CONTENT))]
    assert files.notes == ["a note"]
    one = files["deep/a b.csv"]
    assert one.read() == CONTENT
    assert one.read(10, 20) == CONTENT[10:20]
    assert one.read(-7) == CONTENT[-7:]
    with pytest.raises(KeyError, match="no file 'b'; there are: deep/a b.csv"):
        files["b"]
    assert "deep/a b.csv" in files._repr_html_()


def test_a_copy_has_the_time_of_the_original_and_is_made_once(runs, tmp_path):
    (copy,) = runs.batch.fetch(tmp_path, [0], path="*.csv")
    assert copy == tmp_path / "00000000" / "deep" / "a b.csv"
    assert copy.read_bytes() == CONTENT
    assert copy.stat().st_mtime == pytest.approx(1767323045.678, abs=0.002)
    assert os.listdir(copy.parent) == ["a b.csv"]
    asked = len(runs.fake.requests)
    assert runs.batch.fetch(tmp_path, [0], kind="artifact") == [copy]
    assert not any("a%20b.csv" in path for _, path, _, _ in runs.fake.requests[asked:])
    assert runs.batch.fetch(tmp_path, [0], kind="telemetry") == []


def part_of(copy, version):
    return copy.with_name(f"{copy.name}.{hashlib.sha256(f'{chr(34)}{version}{chr(34)}'.encode()).hexdigest()[:12]}.part")


def test_a_half_copy_is_continued_and_another_version_begins_anew(runs, tmp_path):
    (copy,) = runs.batch.fetch(tmp_path, [0])
    copy.unlink()
    version = runs.batch.files(0)[0]
    part = part_of(copy, "v1")
    part.write_bytes(b"x" * 1000)
    runs.version = "v2"
    version.fetch(tmp_path / "00000000")
    assert copy.read_bytes() == CONTENT
    copy.unlink()
    part_of(copy, "v2").write_bytes(b"x" * 1000)
    version.fetch(tmp_path / "00000000")
    assert copy.read_bytes() == b"x" * 1000 + CONTENT[1000:]


def test_a_file_that_differs_stays(runs, tmp_path):
    (copy,) = runs.batch.fetch(tmp_path, [0])
    copy.write_text("notes")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        runs.batch.fetch(tmp_path, [0])
    assert copy.read_text() == "notes"
    runs.batch.fetch(tmp_path, [0], overwrite=True)
    assert copy.read_bytes() == CONTENT


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a//b", "a/./b", ""])
def test_a_path_that_leaves_its_folder_is_refused(runs, tmp_path, monkeypatch, path):
    monkeypatch.setitem(FILE, "path", path)
    with pytest.raises(sb.SimbatchError, match="leaves the folder"):
        runs.batch.files(0)[0].fetch(tmp_path)
