"""Where `serve` listens: an address and port, or a Unix socket that only its owner may use."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import ssl
import stat
from contextlib import suppress
from pathlib import Path

from ppo_top.model.named_tuple import NamedTuple

UNIX_PREFIX = "unix:"
BACKLOG = 64


class UnusableAddress(Exception):
    """An address, certificate or token that cannot be used; its text is the whole message."""


class ListenAddress(NamedTuple):
    """A host (empty: all) and port, or the `path` of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def is_private(self) -> bool:
        """Whether other machines cannot reach it."""
        if self.path or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def listen_address(text: str) -> ListenAddress:
    """`HOST:PORT`, `:PORT` (all addresses), `[::1]:PORT` or `unix:PATH`."""
    if text.startswith(UNIX_PREFIX):
        path = text.removeprefix(UNIX_PREFIX)
        if path:
            return ListenAddress(path=path)
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise UnusableAddress(f"--listen {text}: expected HOST:PORT, :PORT or unix:PATH")
    return ListenAddress(host, int(port))


def listening_socket(address: ListenAddress) -> socket.socket:
    """A socket that listens there; raises `UnusableAddress` with what to do instead."""
    try:
        return _unix_socket(address.path) if address.path else _inet_socket(address)
    except (OSError, UnicodeError) as error:
        raise UnusableAddress(_why_not(address, error)) from None


def _inet_socket(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    if address.host and family == socket.AF_INET:
        family = socket.getaddrinfo(address.host, None, type=socket.SOCK_STREAM)[0][0]
    dual = not address.host and socket.has_dualstack_ipv6()
    return socket.create_server(
        (address.host, address.port),
        family=socket.AF_INET6 if dual else family,
        backlog=BACKLOG,
        dualstack_ipv6=dual,
    )


def _unix_socket(path: str) -> socket.socket:
    """Mode 0600 from its first moment: the mask is that of the whole process, but we are alone."""
    _remove_unused(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        made.bind(path)
        made.listen(BACKLOG)
    except OSError:
        made.close()
        raise
    finally:
        os.umask(before)
    return made


def _remove_unused(path: str) -> None:
    """Remove the socket of a process that is gone; raises `OSError` if one answers there."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(Path(path).lstat().st_mode):
            raise FileExistsError(errno.EEXIST, "it exists and is no socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            if probe.connect_ex(path) == 0:
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        Path(path).unlink()


def _why_not(address: ListenAddress, error: Exception) -> str:
    where = f"{UNIX_PREFIX}{address.path}" if address.path else f"{address.host}:{address.port}"
    code = getattr(error, "errno", None)
    if code == errno.EADDRINUSE:
        other = "PATH" if address.path else "127.0.0.1:PORT"
        prefix = UNIX_PREFIX if address.path else ""
        return f"{where} is in use by another program; choose another with --listen {prefix}{other}"
    if code == errno.EACCES and not address.path:
        return f"{where}: not permitted; --listen with a port above 1023"
    return f"--listen {where}: {getattr(error, 'strerror', None) or error}"


class TlsFiles(NamedTuple):
    """Certificate and key of the server, and the authority of its clients' (empty: any client)."""

    certificate: str
    key: str
    client_authority: str = ""


def tls_context(files: TlsFiles) -> ssl.SSLContext:
    """The context of a server; raises `UnusableAddress` if a file cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    named = " or ".join(filter(None, (files.certificate, files.key)))
    try:
        context.load_cert_chain(files.certificate, files.key or None)
        if files.client_authority:
            named = files.client_authority
            context.load_verify_locations(files.client_authority)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as error:
        why = error.strerror or str(error)
        raise UnusableAddress(f"cannot use the certificate {named}: {why}") from None
    return context


def bearer_token(path: str) -> str:
    """The token in a file; raises `UnusableAddress` without one."""
    try:
        token = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "not ASCII text"
        raise UnusableAddress(f"--token-file {path}: {why}") from None
    if not token or not token.isprintable() or " " in token:
        raise UnusableAddress(f"--token-file {path}: expected one token and nothing else")
    return token
