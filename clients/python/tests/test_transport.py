"""The HTTP client against servers that refuse, fail, close and delay."""

import json
import time

import pytest

import simbatch as sb
from simbatch.api.transport import Transport, next_cursor

from .conftest import missing

JSON = {"Content-Type": "application/json"}
PROBLEM = {"Content-Type": "application/problem+json"}


def ok(value, **headers):
    return 200, {**JSON, **headers}, json.dumps(value).encode()


def problem(status, code, headers=None, **members):
    body = {"type": "x", "title": code, "status": status, "detail": f"it is {code}", "code": code, **members}
    return status, {**PROBLEM, **(headers or {})}, json.dumps(body).encode()


def test_requests_of_a_thread_share_a_connection(fake):
    fake.answers = [ok({"seed": 9223372036854775807})]
    transport = Transport(fake.url)
    for _ in range(5):
        assert transport.get("/batches")["seed"] == 9223372036854775807
    assert len(fake.connections) == 1


def test_a_closed_idle_connection_is_opened_again(fake):
    fake.answers = [ok({}, Connection="close")]
    transport = Transport(fake.url)
    transport.get("/a")
    transport.get("/b")
    assert len(fake.requests) == 2


@pytest.mark.parametrize("status", [408, 429, 503])
def test_a_passing_refusal_is_repeated_after_its_retry_after(fake, status):
    fake.answers = [problem(status, "unavailable", {"Retry-After": "1"}), ok({"a": 1})]
    begin = time.monotonic()
    assert Transport(fake.url).get("/a") == {"a": 1}
    assert time.monotonic() - begin >= 1


def test_a_lost_answer_is_asked_for_again_when_the_request_is_idempotent(fake):
    fake.answers = [None, ok({"batch_id": "x"})]
    assert Transport(fake.url).post("/jobs", {"a": 1}, idempotency_key="k") == {"batch_id": "x"}
    assert [request[2]["Idempotency-Key"] for request in fake.requests] == ["k", "k"]


def test_a_lost_answer_of_another_post_is_an_error(fake):
    fake.answers = [None, ok({})]
    with pytest.raises(sb.UnreachableError, match="no answer from"):
        Transport(fake.url).post("/jobs", {})
    assert len(fake.requests) == 1


def test_repeating_ends(fake):
    fake.answers = [problem(503, "unavailable")]
    with pytest.raises(sb.ApiError) as caught:
        Transport(fake.url, retry_s=0.5).get("/a")
    assert (caught.value.status, caught.value.code) == (503, "unavailable")
    assert len(fake.requests) > 1


def test_no_coordinator_is_reported_with_its_address():
    with pytest.raises(sb.UnreachableError, match=r"http://127.0.0.1:1: .*refused"):
        Transport("http://127.0.0.1:1", retry_s=0).get("/a")


def test_a_slow_answer_exceeds_the_time_limit(fake):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(sb.UnreachableError, match="timed out"):
            Transport(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2, retry_s=0).get("/a")


def test_the_token_is_sent_and_comes_from_argument_environment_or_file(fake, folder, monkeypatch):
    fake.answers = [ok([])]
    (folder / "token").write_text("from-file\n")

    def sent(**given):
        sb.connect(fake.url, **given).batches()
        return fake.requests[-1][2].get("Authorization")

    assert sent() is None
    monkeypatch.setenv("SVC_TOKEN_FILE", str(folder / "token"))
    assert sent() == "Bearer from-file"
    monkeypatch.setenv("SVC_TOKEN", "from-environment")
    assert sent() == "Bearer from-environment"
    assert sent(token_file=folder / "token") == "Bearer from-file"
    assert sent(token="given") == "Bearer given"
    with pytest.raises(sb.SimbatchError, match="cannot be read"):
        sent(token_file=folder / "absent")
    with pytest.raises(sb.SimbatchError, match="characters that a header cannot hold"):
        sent(token="two\r\nlines")


@pytest.mark.parametrize(
    "endpoint", ["127.0.0.1:7070", "ftp://a", "http://", "http://a:99999", "http://user:secret@a", "http://a?b=c"]
)
def test_an_address_that_cannot_be_used_is_refused(endpoint):
    with pytest.raises(sb.SimbatchError) as caught:
        sb.connect(endpoint)
    assert "secret" not in str(caught.value) or "://" not in str(caught.value).split("secret")[0]


