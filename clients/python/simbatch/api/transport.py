"""One HTTP client on the standard library: kept-alive connections, retries of idempotent requests, time limits, TLS, token."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import ssl
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, unquote_plus, urlencode, urlsplit

from .._variables import variable
from ..errors import SimbatchError, UnreachableError
from .answer import Answer
from .problems import error_of

DEFAULT_ENDPOINT = "http://127.0.0.1:7070"
DEFAULT_TIMEOUT_S = 30.0
# How long an idempotent request is repeated, with the waits between the attempts.
DEFAULT_RETRY_S = 30.0
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_RETRIED_STATUS = (408, 429, 503)
_CHUNK = 65536

Query = Mapping[str, Any]
PathLike = Union[str, "os.PathLike[str]"]


class Transport:
    """Exchanges with one coordinator. Threads may share it: each has a connection of its own.

    Environment proxies are not used: a coordinator is reached directly.
    """

    def __init__(
        self,
        endpoint: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Optional[PathLike] = None,
        ca_file: Optional[PathLike] = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retry_s: float = DEFAULT_RETRY_S,
    ) -> None:
        """See `simbatch.connect`; `token` was read from `token_file`, where both are given. Raises SimbatchError for an address, a token or a CA file that cannot be used."""
        self.endpoint = (endpoint or variable("ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
        self.timeout_s = timeout_s
        self.retry_s = retry_s
        self.on_unreachable: Optional[Callable[[], Optional[str]]] = None
        """Called once when a request finds no coordinator; returns the address to repeat it at, or None."""
        self._token = _checked(token)
        self._token_file = token_file
        self._local = threading.local()
        self._read_address()
        self._ca_file = ca_file
        self._tls = _tls_context(ca_file) if self._is_tls else None

    def __reduce__(self) -> Tuple[Any, ...]:
        """Another process opens connections of its own. The credential is not in a pickle: the process reads it where this one did."""
        if self._token is not None and self._token_file is None and credential(None, None) != self._token:
            raise TypeError(
                "a connection whose credential was given as token= cannot be pickled, since the pickle would have the credential in it; "
                "give it as token_file=, SIMBATCH_TOKEN or SIMBATCH_TOKEN_FILE, or use threads"
            )
        return _again, (self.endpoint, self._token_file, self._ca_file, self.timeout_s, self.retry_s)

    def _read_address(self) -> None:
        try:
            parts = urlsplit(self.endpoint)
            port = parts.port
        except ValueError as error:
            raise SimbatchError(f"the endpoint {self.endpoint!r} is not an address: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise SimbatchError(
                f"the endpoint {self.endpoint!r} is not an http(s) address; give one, e.g. {DEFAULT_ENDPOINT}"
            )
        if parts.username or parts.password:
            raise SimbatchError("the endpoint has a user or a password in it; give the credential as token=")
        self._is_tls, self._host, self._port, self._base = parts.scheme == "https", parts.hostname, port, parts.path

    @property
    def variables(self) -> Dict[str, str]:
        """The environment with which the program `simbatch` has the same credential and trusts the same certificates."""
        token = {} if self._token is None else {"SVC_TOKEN": self._token}
        return token if self._ca_file is None else {**token, "NODE_EXTRA_CA_CERTS": os.fspath(self._ca_file)}

    def move(self, endpoint: str) -> None:
        """Continues with the coordinator at another address."""
        self.endpoint = endpoint.rstrip("/")
        self._read_address()
        self.close()

    def get(self, path: str, query: Optional[Query] = None, *, extra_s: float = 0) -> Any:
        """The value of a GET."""
        return self.send("GET", path, query, extra_s=extra_s).json()

    def post(self, path: str, body: Any = None, *, idempotency_key: Optional[str] = None, repeat: bool = False) -> Any:
        """The value of a POST; repeated after a lost answer only with a key, or with `repeat` if it is idempotent."""
        return self.send("POST", path, body=body, idempotency_key=idempotency_key, repeat=repeat).json()

    def send(
        self,
        method: str,
        path: str,
        query: Optional[Query] = None,
        *,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        repeat: bool = False,
        extra_s: float = 0,
    ) -> Answer:
        """One request and its answer, of any status below 400.

        GET, PUT and DELETE, a request with `idempotency_key`, and any with `repeat`, is repeated when there is no answer or one
        of 408, 429 and 503, for up to `retry_s` seconds and not before `Retry-After`. `extra_s` adds to the time limit.
        Raises ApiError and UnreachableError.
        """
        sent = {**(headers or {})}
        if idempotency_key is not None:
            sent["Idempotency-Key"] = idempotency_key
        idempotent = repeat or idempotency_key is not None or method in ("GET", "PUT", "DELETE")
        end, pause, asked = time.monotonic() + self.retry_s, _FIRST_PAUSE_S, False
        while True:
            failure: Exception
            wait = pause * (0.5 + random.random())
            try:
                answer = self._exchange(method, path, query, body, sent, self.timeout_s + extra_s)
                if answer.status < 400:
                    return answer
                failure = error_of(answer, path)
                if answer.status not in _RETRIED_STATUS:
                    raise failure
                wait = max(wait, _seconds(answer.headers.get("retry-after")))
            except UnreachableError as error:
                failure = error
                moved = self.on_unreachable() if idempotent and not asked and self.on_unreachable else None
                if moved is not None:
                    asked, wait = True, 0.0
                    end = time.monotonic() + self.retry_s
                    self.move(moved)
            if not idempotent or time.monotonic() + wait > end:
                raise failure
            time.sleep(wait)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def stream(self, path: str, query: Optional[Query] = None, *, accept: str = "*/*") -> Iterator[bytes]:
        """The body of a GET in pieces, on a connection of its own. Not repeated. Raises as `send`."""
        yield from self.open(path, query, headers={"Accept": accept})[1]

    def open(
        self, path: str, query: Optional[Query] = None, *, headers: Optional[Mapping[str, str]] = None
    ) -> Tuple[Dict[str, str], Iterator[bytes]]:
        """The headers of the answer to a GET, names in lower case, and its body in pieces, on a connection of its own. Not repeated. Raises as `send`."""
        pieces = self._opened(path, query, {"Accept": "*/*", **(headers or {})})
        found = next(pieces)
        assert isinstance(found, dict)
        return found, pieces  # type: ignore[return-value]

    def _opened(self, path: str, query: Optional[Query], headers: Mapping[str, str]) -> Iterator[Union[Dict[str, str], bytes]]:
        connection = self._connect(self.timeout_s)
        try:
            try:
                response = self._request(connection, "GET", path, query, None, headers)
            except OSError:
                moved = self.on_unreachable() if self.on_unreachable is not None else None
                if moved is None:
                    raise
                self.move(moved)
                connection = self._connect(self.timeout_s)
                response = self._request(connection, "GET", path, query, None, headers)
            if response.status >= 400:
                raise error_of(Answer(response.status, dict(response.getheaders()), response.read()), path)
            yield {name.lower(): value for name, value in response.getheaders()}
            while True:
                piece = response.read(_CHUNK)
                if not piece:
                    return
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def pages(self, path: str, query: Optional[Query] = None, *, size: int = 1000) -> Iterator[Any]:
        """The values of a list, page after page."""
        position: Optional[str] = None
        while True:
            asked = {**(query or {}), "limit": size, **({} if position is None else {"cursor": position})}
            answer = self.send("GET", path, asked)
            yield answer.json()
            position = next_cursor(answer.headers.get("link", ""))
            if position is None:
                return

    def close(self) -> None:
        """Closes this thread's connection. The next request opens another."""
        connection: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _exchange(
        self, method: str, path: str, query: Optional[Query], body: Any, headers: Mapping[str, str], timeout_s: float
    ) -> Answer:
        kept: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        if getattr(self._local, "pid", None) != os.getpid():  # a forked process must not write to its parent's connection
            kept = None
            self._local.pid = os.getpid()
        connection = kept or self._connect(timeout_s)
        self._local.connection = connection
        if connection.sock is not None:
            connection.sock.settimeout(timeout_s)
        try:
            try:
                response = self._request(connection, method, path, query, body, headers)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                if kept is None or method != "GET":
                    raise
                # The server has closed a connection that was idle; nothing was answered.
                connection.close()
                response = self._request(connection, method, path, query, body, headers)
            data = response.read()
            if response.will_close:
                self.close()
            return Answer(response.status, dict(response.getheaders()), data)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error
        except BaseException:  # Ctrl-C between request and answer: the connection cannot be used again
            self.close()
            raise

    def _request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        query: Optional[Query],
        body: Any,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        sent: Dict[str, str] = {"Accept": "application/json", "User-Agent": "simbatch-python", **headers}
        if self._token is not None:
            sent["Authorization"] = f"Bearer {self._token}"
        data: Optional[bytes] = None
        if body is not None:
            data = json.dumps(body, allow_nan=False, ensure_ascii=False).encode("utf-8")
            sent["Content-Type"] = "application/json"
        connection.request(method, self._base + path + _query_text(query), body=data, headers=sent)
        return connection.getresponse()

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._is_tls:
            self._tls = self._tls or _tls_context(self._ca_file)
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout_s, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)

    def _unreachable(self, error: Exception) -> UnreachableError:
        why = str(error) or type(error).__name__
        return UnreachableError(f"no answer from {self.endpoint}: {why}; start it with `simbatch serve`, or check the address")


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


