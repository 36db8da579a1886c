"""The WSGI application: the page, its scripts, the JSON API, and the few changes that a person may make."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any, Final

from werkzeug.exceptions import HTTPException, RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from whygrad.bounded import parse_json
from whygrad.errors import UsageError
from whygrad.report.page.assets import TYPES, asset
from whygrad.store import annotate, delete
from whygrad.web.access import COOKIE, HEADERS, Access, is_own_request
from whygrad.web.answers import Answer, Answers, as_json
from whygrad.web.library import Library
from whygrad.web.routes import answered

_MOST_BODY: Final = 64 * 1024  # bytes
_MOST_TAGS: Final = 20
_LONGEST_NOTE: Final = 10_000


class Application:
    """One library behind one address. State is changed by POST from its own page only."""

    def __init__(self, library: Library, access: Access | None = None) -> None:
        self._library = library
        self._access = access or Access()
        self._answers = Answers(library)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ)
        request.max_content_length = _MOST_BODY
        try:
            response = self._respond(request)
        except HTTPException as error:
            response = _said(error.code or 400, {"error": error.description or error.name})
        except Exception as error:  # what a file from elsewhere makes us stumble over is told, and hides no other run
            response = _said(500, {"error": f"whygrad failed: {type(error).__name__}"})
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response(environ, start_response)

    def _respond(self, request: Request) -> Response:
        if not self._access.knows_host(request.headers.get("Host", "")):
            return _said(403, {"error": "this address is not served here"})
        given = request.args.get("token")
        if not self._access.admits(given or request.cookies.get(COOKIE)):
            return _said(403, {"error": "open the link that `whygrad ui` printed"})
        if given is not None and request.method == "GET":
            response = Response(status=303, headers={"Location": request.path})
            response.set_cookie(COOKIE, given, httponly=True, samesite="Strict")
            return response
        path = request.path.lstrip("/")
        if request.method == "POST":
            return self._change(request, path)
        if request.method not in ("GET", "HEAD"):
            return _said(405, {"error": "GET or POST"})
        if path.startswith("api/"):
            found = self._answers.get(path.removeprefix("api/"), request.args.to_dict())
            return _sent(request, found, "application/json")
        name = path or "index.html"
        file = _file(name)
        if file is None:
            return _said(404, {"error": f"there is no `{path[:100]}`"})
        return _sent(request, file, TYPES[PurePosixPath(name).suffix])

    def _change(self, request: Request, path: str) -> Response:
        if not self._library.changeable:
            return _said(403, {"error": "this page shows runs and does not change them"})
        if not is_own_request(request.headers.get, request.headers.get("Host", "")):
            return _said(403, {"error": "changes are made from the page only"})
        try:
            match path.split("/"):
                case ["api", "runs", run_id, "delete"]:
                    return _said(*answered(lambda: self._delete(run_id)))
                case ["api", "runs", run_id, "annotate"]:
                    return _said(*answered(lambda: self._annotate(run_id, _body(request))))
            return _said(404, {"error": f"there is no `{path[:100]}`"})
        finally:
            self._answers.forget()

    def _delete(self, run_id: str) -> dict[str, Any]:
        delete(self._library.run(run_id))
        return {"deleted": run_id}

    def _annotate(self, run_id: str, body: Any) -> dict[str, Any]:
        facts = checked(body)
        annotate(self._library.run(run_id), facts)
        return {"id": run_id, **facts}


def checked(body: Any) -> dict[str, Any]:
    """What a person may say of a run: its name, its tags, a note."""
    if not isinstance(body, dict) or not set(body) <= {"name", "tags", "note"}:
        raise UsageError("`name`, `tags` and `note` can be set")
    tags, words = body.get("tags", []), (body.get("name", ""), body.get("note", ""))
    if not isinstance(tags, list) or not all(isinstance(each, str) and len(each) <= 100 for each in tags):
        raise UsageError("`tags` is a list of short words")
    if len(tags) > _MOST_TAGS or not all(isinstance(each, str) and len(each) <= _LONGEST_NOTE for each in words):
        raise UsageError("that is too much text")
    return body


def _body(request: Request) -> Any:
    try:
        return parse_json(request.get_data())
    except RequestEntityTooLarge:
        raise
    except ValueError as error:
        raise UsageError(f"this is not JSON: {error}") from error


@functools.lru_cache(maxsize=64)
def _file(name: str) -> Answer | None:
    text = asset(name)
    return None if text is None else Answer.of(text.encode())


def _said(status: int, data: Any) -> Response:
    return Response(as_json(data), status=status, mimetype="application/json")


def _sent(request: Request, answer: Answer, mimetype: str) -> Response:
    """Compressed where the browser takes it, and where it is worth it."""
    if answer.packed is None or "gzip" not in request.headers.get("Accept-Encoding", ""):
        return Response(answer.plain, status=answer.status, mimetype=mimetype)
    headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(answer.packed, status=answer.status, mimetype=mimetype, headers=headers)
