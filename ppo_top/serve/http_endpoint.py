"""HTTP for Prometheus and for probes: answers from what is in memory, and nothing else."""

from __future__ import annotations

import hmac
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, ThreadingMixIn
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.serve.exposition import Rendered, ScrapeRequest

REQUEST_TIMEOUT_S = 10.0
MAX_REQUESTS_AT_ONCE = 16
MAX_NAMES = 100
"""Names of metrics (`name[]`) in one request."""

PLAIN_TEXT = "text/plain; charset=utf-8"

TextAnswer = tuple[int, str]
"""Status code and text."""


class Pages(NamedTuple):
    """What is answered: to scrapes, to both probes, and at the root."""

    metrics: Callable[[ScrapeRequest], Rendered]
    healthy: Callable[[], TextAnswer]
    ready: Callable[[], TextAnswer]
    landing: Callable[[], str]


class HttpEndpoint(ThreadingMixIn, BaseServer):
    """Serves `pages` on a listening socket, some requests at once, each for a limited time.

    With a `token` only those who send it get metrics. Probes need none: they say yes or no.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        listener: socket.socket,
        pages: Pages,
        tls: ssl.SSLContext | None = None,
        token: str = "",
    ) -> None:
        super().__init__(listener.getsockname(), _RequestHandler)
        self.pages, self.token = pages, token
        self._listener, self._tls = listener, tls
        self._slots = threading.BoundedSemaphore(MAX_REQUESTS_AT_ONCE)
        self._thread = threading.Thread(target=self._serve, name="ppo-top-http", daemon=True)

    def start(self) -> None:
        """Begin to answer, in threads of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, without waiting for requests that are being answered."""
        self.shutdown()
        self._listener.close()

    def _serve(self) -> None:
        self.serve_forever(poll_interval=0.1)

    # --- what `BaseServer` asks for ----------------------------------------------------------

    def fileno(self) -> int:
        return self._listener.fileno()

    def get_request(self) -> tuple[socket.socket, Any]:
        request, address = self._listener.accept()
        request.settimeout(REQUEST_TIMEOUT_S)
        if self._tls is not None:  # the first byte brings the handshake, in the request's thread
            request = self._tls.wrap_socket(
                request, server_side=True, do_handshake_on_connect=False
            )
        return request, address

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread can be started: none will release it
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        # The time limit of a socket is that of one byte: this one is that of the whole request.
        limit = threading.Timer(REQUEST_TIMEOUT_S, _shut_down, [request])
        limit.daemon = True
        try:
            limit.start()
            super().process_request_thread(request, client_address)
        except RuntimeError:  # no thread for the limit: an answer without one could take for ever
            self.shutdown_request(request)
        finally:
            limit.cancel()
            self._slots.release()

    def shutdown_request(self, request: Any) -> None:
        _shut_down(request, socket.SHUT_WR)
        request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away or has no certificate."""


def _shut_down(request: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    """End a connection; if it is encrypted, the one below, which does not wait for the peer."""
    with suppress(OSError):
        socket.socket.shutdown(request, how)


class _RequestHandler(BaseHTTPRequestHandler):
    """One request; with HTTP/1.0 a connection is one."""

    server: HttpEndpoint
    server_version = "ppo-top"
    sys_version = ""
    timeout = REQUEST_TIMEOUT_S

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/metrics":
            self._metrics(url.query)
        elif url.path == "/-/healthy":
            self._text(*self.server.pages.healthy())
        elif url.path == "/-/ready":
            self._text(*self.server.pages.ready())
        elif url.path == "/":
            self._text(200, self.server.pages.landing())
        else:
            self._text(404, "not found: see /metrics")

    do_HEAD = do_GET

    def _metrics(self, query: str) -> None:
        if not self._is_allowed():
            self._text(401, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
            return
        try:
            names = parse_qs(query, max_num_fields=MAX_NAMES).get("name[]", [])
        except ValueError:
            self._text(400, f"at most {MAX_NAMES} names")
            return
        found = self.server.pages.metrics(
            ScrapeRequest(
                self.headers.get("Accept", ""),
                self.headers.get("Accept-Encoding", ""),
                tuple(sorted(names)),
            )
        )
        encoding = {"Content-Encoding": found.encoding} if found.encoding else {}
        self._send(
            200, found.content_type, found.body, {**encoding, "Vary": "Accept, Accept-Encoding"}
        )

    def _is_allowed(self) -> bool:
        given = self.headers.get("Authorization", "")
        wanted = f"Bearer {self.server.token}"
        same = hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
        return same or not self.server.token

    def _text(self, code: int, text: str, headers: dict[str, str] | None = None) -> None:
        self._send(code, PLAIN_TEXT, (text + "\n").encode("utf-8", "replace"), headers or {})

    def _send(self, code: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Plain text; another method than GET or HEAD is 405, as the contract of HTTP has it."""
        if code == 501:
            self._text(405, "only GET and HEAD", {"Allow": "GET, HEAD"})
        else:
            self._text(code, message or "bad request")

    def version_string(self) -> str:
        return self.server_version

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: scrapes come all day."""