def test_a_problem_becomes_an_error_with_all_its_members(fake):
    fake.answers = [problem(409, "illegal-transition", {"X-Request-Id": "r1"}, errors=[{"pointer": "/a", "detail": "is wrong"}])]
    with pytest.raises(sb.ApiError) as caught:
        Transport(fake.url).get("/a")
    error = caught.value
    assert (error.code, error.request_id, error.detail) == ("illegal-transition", "r1", "it is illegal-transition")
    assert [(fault.pointer, fault.detail) for fault in error.faults] == [("/a", "is wrong")]


def test_a_server_that_is_not_a_coordinator_is_recognised(fake):
    fake.answers = [(502, {"Content-Type": "text/html"}, b"<h1>gateway</h1>")]
    with pytest.raises(sb.ApiError, match="check that the address is that of a simbatch coordinator"):
        Transport(fake.url).get("/a")
    fake.answers = [(200, {"Content-Type": "text/html"}, b"<h1>hello</h1>")]
    with pytest.raises(sb.ApiError, match="not JSON"):
        Transport(fake.url).get("/a")


def test_pages_follow_the_link(fake):
    fake.answers = [ok([1, 2], Link='</jobs?limit=2&cursor=a%2Bb>; rel="next"'), ok([3])]
    assert list(Transport(fake.url).pages("/jobs", {"status": ["Failed", "Timeout"]}, size=2)) == [[1, 2], [3]]
    assert fake.requests[0][1] == "/jobs?status=Failed&status=Timeout&limit=2"
    assert fake.requests[1][1].endswith("cursor=a%2Bb")
    assert next_cursor('</a>; rel="prev"') is None


def test_a_stream_is_read_in_pieces_and_its_errors_are_problems(fake):
    fake.answers = [(200, {}, b"x" * 200_000)]
    assert sum(len(piece) for piece in Transport(fake.url).stream("/a")) == 200_000
    fake.answers = [problem(404, "unknown-batch")]
    with pytest.raises(sb.ApiError, match="unknown-batch"):
        list(Transport(fake.url).stream("/a"))


def test_a_coordinator_that_moved_is_followed(fake):
    fake.answers = [ok({"a": 1})]
    transport = Transport("http://127.0.0.1:1", retry_s=1)
    transport.on_unreachable = lambda: fake.url
    assert transport.get("/a") == {"a": 1}
    assert transport.endpoint == fake.url


def test_threads_do_not_share_a_connection(fake):
    from concurrent.futures import ThreadPoolExecutor

    fake.answers = [ok({"a": 1})]
    transport = Transport(fake.url)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: transport.get("/a"), range(40))) == [{"a": 1}] * 40


def test_https_needs_a_certificate_of_a_known_authority(fake, folder, monkeypatch):
    import shutil
    import ssl
    import subprocess

    if shutil.which("openssl") is None:
        missing("openssl")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    fake.server.socket = context.wrap_socket(fake.server.socket, server_side=True)
    fake.answers = [ok({"a": 1})]
    url = fake.url.replace("http:", "https:")
    with pytest.raises(sb.UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        Transport(url, retry_s=0).get("/a")
    assert Transport(url, ca_file="cert.pem", retry_s=0).get("/a") == {"a": 1}
    assert Transport(url, ca_file="cert.pem").variables == {"NODE_EXTRA_CA_CERTS": "cert.pem"}
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(folder / "cert.pem"))
    assert Transport(url, retry_s=0).get("/a") == {"a": 1}
    with pytest.raises(sb.SimbatchError, match="the CA file key.pem cannot be used"):
        Transport(url, ca_file="key.pem")


STUDIES = [{"id": "a", "name": "one"}, {"id": "b", "name": "two"}]


def test_the_latest_study_is_read_alone(fake):
    fake.answers = [ok(STUDIES[-1:])]
    assert sb.connect(fake.url).open("latest").id == "b"
    assert [request[1] for request in fake.requests] == ["/batches?order=newest&limit=1"]


def test_the_latest_study_of_a_coordinator_without_the_order_is_the_last_of_its_list(fake):
    fake.answers = [problem(400, "malformed-query"), ok(STUDIES)]
    assert sb.connect(fake.url).open("latest").id == "b"
    assert len(fake.requests) == 2


def test_the_latest_study_of_none_is_an_error_and_so_is_a_refusal(fake):
    fake.answers = [ok([])]
    with pytest.raises(sb.SimbatchError, match="no study at .*: submit one first"):
        sb.connect(fake.url).open("latest")
    fake.answers = [problem(403, "forbidden")]
    with pytest.raises(sb.ApiError, match="forbidden"):
        sb.connect(fake.url).open("latest")
    assert len(fake.requests) == 2
