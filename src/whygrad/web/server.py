"""A small server for one person, on this machine unless told otherwise."""

from __future__ import annotations

import os
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

from whygrad.errors import UsageError
from whygrad.web.access import Access
from whygrad.web.app import Application
from whygrad.web.library import Library


class _Quiet(WSGIRequestHandler):
    """Says nothing of every request, and does not tell what it runs on."""

    protocol_version = "HTTP/1.1"

    def log(self, *_: Any) -> None:
        return

    def version_string(self) -> str:
        return "whygrad"


class Server:
    """Bound when it is made; `link` is what to open."""

    def __init__(self, folder: str | os.PathLike[str], host: str = "127.0.0.1", port: int = 0) -> None:
        access = Access.to(host)
        application = Application(Library([folder]), access)
        try:
            self._server = make_server(host, port, application, threaded=True, request_handler=_Quiet)
        except (OSError, SystemExit) as error:
            reason = error.strerror if isinstance(error, OSError) else "the port is taken"
            raise UsageError(f"cannot serve at {host}:{port}: {reason}", help="choose another --port") from None
        shown = f"[{host}]" if ":" in host else host
        token = f"?token={access.token}" if access.token else ""
        self.link = f"http://{shown}:{self._server.server_port}/{token}"

    def serve(self) -> None:
        """Until it is interrupted."""
        try:
            self._server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            self._server.server_close()

    def stop(self) -> None:
        self._server.shutdown()
