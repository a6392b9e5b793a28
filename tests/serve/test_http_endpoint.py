"""HTTP: who may ask, what is answered, and that no request can hold up the others."""

from __future__ import annotations

import gzip
import shutil
import socket
import ssl
import stat
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

import pytest

from ppo_top.serve import http_endpoint
from ppo_top.serve.listen_address import (
    ListenAddress,
    TlsFiles,
    UnusableAddress,
    listen_address,
    listening_socket,
    tls_context,
)
from ppo_top.serve.service import Service, ServiceOptions
from tests.support.scrapes import (
    ask,
    look_until_complete,
    names,
    openmetrics_families,
    port_of,
    request,
    series,
    served,
    value,
    write_run,
)

LOOPBACK = ListenAddress("127.0.0.1", 0)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that has looked at one run."""
    write_run(tmp_path / "runs" / "sick")
    with served([tmp_path / "runs"]) as found:
        found.show(look_until_complete(found.exporter))
        yield found


def test_metrics_come_in_the_classic_format(service: Service) -> None:
    """What a browser or an old Prometheus gets; with how this process is doing."""
    answer, body = ask(service)
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert {"ppo_top_run_severity", "ppo_top_ready", "process_cpu_seconds_total"} <= names(
        series(body)
    )


def test_metrics_come_as_openmetrics_to_who_asks_for_it(service: Service) -> None:
    """By the Accept header, as Prometheus sends it."""
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    answer, body = ask(service, Accept=accept)
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")
    assert "ppo_top_run_severity" in openmetrics_families(body)


def test_an_unreadable_accept_header_gets_the_classic_format(service: Service) -> None:
    """Rather than nothing."""
    answer, body = ask(service, Accept="application/openmetrics-text; version=x.y")
    assert answer.status == 200
    assert series(body)


def test_metrics_are_compressed_for_who_accepts_it(service: Service) -> None:
    """And plain for who does not, or excludes it."""
    answer, body = ask(service, Accept_Encoding="br, gzip;q=0.5")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert series(gzip.decompress(body))
    for header in ("identity", "gzip;q=0", ""):
        answer, body = ask(service, Accept_Encoding=header)
        assert answer.headers["Content-Encoding"] is None
        assert series(body)


def test_a_scrape_may_ask_for_some_metrics(service: Service) -> None:
    """With `name[]`, as the client library has it."""
    _, body = ask(service, "/metrics?name[]=ppo_top_run_severity&name[]=ppo_top_ready")
    assert names(series(body)) == {"ppo_top_run_severity", "ppo_top_ready"}


def test_a_scrape_reads_no_log(service: Service, tmp_path: Path) -> None:
    """It shows the last look, even after the logs are gone."""
    _, before = ask(service, "/metrics?name[]=ppo_top_run_step")
    shutil.rmtree(tmp_path / "runs")
    _, after = ask(service, "/metrics?name[]=ppo_top_run_step&name[]=x")  # not the kept answer
    assert series(before) == series(after) != {}


def test_probes_tell_whether_logs_are_looked_at(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/-/healthy` fails when the loop is stuck, so that a supervisor starts it anew."""
    assert ask(service, "/-/healthy")[0].status == 200
    stuck = time.monotonic() + 61.0
    monkeypatch.setattr("ppo_top.serve.exporter.time.monotonic", lambda: stuck)
    assert ask(service, "/-/healthy")[0].status == 503


def test_it_is_ready_once_every_log_was_read(tmp_path: Path) -> None:
    """`/-/ready` and `ppo_top_ready`."""
    write_run(tmp_path / "run")
    with served([tmp_path]) as service:
        assert ask(service, "/-/ready")[0].status == 503
        assert value(series(ask(service, "/metrics?name[]=a")[1]), "ppo_top_ready") != 1
        service.show(look_until_complete(service.exporter))
        assert ask(service, "/-/ready")[0].status == 200
        ready = series(ask(service)[1])
        assert value(ready, "ppo_top_ready") == 1


@pytest.mark.parametrize("path", ["/metrics/", "/../etc/passwd", "/metrics.txt", "/-/quit"])
def test_other_pages_are_not_found(service: Service, path: str) -> None:
    """Only four pages exist."""
    assert ask(service, path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "BREW"])
def test_other_methods_are_refused(service: Service, method: str) -> None:
    """There is nothing to change here."""
    answer, _ = request(service, method, "/metrics")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"


def test_the_root_says_where_the_metrics_are(service: Service) -> None:
    """And names no run: it needs no token."""
    answer, body = ask(service, "/")
    assert answer.status == 200
    assert b"/metrics" in body
    assert b"sick" not in body


def test_with_a_token_only_its_bearer_gets_metrics(tmp_path: Path) -> None:
    """Probes of Kubernetes send none, and learn nothing but yes or no."""
    token = tmp_path / "token"
    token.write_text("abc123\n")
    with served([tmp_path], ServiceOptions(LOOPBACK, token_file=str(token))) as service:
        assert ask(service)[0].status == 401
        for wrong in ("Bearer abc12", "Bearer abc1234", "Basic abc123", "Bearer \xff", "abc123"):
            assert ask(service, Authorization=wrong)[0].status == 401
        assert ask(service, Authorization="Bearer abc123")[0].status == 200
        assert ask(service, "/-/healthy")[0].status == 200