def next_cursor(link: str) -> Optional[str]:
    """The cursor in `Link: <...>; rel="next"` (RFC 8288)."""
    found = re.search(r'<[^>]*[?&]cursor=([^&>]*)[^>]*>\s*;[^,]*\brel="?next"?', link)
    if found is None:
        return None
    return unquote_plus(found.group(1))


def _query_text(query: Optional[Query]) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in (query or {}).items():
        if value is None:
            continue
        for item in value if isinstance(value, (list, tuple)) else [value]:
            text = str(item).lower() if isinstance(item, bool) else str(item)
            # A comma separates values, unless the parameter takes one text.
            pairs.append((name, text))
    return f"?{urlencode(pairs)}" if pairs else ""


def _seconds(text: Optional[str]) -> float:
    return float(text) if text is not None and re.fullmatch(r"\d+", text) else 0.0


def credential(token: Optional[str], token_file: Optional[PathLike]) -> Optional[str]:
    """The first that is given of: `token`, `token_file`, SIMBATCH_TOKEN, SIMBATCH_TOKEN_FILE. Raises SimbatchError for an unreadable file."""
    if token is None and token_file is None:
        token = variable("TOKEN") or None
        token_file = None if token else variable("TOKEN_FILE") or None
    if token is None and token_file is not None:
        try:
            return Path(token_file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SimbatchError(f"the token file {os.fspath(token_file)} cannot be read: {error.strerror}") from error
    return token


def _again(endpoint: str, token_file: Optional[PathLike], ca_file: Optional[PathLike], timeout_s: float, retry_s: float) -> Transport:
    """The transport of a pickle."""
    token = credential(None, token_file)
    return Transport(endpoint, token=token, token_file=token_file, ca_file=ca_file, timeout_s=timeout_s, retry_s=retry_s)


def _checked(token: Optional[str]) -> Optional[str]:
    if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
        raise SimbatchError("the token is empty or has characters that a header cannot hold; copy it again")
    return token


def _tls_context(ca_file: Optional[PathLike]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    path = ca_file or os.environ.get("NODE_EXTRA_CA_CERTS") or None
    if path is not None:
        try:
            context.load_verify_locations(os.fspath(path))
        except OSError as error:  # ssl.SSLError is one
            text = f"the CA file {os.fspath(path)} cannot be used: {error}; give a file of certificates in PEM"
            raise SimbatchError(text) from error
    return context
