"""Who may ask: this machine, or who has the token; and no page of another site."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

COOKIE: Final = "whygrad-token"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


EVERYONE: Final = "*"  # another program decides who may ask


@dataclass(frozen=True, slots=True)
class Access:
    """`host`: the address that is served. Another than this machine's own needs a token."""

    host: str = "127.0.0.1"
    token: str = field(default="")

    @classmethod
    def to(cls, host: str) -> Access:
        return cls(host, "" if is_loopback(host) else secrets.token_urlsafe(24))

    def knows_host(self, header: str) -> bool:
        """Whether the name in the request is one of ours: a name of somebody else's may be bound to our address."""
        if self.host == EVERYONE:
            return True
        name = _host_name(header)
        if is_loopback(name):
            return is_loopback(self.host) or bool(self.token)
        if self.host in ("0.0.0.0", "::"):
            return bool(self.token) and _address(name) is not None
        return name == self.host.lower()

    def admits(self, given: str | None) -> bool:
        """Whether the token of a link or cookie is ours, compared in constant time."""
        return not self.token or hmac.compare_digest((given or "").encode(), self.token.encode())


def is_own_request(get: Callable[[str], str | None], host: str) -> bool:
    """Whether a change is asked for by our own page: browsers say where a request comes from."""
    site, origin = get("Sec-Fetch-Site"), get("Origin")
    if site is not None and site != "same-origin":
        return False
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        return False
    return get("X-Whygrad") == "1"  # which no form of another site can send


def _host_name(header: str) -> str:
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if ":" in text else text


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