def test_a_unix_socket_is_its_owners_alone(tmp_path: Path) -> None:
    """Mode 0600; the socket of a process that is gone is replaced, a live one is not."""
    path = tmp_path / "s"
    options = ServiceOptions(listen_address(f"unix:{path}"))
    with served([tmp_path / "runs"], options) as service:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert ask(service, "/-/healthy")[0].status == 200
        with pytest.raises(UnusableAddress, match=r"in use by another program.*--listen unix:"):
            listening_socket(ListenAddress(path=str(path)))
    assert not path.exists()
    listening_socket(ListenAddress(path=str(path))).close()  # nobody removes it
    listening_socket(ListenAddress(path=str(path))).close()
    path.unlink()
    path.write_text("a file")
    with pytest.raises(UnusableAddress, match="is no socket"):
        listening_socket(ListenAddress(path=str(path)))
    assert path.read_text() == "a file"


def test_a_port_that_is_taken_is_one_sentence() -> None:
    """With the option that chooses another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UnusableAddress) as error:
            listening_socket(ListenAddress("127.0.0.1", port))
    assert str(error.value) == (
        f"127.0.0.1:{port} is in use by another program; choose another with "
        "--listen 127.0.0.1:PORT"
    )


@pytest.mark.parametrize(
    ("text", "expected", "private"),
    [
        ("127.0.0.1:9740", ListenAddress("127.0.0.1", 9740), True),
        ("localhost:1", ListenAddress("localhost", 1), True),
        ("[::1]:9740", ListenAddress("::1", 9740), True),
        (":9740", ListenAddress("", 9740), False),
        ("0.0.0.0:9740", ListenAddress("0.0.0.0", 9740), False),
        ("node7:9740", ListenAddress("node7", 9740), False),
        ("unix:/run/x", ListenAddress(path="/run/x"), True),
    ],
)
def test_addresses(text: str, expected: ListenAddress, private: bool) -> None:
    """Whether others can reach it decides whether a warning is printed."""
    assert listen_address(text) == expected
    assert expected.is_private is private


@pytest.mark.parametrize("text", ["9740", "127.0.0.1", "host:http", "host:65536", "unix:", ""])
def test_what_is_no_address_is_refused(text: str) -> None:
    """With the form that is expected."""
    with pytest.raises(UnusableAddress, match="expected HOST:PORT"):
        listen_address(text)


def test_a_slow_client_is_cut_off(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one that sends a byte now and then, for ever."""
    monkeypatch.setattr(http_endpoint, "REQUEST_TIMEOUT_S", 0.3)
    with socket.create_connection(("127.0.0.1", port_of(service)), timeout=10) as client:
        client.sendall(b"GET /metrics HTTP/1.0\r\nX: ")
        received = b"?"
        start = time.monotonic()
        while received and time.monotonic() - start < 5.0:
            client.settimeout(0.1)
            try:
                client.sendall(b"x")
                received = client.recv(1000)
            except TimeoutError:
                continue
            except OSError:
                received = b""
    assert not received
    assert ask(service, "/-/healthy")[0].status == 200


def test_beyond_sixteen_requests_at_once_others_are_refused(service: Service) -> None:
    """So that a crowd of silent clients costs sixteen threads; later there is room again."""
    address = "127.0.0.1", port_of(service)
    silent = [socket.create_connection(address) for _ in range(16)]
    with socket.create_connection(address, timeout=10) as one_more:
        assert one_more.recv(1) == b""
    for each in silent:
        each.close()
    for _ in range(100):
        try:
            if ask(service, "/-/healthy")[0].status == 200:
                break
        except OSError:  # their threads have not noticed yet
            time.sleep(0.05)
    else:
        pytest.fail("no room again")


@pytest.mark.parametrize("kind", [threading.Thread, threading.Timer])
def test_requests_while_no_thread_can_be_started_take_no_room(
    service: Service, monkeypatch: pytest.MonkeyPatch, kind: type[threading.Thread]
) -> None:
    """A machine may be out of threads for a while: for those of requests, of their time limits."""
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if type(thread) is kind:
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as crowded:
        crowded.setattr(threading.Thread, "start", refuse)
        for _ in range(17):
            with pytest.raises((HTTPException, OSError)):
                ask(service, "/-/healthy")
    assert ask(service, "/-/healthy")[0].status == 200


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """Certificates for localhost and a client, each its own authority."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make certificates")
    for name in ("server", "client", "stranger"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", tmp_path / f"{name}.key", "-out", tmp_path / f"{name}.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
    return tmp_path


def test_tls_lets_in_only_clients_with_a_certificate(certificates: Path) -> None:
    """Ours is let in, a stranger's and none are not."""
    files = TlsFiles(
        str(certificates / "server.pem"),
        str(certificates / "server.key"),
        str(certificates / "client.pem"),
    )
    with served([certificates / "runs"], ServiceOptions(LOOPBACK, tls=files)) as service:
        url = f"https://127.0.0.1:{port_of(service)}/metrics"

        def get(name: str) -> int:
            context = ssl.create_default_context(cafile=str(certificates / "server.pem"))
            if name:
                context.load_cert_chain(certificates / f"{name}.pem", certificates / f"{name}.key")
            with urllib.request.urlopen(url, context=context, timeout=10) as answer:
                assert series(answer.read())
                return int(answer.status)

        assert get("client") == 200
        for name in ("stranger", ""):
            with pytest.raises((urllib.error.URLError, OSError)):
                get(name)


def test_an_unusable_certificate_is_named(tmp_path: Path) -> None:
    """Before any log is read."""
    with pytest.raises(UnusableAddress, match=r"missing\.pem"):
        tls_context(TlsFiles(str(tmp_path / "missing.pem"), ""))
    (tmp_path / "bad.pem").write_text("nothing")
    with pytest.raises(UnusableAddress, match=r"bad\.pem"):
        tls_context(TlsFiles(str(tmp_path / "bad.pem"), ""))
