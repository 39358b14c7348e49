"""Client of nearsky: lookups of any size, walks over cones and recent crossmatches, the streams of matches and of objects, crossmatches of tables, reports on samples, queries in ADQL.

Needs only the standard library. `to_pandas` and `to_astropy` need these packages: `pip install 'nearsky[pandas,astropy]'`.
`nearsky.aio` has the same client for asyncio.

    from nearsky import Nearsky

    service = Nearsky("http://127.0.0.1:8080")
    for result in service.lookups([313637935709683761, (61.62, -49.29, 5), "SN 2099aaa"]):
        print(result["input"], result["status"])

Answers are dictionaries with the keys of the API (`/api-docs` of the service). Identifiers are Python integers, so no digit is lost.
Angles are ICRS degrees, separations and radii arcsec, times UTC; astropy's SkyCoord of any frame, its angles in any unit, and its Time of
any scale are converted.
"""

from __future__ import annotations

import csv
import html
import http.client
import importlib
import io
import json
import math
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from email.utils import parsedate_to_datetime
from operator import index
from typing import Any, Callable, Iterable, Iterator
from urllib.parse import quote, unquote, urlencode, urlsplit

__all__ = ["Nearsky", "NearskyError", "NoAnswerError", "Walk", "Watch", "rows", "to_astropy", "to_pandas"]
__version__ = "0.16.2"

DEFAULT_RETRY_AFTER_SECONDS = 30.0
MAX_RETRY_AFTER_SECONDS = 300.0
# A larger table becomes a job of the service at once; a smaller one becomes a job only if the service has no time for
# it.
MAX_BYTES_AT_ONCE = 32 * 2**20
# A stream sends a keep-alive every 15 s.
MAX_QUIET_SECONDS = 45.0

# Set when the asyncio task that waits for this thread was cancelled. The thread then sends no further requests.
CANCELLED: ContextVar[threading.Event | None] = ContextVar("nearsky_cancelled", default=None)

Progress = Callable[[int, "int | None"], None]


class NearskyError(Exception):
    """An answer that is an error, or no answer.

    `code` is a code of the API, or one of the client's own:

    - `cancelled`: the asyncio task that waits was cancelled
    - `no_answer`: the service cannot be reached, or its answer was truncated
    - `not_nearsky`: another server answered
    - `repeated_cursor`: a walk would not end
    - `query_failed`: a query failed after its first rows
    - `too_many_rows`: the answer to a query may be cut at the limit of the service
    - `unknown_parameter`: the service ignored `params`, such as a misspelt filter

    `status` is the HTTP status, 0 without an answer. `param` is the invalid parameter, or `params` lists several. `retryable` is True if
    the same request may succeed later.
    """

    def __init__(
        self,
        message: str,
        code: str,
        status: int,
        param: str | None = None,
        params: list[str] | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.param = param
        self.params = params
        self.retryable = retryable
        self._retry_after_seconds: float | None = None

    def __reduce__(self) -> Any:
        # Without it, a worker of multiprocessing or Dask that raises this error breaks the pool.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[NearskyError], args: tuple[Any, ...], state: dict[str, Any]) -> NearskyError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class Walk:
    """Objects of a walk, page by page: iterate over it, or over `pages()`. A new iteration continues where the last one stopped.

    A new walk with `cursor` begins at the current page; between two pages, at the next one. `cursor` is None on the first page. `is_done` is
    True when all pages were returned.
    """

    def __init__(
        self,
        get: Callable[[str | None], dict[str, Any]],
        objects_of: Callable[[dict[str, Any]], list[dict[str, Any]]],
        cursor: str | None,
        on_progress: Progress | None,
    ) -> None:
        self._get = get
        self._objects_of = objects_of
        self._on_progress = on_progress
        self.cursor = cursor
        self.is_done = False

    def pages(self) -> Iterator[dict[str, Any]]:
        """The pages as the API returns them. Raises NearskyError `repeated_cursor` if the service returns the same cursor twice."""
        seen = {self.cursor}
        done = 0
        while not self.is_done:
            page = self._get(self.cursor)
            following = page["next_cursor"]
            if following is not None and following in seen:
                raise NearskyError(
                    f"Cannot go on because the service gave the cursor {following[:40]}... twice: the walk would never end",
                    "repeated_cursor",
                    200,
                )
            yield page
            done += len(self._objects_of(page))
            if self._on_progress:
                self._on_progress(done, page["results"][0]["total"] if "results" in page else None)
            if following is None:
                self.is_done = True
            else:
                seen.add(following)
                self.cursor = following

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for page in self.pages():
            yield from self._objects_of(page)


class Watch:
    """Events of a stream as they are recorded. Iterate over it; the iteration ends only when you stop it.

    After a broken connection or an outage of the service, it resumes after the last event. `last_id` is the position of the last returned
    event, or None before the first connection. `watch(..., after=last_id)` continues from there, even in another process.
    """

    def __init__(self, connect: Callable[[str | None], Any]) -> None:
        self._connect = connect
        self._retry_seconds = 3.0
        self.last_id: str | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        has_begun = False
        while True:
            wait_seconds = self._retry_seconds
            try:
                with self._connect(self.last_id) as lines:
                    has_begun = True
                    yield from self._events(lines)
                wait_seconds = self._retry_seconds
            except NearskyError as error:
                if not (has_begun and error.retryable):
                    raise
                if error._retry_after_seconds is not None:
                    wait_seconds = error._retry_after_seconds
            except (http.client.HTTPException, OSError):
                # The connection broke, so it had been established.
                pass
            time.sleep(wait_seconds)

    def _events(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """The events of one connection. Text after the last blank line is an incomplete event."""
        data: bytes | None = None
        last_id = self.last_id
        for line in lines:
            if not line.endswith(b"\n"):
                return
            name, _, value = line[:-1].partition(b": ")
            if line == b"\n":
                self.last_id = last_id
                if data is not None:
                    yield json.loads(data)
                data = None
            elif name == b"data":
                data = value
            elif name == b"id":
                last_id = value.decode("ascii")
            elif name == b"retry":
                self._retry_seconds = int(value) / 1000


class _LogPlace:
    """The latest log position of the nodes that have answered. Every request sends it, so that no answer is older than an earlier one.

    Also has the journal entry of the latest answer that has one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text: str | None = None
        self.entry: int | None = None

    def headers(self) -> dict[str, str]:
        return {"X-Log-Position": self._text} if self._text else {}

    def note(self, headers: Any) -> None:
        entry = headers.get("X-Journal-Entry")
        if entry:
            self.entry = int(entry)
        said = headers.get("X-Log-Position")
        if not said:
            return
        with self._lock:
            # Concurrent answers arrive in any order.
            log, *before = (self._text or "").split("-")
            said_log, *now = said.split("-")
            if log == said_log:
                now = [max(numbers, key=int) for numbers in zip(before, now)]
            self._text = "-".join([said_log, *now])


class Nearsky:
    """A nearsky service.

    address: for example `http://127.0.0.1:8080`
    concurrency: the maximum number of concurrent requests of a lookup, at least 1
    timeout_seconds: the timeout of each request
    on_progress: called after each request of a lookup or a walk, with the number of inputs or objects returned so far, and the total
        number, or None if it is unknown

    Raises ValueError if the address is not an HTTP address. Every method raises NearskyError. A 503 is retried once after its
    `Retry-After`. A truncated JSON answer is also requested again once.
    """

    def __init__(
        self,
        address: str,
        concurrency: int = 4,
        timeout_seconds: float = 60.0,
        on_progress: Progress | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"Cannot ask {concurrency} times at once: give concurrency an integer from 1")
        _check_address(address)
        self._base = address.rstrip("/")
        self._concurrency = concurrency
        self._timeout_seconds = timeout_seconds
        self._on_progress = on_progress
        self._limits: dict[str, Any] | None = None
        self._place = _LogPlace()

    @property
    def journal_entry(self) -> int | None:
        """The journal entry of the latest answer that has one, for `at`. None if the service keeps no history."""
        return self._place.entry

    def object(
        self, dia_object_id: int | str, detail: str | None = None, filters: dict[str, Any] | None = None, at: int | None = None
    ) -> dict[str, Any]:
        """The result for an identifier. For an unknown identifier, it has the status `not_in_service`.

        With `at`, as after this journal entry; see `journal_entry`.
        """
        query = {"detail": detail, "at": at, **(filters or {})}
        return self._result(f"/api/objects/{quote(str(dia_object_id), safe='')}", query)

    def tns(
        self,
        name: str,
        radius_arcsec: float | None = None,
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The result for a name of the Transient Name Server."""
        query = {"radius_arcsec": _number(radius_arcsec, "arcsec"), "detail": detail, **(filters or {})}
        return self._result(f"/api/tns/{quote(name, safe='')}", query)

    def describe(self) -> dict[str, Any]:
        """Catalogs, filters and limits, as configured."""
        return self._get("/api/describe", {})

    def validation(self) -> dict[str, Any]:
        """How far the matches here can be trusted: those of transients with a known class, beside those of random positions. `validation` is None until the service has made one."""
        return self._get("/api/validation", {})

    def status(self) -> dict[str, Any]:
        """Whether the service can answer now."""
        return self._get("/api/status", {})

    def lookup(
        self,
        inputs: Iterable[Any],
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        radius_arcsec: float | None = None,
        at: int | None = None,
        ra_unit: str | None = None,
    ) -> list[dict[str, Any]]:
        """`lookups`, as a list."""
        return list(self.lookups(inputs, detail, filters, radius_arcsec, at, ra_unit))

    def lookups(
        self,
        inputs: Iterable[Any],
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        radius_arcsec: float | None = None,
        at: int | None = None,
        ra_unit: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """A result for each input, in input order. Sends as many requests as necessary, several of them at once.

        An integer or a text of digits is an identifier; any other text is a name of the Transient Name Server. A pair or triple is right
        ascension, declination and radius. A SkyCoord, alone or in a pair with a radius, is a position; an array of them counts as many
        inputs. A dictionary is an input of the API. A position needs a radius: its own, or radius_arcsec. Inputs are consumed as needed.
        `index` of a result is the index of its input among all inputs. With `at`, as after this journal entry; names are not possible.
        `ra_unit` is `h` for decimal hours.
        """
        if isinstance(inputs, (str, bytes, dict)) or hasattr(inputs, "columns"):
            # Iterating over it would look up its characters, keys or names of columns.
            raise TypeError(f"Cannot look up a {type(inputs).__name__} as a list of inputs: give a list, or a column of identifiers")
        inputs = _positions_of(inputs) if _is_sky_coord(inputs) else inputs
        total = len(inputs) if hasattr(inputs, "__len__") else None  # type: ignore[arg-type]
        options = {"detail": detail, "filters": filters, "radius_arcsec": _number(radius_arcsec, "arcsec"), "at": at}
        path = _address_of("/api/lookup", {"ra_unit": ra_unit})
        chunks = self._chunks(inputs)
        running: deque[Future[list[dict[str, Any]]]] = deque()
        done = 0
        pool = ThreadPoolExecutor(self._concurrency)
        try:
            while True:
                while len(running) < self._concurrency:
                    chunk = next(chunks, None)
                    if chunk is None:
                        break
                    running.append(pool.submit(copy_context().run, self._lookup_chunk, path, chunk, options))
                if not running:
                    return
                for result in running.popleft().result():
                    yield _placed(result, done)
                    done += 1
                if self._on_progress:
                    self._on_progress(done, total)
        finally:
            # A caller who abandons the results does not wait for requests in progress.
            pool.shutdown(wait=False, cancel_futures=True)

    def cone(
        self,
        ra: Any = None,
        dec: Any = None,
        radius_arcsec: Any = None,
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Walk:
        """The objects within a radius, by ingest time, then identifier. Position and radius are required unless a cursor is given.

        A SkyCoord may replace ra and dec: `cone(coord, radius_arcsec=5)`, or `cone(coord, 5)`. Raises TypeError if it is an array.
        With `at`, as after this journal entry.
        """
        query = {**_circle_of(ra, dec, radius_arcsec), "detail": detail, "page_size": page_size, "at": at}
        return self._walk("/api/cone", {**query, **(filters or {})}, cursor, lambda page: page["results"][0]["objects"])

    def recent(
        self,
        start: Any = None,
        end: Any = None,
        time_field: str | None = None,
        detail: str | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> Walk:
        """Objects with coincident sources in a window of time, latest first. The end is exclusive.

        A time is a datetime, astropy's Time of any scale, or ISO 8601 text. Without a time zone it is UTC.
        """
        query = {"start": _time(start), "end": _time(end), "time_field": time_field, "detail": detail, "page_size": page_size}
        return self._walk("/api/recent-crossmatches", query, cursor, lambda page: page["objects"])

    def area(
        self,
        area: Any,
        level: float | None = None,
        start: Any = None,
        end: Any = None,
        time_field: str | None = None,
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
        status: str | None = None,
        at: int | None = None,
    ) -> Walk:
        """The objects in an area, by credible level in a probability map, then by position on the sky.

        The area is a circle or a polygon as text, in degrees (`CIRCLE 10 -20 1`, `POLYGON 0 0 10 0 5 8`), a MOC of mocpy, or a file as
        bytes or pathlib.Path: a MOC or a probability map. For a map, the area contains at most `level` of the probability (default 0.9).
        Objects that do not meet the filters, have another status, or are outside the window from start to end (exclusive), are
        omitted. With a cursor, everything else must be given again. With `at`, as after this journal entry.
        """
        body = _area_of(area)
        query = {"level": level, "page_size": page_size, "at": at, **_selection(start, end, time_field, status, detail, filters)}
        return Walk(lambda place: self._post_area(body, {**query, "cursor": place}, "next_cursor"), lambda page: page["objects"], cursor, self._on_progress)

    def count_area(
        self,
        area: Any,
        level: float | None = None,
        start: Any = None,
        end: Any = None,
        time_field: str | None = None,
        filters: dict[str, Any] | None = None,
        status: str | None = None,
        at: int | None = None,
    ) -> int:
        """The number of objects that `area` would return."""
        query = {"level": level, "at": at, **_selection(start, end, time_field, status, None, filters), "response": "count"}
        total: int = self._post_area(_area_of(area), query, "total")["total"]
        return total

    def objects(
        self,
        start: Any = None,
        end: Any = None,
        time_field: str | None = None,
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
        status: str | None = None,
        at: int | None = None,
    ) -> Walk:
        """Every object that meets the filters, or every one of a status, latest first.

        status: `crossmatch_pending`, `coincident_sources`, `no_coincident_source` or `not_searched`. With a cursor, everything else
        must be given again. With `at`, as after this journal entry.
        """
        query = {"page_size": page_size, "at": at, **_selection(start, end, time_field, status, detail, filters)}
        return self._walk("/api/objects", query, cursor, lambda page: page["objects"])

    def matches(self, filters: dict[str, Any] | None = None, after: str | None = None) -> Watch:
        """`watch` without an area: each match when it is recorded."""
        return self.watch("matches", filters=filters, after=after)

    def watch(
        self,
        stream: str,
        area: Any = None,
        level: float | None = None,
        radius_arcsec: Any = None,
        filters: dict[str, Any] | None = None,
        after: str | None = None,
    ) -> Watch:
        """Returns the events of a stream when they are recorded: dictionaries with the keys that `docs/stream.md` lists.

        The stream is `matches`, or `objects`: each object when it is stored and after each crossmatch, with a match or without.
        area: only objects there, in any form that `area()` takes, with its `level`; with `radius_arcsec`, a table of positions in any form
        that `crossmatch` takes, or a file as pathlib.Path. Events that do not meet the filters are omitted; `objects` also has the filter
        `status`. after: `beginning`, or the `last_id` of an earlier `Watch`; by default, events recorded from now on. Failures before the
        first connection are raised; later failures are raised only if a retry would not help.
        """
        radius = _number(radius_arcsec, "arcsec")
        query = {"from": after, "level": level, "radius_arcsec": radius, **(filters or {})}
        is_file = radius is None or isinstance(area, os.PathLike)
        body = None if area is None else _area_of(area) if is_file else _sent_table(area)[0]
        path = _address_of(f"/api/stream/{quote(stream, safe='')}", query)
        return Watch(lambda last_id: self._connect(path, body, last_id))

    def _connect(self, path: str, body: bytes | None, last_id: str | None) -> Any:
        """The lines of a stream. The caller must close it."""
        headers = {"Accept": "text/event-stream", "User-Agent": f"nearsky-python/{__version__}"}
        if body is not None:
            headers["Content-Type"] = "application/octet-stream"
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        request = urllib.request.Request(self._base + path, body, headers)
        try:
            try:
                response = urllib.request.urlopen(request, timeout=max(self._timeout_seconds, MAX_QUIET_SECONDS))
            except urllib.error.HTTPError as error:
                with error:
                    failure = _error_of(self._base + path, error.code, error.read())
                    failure._retry_after_seconds = _retry_after_seconds(error.headers.get("Retry-After"))
                    raise failure from None
        except (http.client.HTTPException, OSError) as error:
            raise NoAnswerError(self._base, error) from error
        unknown = response.headers.get("X-Unknown-Parameters")
        if unknown is None and response.headers.get("Content-Type") == "text/event-stream":
            return response
        response.close()
        raise _not_ours(self._base + path, 200, "it is no stream") if unknown is None else _unknown_parameters(unknown, 200)

    def sources(
        self,
        ra: Any,
        dec: Any = None,
        radius_arcsec: Any = None,
        catalog: str | None = None,
        limit: int | None = None,
        error_arcsec: Any = None,
    ) -> dict[str, Any]:
        """Every source of the registered catalogs, or of one catalog, within a radius of at most 60 arcsec, nearest first.

        A SkyCoord may replace ra and dec, like in `cone`. The answer has `sources`, and in `catalogs`, for each catalog, whether it was
        searched and the units of its columns. With `error_arcsec`, the 1-sigma error of the position, the sources have the probabilities
        that need it.
        """
        query = {**_circle_of(ra, dec, radius_arcsec), "catalog": catalog, "limit": limit}
        query["error_arcsec"] = _number(error_arcsec, "arcsec")
        return self._get("/api/sources", query)

    def crossmatch(
        self,
        table: Any,
        against: str | None = None,
        radius_arcsec: Any = None,
        find: str | None = None,
        rows: str | None = None,
        ra: str | None = None,
        dec: str | None = None,
        as_job: bool = False,
        frame: str | None = None,
        columns: str | list[str] | None = None,
        error_arcsec: Any = None,
        epoch: Any = None,
        at: int | None = None,
        ra_unit: str | None = None,
    ) -> Any:
        """Matches each row of a table against the objects, against the catalog `against`, or against `all` catalogs side by side.

        The table is a DataFrame of pandas or Polars, an astropy Table, or an array of SkyCoord; the answer has the same type (for a
        SkyCoord, an astropy Table); a column of SkyCoord in a frame that the service does not convert is ICRS in the answer. Or it is the
        bytes of a file, and the answer has the file's format. `find` is `nearest` or `all`; `rows` is `all` or `matched`. `ra` and `dec`
        name the position columns if their names are not recognised. `frame` names their frame (`FK4 B1950`, `galactic`) if the table does
        not declare it. `columns` selects the columns of the table that the answer includes. `error_arcsec` is the 1-sigma error of the
        positions, for the probabilities of matches with a catalog: a number of arcsec, the name of its column, or a list of two names for
        right ascension and declination. `epoch` applies the proper motions of a catalog: a Julian year, a date, an astropy Time, or the
        name of a column. With `at`, the objects are those after this journal entry. `ra_unit` is `h` for decimal hours. A pandas index is omitted. A large table, or any table with `as_job`, becomes a job of the
        service: the method waits for it, then removes it.
        """
        body, form, read = _sent_table(table)
        query = {"against": against, "radius_arcsec": _number(radius_arcsec, "arcsec")}
        query["error_arcsec"] = _named(_number(error_arcsec, "arcsec"))
        query["epoch"] = epoch.jyear if hasattr(epoch, "jyear") else epoch
        query.update(find=find, rows=rows, ra=ra, dec=dec, frame=frame, columns=_named(columns), format=form, at=at, ra_unit=ra_unit)
        return read(self._send_table(_address_of("/api/crossmatch", query), body, as_job, "/vo/jobs/", "crossmatch the table"))

    def sample(
        self,
        sample: Any,
        catalogs: str | list[str] | None = None,
        radius_arcsec: Any = None,
        bright_mag: float | None = None,
        bright_radius_arcsec: Any = None,
        kind: str = "report",
        at: int | None = None,
        since: int | None = None,
        id: str | None = None,
        name: str | None = None,
        ra: str | None = None,
        dec: str | None = None,
        frame: str | None = None,
        as_job: bool = False,
        ra_unit: str | None = None,
    ) -> Any:
        """Reports on a sample of transients: which lie on a star, a galaxy or a quasar of a catalog, and how many by chance.

        The sample is a list of inputs as for `lookups`, or a table as for `crossmatch` with identifiers, positions or names. An input that
        is a dictionary may have a `label`. `id`, `name`, `ra` and `dec` name its columns if their names are not recognised; `ra_unit` is `h` for decimal hours. `kind` is the type
        of the answer: `report`, a dictionary with `rows`, `summary`, `methods` (a paragraph for a paper) and `bibtex`; or the rows alone,
        as `pandas` or `polars`, a DataFrame, `astropy`, a Table, or `latex`, a deluxetable; or `html`, a page to keep. `radius_arcsec` is the radius for the object of a position or name.
        Stars brighter than `bright_mag` within `bright_radius_arcsec` are reported. With `at`, the report is that of this journal entry. With
        `since`, it has the `changes` since that entry. Both are for lists of at most 1000 identifiers and positions. A longer list is sent as a
        table, in which positions have no radius of their own. A large table, or any table with `as_job`, becomes a job of the service.
        """
        if kind not in _SAMPLE_KINDS:
            raise ValueError(f"Cannot report on a sample as {kind!r}: give kind one of {', '.join(_SAMPLE_KINDS)}")
        form, read = _SAMPLE_KINDS[kind]
        options = {"radius_arcsec": _number(radius_arcsec, "arcsec"), "bright_mag": bright_mag}
        options["bright_radius_arcsec"] = _number(bright_radius_arcsec, "arcsec")
        inputs = _sample_inputs(sample, "report on")
        names = [catalogs] if isinstance(catalogs, str) else catalogs
        if inputs is None:
            body, columns = _sent_table(sample)[0], {"id": id, "name": name, "ra": ra, "dec": dec, "frame": frame}
        else:
            most = self._limits_of_service().get("samples", {}).get("max_rows", len(inputs))
            if not as_job and (len(inputs) <= most or at is not None or since is not None):
                sent = {"inputs": inputs, "catalogs": names, "at": at, "since": since, **options}
                path, body = _address_of("/api/sample", {"format": form, "ra_unit": ra_unit}), json.dumps(sent, default=_plain).encode()
                if kind == "report":
                    return self._request(path, body, "rows")
                return read(self._answer(path, body, {"Content-Type": "application/json"})[1])
            body, columns = _table_of_inputs(inputs), {}
        # A table has no history, so the service would ignore `at` and `since`, which is an error.
        query = {"format": form, "catalogs": ",".join(names) if names is not None else None, "at": at, "since": since, "ra_unit": ra_unit, **options, **columns}
        return read(self._send_table(_address_of("/api/sample", query), body, as_job, "/vo/samples/", "report on the table"))

    def keep_sample(
        self,
        title: str,
        sample: Any,
        catalogs: str | list[str] | None = None,
        radius_arcsec: Any = None,
        bright_mag: float | None = None,
        bright_radius_arcsec: Any = None,
        id: str | None = None,
        name: str | None = None,
        ra: str | None = None,
        dec: str | None = None,
        frame: str | None = None,
        ra_unit: str | None = None,
    ) -> dict[str, Any]:
        """Keeps a sample at the service under a title, and returns its `id`, `url` and the time when it `expires`.

        `sample` explains the sample and the options. Everyone who knows the id can read and delete the sample. Lists of up to 1000 inputs
        can be compared with earlier entries.
        """
        inputs = _sample_inputs(sample, "keep")
        options = {"title": title, "radius_arcsec": _number(radius_arcsec, "arcsec"), "bright_mag": bright_mag}
        options["bright_radius_arcsec"] = _number(bright_radius_arcsec, "arcsec")
        names = [catalogs] if isinstance(catalogs, str) else catalogs
        columns: dict[str, str | None] = {}
        if inputs is None:
            body, columns = _sent_table(sample)[0], {"id": id, "name": name, "ra": ra, "dec": dec, "frame": frame}
        else:
            if len(inputs) <= self._limits_of_service().get("samples", {}).get("max_rows", len(inputs)):
                sent = json.dumps({"inputs": inputs, "catalogs": names, **options}, default=_plain).encode()
                return self._kept(_address_of("/api/samples", {"ra_unit": ra_unit}), sent, {"Content-Type": "application/json"})
            body = _table_of_inputs(inputs)
        query = {"catalogs": ",".join(names) if names is not None else None, "ra_unit": ra_unit, **options, **columns}
        return self._kept(_address_of("/api/samples", query), body, {})

    def _kept(self, path: str, body: bytes, headers: dict[str, str]) -> dict[str, Any]:
        kept: dict[str, Any] = json.loads(self._answer(path, body, headers, 201)[1])
        return kept

    def kept_sample(self, id: str, kind: str = "report", at: int | None = None, since: int | None = None) -> Any:
        """The report on a kept sample as it is now, of each `kind` that `sample` has. `at` and `since` are not for tables and names."""
        if kind not in _SAMPLE_KINDS:
            raise ValueError(f"Cannot report on a sample as {kind!r}: give kind one of {', '.join(_SAMPLE_KINDS)}")
        form, read = _SAMPLE_KINDS[kind]
        path = _address_of(f"/api/samples/{quote(id, safe='')}", {"format": form, "at": at, "since": since})
        try:
            return read(self._answer(path)[1])
        except NearskyError as error:
            if error.code != "query_too_expensive":
                raise
        return read(self._job(path, None, "/vo/samples/", "report on the table"))

    def delete_kept_sample(self, id: str) -> None:
        """Deletes a kept sample."""
        status, _, text = self._send(f"/api/samples/{quote(id, safe='')}", None, {}, "DELETE")
        if status != 204:
            raise _error_of(self._base, status, text)

    def query(self, adql: str, kind: str = "rows", max_rows: int | None = None, at: int | None = None) -> Any:
        """Runs an ADQL query on the tables of the service, which its page `/query` lists, and returns the rows.

        `kind` is the type of the answer: `rows`, a list of dictionaries, which needs no other package; `pandas` or `polars`, a DataFrame;
        `astropy`, a Table. An answer has at most `max_rows` rows, and never more than the limit of the service (default 1,000,000). Raises
        NearskyError `too_many_rows` if that limit may have cut the answer.
        `at` reads the tables as they were after this journal entry. The first queries with an entry may be refused until its tables are made.
        """
        if kind not in _QUERY_KINDS:
            raise ValueError(f"Cannot answer a query as {kind!r}: give kind one of {', '.join(_QUERY_KINDS)}")
        form, read = _QUERY_KINDS[kind]
        query = _address_of("", {"LANG": "ADQL", "RESPONSEFORMAT": form, "QUERY": adql, "MAXREC": max_rows, "AT": at})[1:]
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        _, answer = self._answer("/vo/tap/sync", query.encode(), headers)
        failure = _query_failure(answer[-4096:]) if form == "votable" else None
        if failure is not None:
            raise NearskyError(f"The answer is not whole: {failure}", "query_failed", 200)
        table, most = read(answer), self._limits_of_service().get("tap", {}).get("max_rows")
        if len(table) == most and (max_rows is None or max_rows > most):
            said = f"The answer has {most} rows, the most that the service returns, so rows may be missing: narrow the query, or give max_rows"
            raise NearskyError(said, "too_many_rows", 200, "MAXREC")
        return table

    def _send_table(self, path: str, body: bytes, as_job: bool, jobs: str, does: str) -> bytes:
        """Returns the answer to a table: at once, or as a job if the table is large or the service has no time for it."""
        if not as_job and len(body) <= MAX_BYTES_AT_ONCE:
            try:
                return self._answer(path, body)[1]
            except NearskyError as error:
                if error.code != "query_too_expensive":
                    raise
        return self._job(path, body, jobs, does)

    def _job(self, path: str, body: bytes | None, jobs: str, does: str) -> bytes:
        """Runs a request as a job of the service, returns its result, and removes the job."""
        headers, _ = self._answer(path, body, {"Prefer": "respond-async"}, 202)
        # The service may use another address for itself, and another path behind a proxy.
        job = jobs + urlsplit(headers["Location"]).path.rsplit("/", 1)[1]
        # The service answers after this time, which must be before the timeout.
        wait_seconds = max(1, min(20, int(self._timeout_seconds / 2)))
        try:
            phase = ""
            while phase not in ("COMPLETED", "ERROR", "ABORTED"):
                self._answer(f"{job}?WAIT={wait_seconds}")
                phase = self._answer(f"{job}/phase")[1].decode()
            if phase != "COMPLETED":
                why = self._answer(f"{job}/error")[1].decode() or "its job was aborted"
                raise NearskyError(f"Cannot {does} because {why}", "invalid_parameter", 400, "body")
            return self._answer(f"{job}/results/result")[1]
        finally:
            self._send(job, None, {}, "DELETE")

    def _walk(
        self,
        path: str,
        query: dict[str, Any],
        cursor: str | None,
        objects_of: Callable[[dict[str, Any]], list[dict[str, Any]]],
    ) -> Walk:
        return Walk(lambda place: self._get(path, {**query, "cursor": place}, "next_cursor"), objects_of, cursor, self._on_progress)

    def _lookup_chunk(self, path: str, inputs: list[dict[str, Any]], options: dict[str, Any]) -> list[dict[str, Any]]:
        """The results of one request. Inputs that the limit of a whole request has truncated are requested again, one by one."""
        results: list[dict[str, Any]] = self._request(path, json.dumps({"inputs": inputs, **options}, default=_plain).encode(), "results")["results"]
        cut = [i for i, result in enumerate(results) if result.get("truncation") == "per_request_limit"]
        if cut and len(cut) < len(inputs):
            again = self._lookup_chunk(path, [inputs[i] for i in cut], options)
            for i, result in zip(cut, again):
                results[i] = result
        return results

    def _limits_of_service(self) -> dict[str, Any]:
        """The current limits of the service, which are requested once."""
        if self._limits is None:
            limits: dict[str, Any] = self._get("/api/describe", {}, "limits")["limits"]
            self._limits = limits
        return self._limits

    def _chunks(self, inputs: Iterable[Any]) -> Iterator[list[dict[str, Any]]]:
        """Splits inputs into groups, each as large as one request allows by the current limits of the service."""
        limits = self._limits_of_service()
        max_ids, max_positions = limits["max_ids"], limits["max_positions"]
        chunk: list[dict[str, Any]] = []
        ids = 0
        for each in inputs:
            entry = _input_of(each)
            is_id = entry.get("kind") == "id"
            if ids >= max_ids if is_id else len(chunk) - ids >= max_positions:
                yield chunk
                chunk, ids = [], 0
            chunk.append(entry)
            ids += is_id
        if chunk:
            yield chunk

    def _result(self, path: str, query: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self._get(path, query, "results")["results"][0]
        return result

    def _get(self, path: str, query: dict[str, Any], member: str | None = None) -> dict[str, Any]:
        return self._request(_address_of(path, query), None, member)

    def _post_area(self, body: bytes, query: dict[str, Any], member: str) -> dict[str, Any]:
        return self._request(_address_of("/api/area", query), body, member)

    def _request(self, path: str, body: bytes | None, member: str | None) -> dict[str, Any]:
        """Returns an answer if it is a JSON object with this member."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        try:
            _, text = self._answer(path, body, headers)
        except _BrokenOff:
            # For example, one of several nodes has died.
            _, text = self._answer(path, body, headers)
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise _not_ours(self._base + path, 200, "it is no JSON") from error
        if not isinstance(answer, dict) or (member is not None and member not in answer):
            raise _not_ours(self._base + path, 200, "it is no JSON object" if member is None else f"it has no {member}")
        return answer

    def _answer(self, path: str, body: bytes | None = None, headers: dict[str, str] | None = None, expected: int = 200) -> tuple[Any, bytes]:
        """The headers and the body of an answer. If the service is overloaded, the request is repeated once."""
        status, answered, text = self._send(path, body, headers or {})
        if status == 503:
            time.sleep(_retry_after_seconds(answered.get("Retry-After")))
            status, answered, text = self._send(path, body, headers or {})
        if status != expected:
            raise _error_of(self._base + path, status, text)
        unknown = answered.get("X-Unknown-Parameters")
        if unknown is not None:
            raise _unknown_parameters(unknown, status)
        if answered.get_content_type() == "text/html" and "X-Row-Count" not in answered:
            # For example a sign-in page. The only page that the client requests is a report.
            raise _not_ours(self._base + path, status, "it is a page")
        return answered, text

    def _send(self, path: str, body: bytes | None, headers: dict[str, str], method: str | None = None) -> tuple[int, Any, bytes]:
        cancelled = CANCELLED.get()
        # A job is removed all the same.
        if cancelled is not None and cancelled.is_set() and method != "DELETE":
            raise NearskyError("The task that waits for this was cancelled", "cancelled", 0)
        sent = {"User-Agent": f"nearsky-python/{__version__}", "Content-Type": "application/octet-stream", **headers}
        if body is None:
            del sent["Content-Type"]
        sent.update(self._place.headers())
        request = urllib.request.Request(self._base + path, body, sent, method=method)
        try:
            response = urllib.request.urlopen(request, timeout=self._timeout_seconds)
        except urllib.error.HTTPError as error:
            # An answer, too.
            response = error
        except (http.client.HTTPException, OSError) as error:
            # urllib.error.URLError is an OSError; urllib raises other errors unchanged.
            raise NoAnswerError(self._base, error) from error
        with response:
            self._place.note(response.headers)
            try:
                return response.status, response.headers, response.read()
            except (http.client.HTTPException, ConnectionError) as error:
                raise _BrokenOff(self._base, error) from error
            except OSError as error:
                raise NoAnswerError(self._base, error) from error


class NoAnswerError(NearskyError):
    """The service cannot be reached, or its answer was truncated: `no_answer`."""

    def __init__(self, address: str, error: Exception) -> None:
        reason = getattr(error, "reason", None) or error
        super().__init__(f"Cannot get an answer from {address}: {reason!r}", "no_answer", 0, retryable=True)


class _BrokenOff(NoAnswerError):
    """An answer was truncated."""


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        # Reading the port and encoding the name raise the errors that urllib would raise later.
        is_usable = parts.scheme in ("http", "https") and parts.port != 0 and (parts.hostname or "").encode("idna") != b""
    except ValueError:
        is_usable = False
    if not is_usable or re.search(r"[\x00-\x20\x7f]", address):
        raise ValueError(f"Cannot use the address {address!r}: give one such as http://127.0.0.1:8080")


def _address_of(path: str, query: dict[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _selection(
    start: Any, end: Any, time_field: str | None, status: str | None, detail: str | None, filters: dict[str, Any] | None
) -> dict[str, Any]:
    """The parameters that select objects."""
    return {"start": _time(start), "end": _time(end), "time_field": time_field, "status": status, "detail": detail, **(filters or {})}


def _area_of(area: Any) -> bytes:
    if isinstance(area, (bytes, bytearray)):
        return bytes(area)
    if isinstance(area, os.PathLike):
        with open(area, "rb") as file:
            return file.read()
    # A MOC of mocpy can be written as text.
    return (area.to_string() if hasattr(area, "to_string") else str(area)).encode()


def _input_of(value: Any) -> dict[str, Any]:
    """An input in the API's form."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        is_id = value.isascii() and value.isdigit()
        return {"kind": "id", "diaObjectId": value} if is_id else {"kind": "tns", "name": value}
    if _is_sky_coord(value):
        value = _place_of(value)
    if isinstance(value, (tuple, list)) and len(value) == 2 and _is_sky_coord(value[0]):
        value = (*_place_of(value[0]), value[1])
    if isinstance(value, (tuple, list)) and len(value) in (2, 3):
        units = {"ra": "deg", "dec": "deg", "radius_arcsec": "arcsec"}
        return {"kind": "position", **{name: _finite(_number(each, units[name])) for name, each in zip(units, value)}}
    if isinstance(value, float):
        raise TypeError(f"Cannot look up the float {value!r}: give identifiers as integers, as a float loses digits")
    try:
        # Accepts NumPy integers, too. Numbers that have lost digits, and other types, have no `__index__`.
        return {"kind": "id", "diaObjectId": str(index(value))}
    except TypeError:
        hint = "give an identifier as an integer or text, a position as (ra, dec, radius), or as (ra, dec) or a SkyCoord with radius_arcsec"
        raise TypeError(f"Cannot look up {value!r} because it is of type {type(value).__name__}: {hint}") from None


def _sample_inputs(sample: Any, does: str) -> list[dict[str, Any]] | None:
    """The inputs of a list. None for a table."""
    if isinstance(sample, (str, dict)):
        raise TypeError(f"Cannot {does} a {type(sample).__name__}: give a list of inputs, or a table")
    if isinstance(sample, (bytes, bytearray, memoryview)) or hasattr(sample, "columns"):
        return None
    return [_input_of(each) for each in (_positions_of(sample) if _is_sky_coord(sample) else sample)]


def _sent_table(table: Any) -> tuple[bytes, str | None, Callable[[bytes], Any]]:
    """The bytes of a table, the format of the answer, and the function that converts the answer's bytes."""
    if isinstance(table, (bytes, bytearray, memoryview)):
        return bytes(table), None, lambda answer: answer
    if _is_sky_coord(table):
        places = _icrs(table.reshape(1) if table.isscalar else table.ravel())
        table = _module("astropy.table").Table({"ra": places.ra.deg, "dec": places.dec.deg})
    module = type(table).__module__.partition(".")[0]
    out = io.BytesIO()
    if module == "pandas" and hasattr(table, "to_parquet"):
        _module("pyarrow")
        table.to_parquet(out, index=False)
        return out.getvalue(), "parquet", _pandas_table
    if module == "polars" and hasattr(table, "write_parquet"):
        table.write_parquet(out)
        return out.getvalue(), "parquet", _polars_table
    if hasattr(table, "colnames") and hasattr(table, "write"):
        table = _in_known_frames(table)
        stated = {key: value for key, value in table.meta.items() if str(key).upper() in _FRAME_KEYWORDS}
        # astropy leaves the metadata of a table out of VOTables.
        if not stated:
            try:
                table.write(out, format="votable")
                return out.getvalue(), "votable", _astropy_table
            except (TypeError, ValueError):
                pass
        # ECSV also holds columns of SkyCoord, Time or unsigned 64-bit integers, with the frame of a SkyCoord.
        table = table.copy(copy_data=False)
        table.meta = stated
        text = io.StringIO()
        table.write(text, format="ascii.ecsv")
        return text.getvalue().encode(), "votable", _astropy_table
    hint = "give a DataFrame of pandas or Polars, a Table of astropy, an array of SkyCoord, or the bytes of a file"
    raise TypeError(f"Cannot send a {type(table).__name__} as a table: {hint}")


def _in_known_frames(table: Any) -> Any:
    """The table, with its columns of SkyCoord in a frame that the service does not convert, such as an ecliptic one, converted to ICRS."""
    other = [name for name in table.colnames if _is_sky_coord(table[name]) and table[name].frame.name not in _KNOWN_FRAMES]
    if other:
        table = table.copy(copy_data=False)
        for name in other:
            table[name] = table[name].icrs
    return table


def _module(name: str) -> Any:
    """Imports a module that only some functions need, and that an extra installs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        extra = "pandas" if package == "pyarrow" else package
        raise ImportError(f"This needs {package}: pip install 'nearsky[{extra}]'", name=name) from error


def _pandas_table(answer: bytes) -> Any:
    pandas = _module("pandas")
    _module("pyarrow")
    return pandas.read_parquet(io.BytesIO(answer))


def _polars_table(answer: bytes) -> Any:
    return _module("polars").read_parquet(io.BytesIO(answer))


def _astropy_table(answer: bytes) -> Any:
    return _module("astropy.table").Table.read(io.BytesIO(answer), format="votable")


def _row_list(answer: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.splitlines()]


# The metadata that states the frame of positions. A table that was read from an IPAC table has it in keywords.
_FRAME_KEYWORDS = {"RADESYS", "RADECSYS", "EQUINOX", "EPOCH", "KEYWORDS"}

# The frames of astropy that the service converts.
_KNOWN_FRAMES = ("icrs", "fk5", "fk4", "galactic")

# The kinds of answers to a query: the format that is requested, and the function that converts its bytes.
_QUERY_KINDS: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    "rows": ("ndjson", _row_list),
    "pandas": ("parquet", _pandas_table),
    "polars": ("parquet", _polars_table),
    "astropy": ("votable", _astropy_table),
}


# The kinds of reports.
_SAMPLE_KINDS: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    "report": ("json", json.loads),
    **{kind: _QUERY_KINDS[kind] for kind in ("pandas", "polars", "astropy")},
    **{kind: (kind, bytes.decode) for kind in ("latex", "html")},
}


def _table_of_inputs(inputs: list[dict[str, Any]]) -> bytes:
    """Inputs as CSV. The column of names also has the labels."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["diaObjectId", "name", "ra", "dec"])
    for each in inputs:
        if each.get("radius_arcsec") is not None:
            raise ValueError("Cannot send this many inputs with a radius of their own: leave it out, or give radius_arcsec")
        if each.get("kind") == "tns" and each.get("label") not in (None, each.get("name")):
            raise ValueError("Cannot send this many inputs with a label beside a name of the Transient Name Server: leave the label out")
        position = [None if each.get(name) is None else repr(float(each[name])) for name in ("ra", "dec")]
        rows.writerow([each.get("diaObjectId"), each.get("label") or each.get("name"), *position])
    return text.getvalue().encode()


def _circle_of(ra: Any, dec: Any, radius_arcsec: Any) -> dict[str, Any]:
    """The parameters of a circle. A SkyCoord may replace ra and dec."""
    if _is_sky_coord(ra):
        if dec is not None and radius_arcsec is not None:
            raise TypeError("Cannot search around a SkyCoord and a declination: give a SkyCoord and a radius, or ra, dec and a radius")
        radius_arcsec = dec if radius_arcsec is None else radius_arcsec
        ra, dec = _place_of(ra)
    return {"ra": _number(ra, "deg"), "dec": _number(dec, "deg"), "radius_arcsec": _number(radius_arcsec, "arcsec")}


def _is_sky_coord(value: Any) -> bool:
    """Whether the value is an astropy SkyCoord, or a frame with positions, which is converted to one."""
    return hasattr(value, "transform_to")


def _icrs(coord: Any) -> Any:
    return _module("astropy.coordinates").SkyCoord(coord).icrs


def _place_of(coord: Any) -> tuple[float, float]:
    """Right ascension and declination of one position, in degrees."""
    if not coord.isscalar:
        raise TypeError(f"Cannot take {len(coord)} positions as one: give an array of SkyCoord to lookups, or one of its elements")
    place = _icrs(coord)
    return float(place.ra.deg), float(place.dec.deg)


def _positions_of(coords: Any) -> list[tuple[float, float]]:
    """The positions of a SkyCoord, converted all at once, because astropy is slow for single positions."""
    place = _icrs(coords.reshape(1) if coords.isscalar else coords.ravel())
    return list(zip(place.ra.deg.tolist(), place.dec.deg.tolist()))


def _number(value: Any, unit: str) -> Any:
    """Converts a value with a unit, such as astropy's Quantity or Angle, to a number in this unit; other values are returned unchanged."""
    return float(value.to_value(unit)) if hasattr(value, "to_value") else value


def _time(value: Any) -> Any:
    """Converts astropy's Time of any scale and format to ISO 8601 in UTC; other values are returned unchanged."""
    if not hasattr(value, "scale"):
        return value
    if not value.isscalar:
        raise TypeError(f"Cannot take {len(value)} times as one: give one of the elements")
    return value.utc.to_datetime().isoformat()


def _named(names: Any) -> Any:
    """Joins a list of names; returns a string, a number or None as it is."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        return names
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python. Raises TypeError for other types."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"Cannot send {value!r} because it is of type {type(value).__name__}: give a number or a text")


def _finite(number: Any) -> float | None:
    """None for a number that JSON cannot represent. The service then rejects this input only, and answers the others."""
    value = float("nan") if number is None else float(number)
    return value if math.isfinite(value) else None


def _placed(result: dict[str, Any], index: int) -> dict[str, Any]:
    """The result with the index of its input among all inputs."""
    placed = {**result, "index": index}
    if "error" in result:
        before, after = f"inputs[{result['index']}]", f"inputs[{index}]"
        placed["error"] = {name: text.replace(before, after) for name, text in result["error"].items()}
    return placed


def _retry_after_seconds(text: str | None) -> float:
    """Returns the wait in seconds from the header, which contains a number of seconds or a date."""
    seconds = DEFAULT_RETRY_AFTER_SECONDS
    try:
        seconds = float(text) if text else seconds
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text or "").timestamp() - time.time()
        except (TypeError, ValueError):
            pass
    return min(max(0.0, seconds), MAX_RETRY_AFTER_SECONDS)


def _error_of(address: str, status: int, text: bytes) -> NearskyError:
    failure = _query_failure(text)
    if failure is not None:
        code = "service_unavailable" if status == 503 else "invalid_parameter"
        # The error does not name its parameter. If it is not QUERY, the message begins with it.
        named = re.match("(AT|MAXREC) ", failure)
        param = None if status == 503 else named[1] if named else "QUERY"
        return NearskyError(f"{failure} ({status})", code, status, param, retryable=status == 503)
    try:
        answer = json.loads(text)
        code, message = answer["code"], answer["message"]
        is_ours = isinstance(code, str)
    except (ValueError, KeyError, TypeError):
        is_ours = False
    if not is_ours:
        return _not_ours(address, status, f"it is {status}")
    param, params = answer.get("param"), answer.get("params")
    blamed = param or ", ".join(params or [])
    said = f"{message} ({status} {code}{', ' + blamed if blamed else ''})"
    return NearskyError(said, code, status, param, params, answer.get("retryable", False))


def _query_failure(text: bytes) -> str | None:
    """The message of a VOTable that is an error, or that ends with one; None for any other text."""
    found = re.search(rb'<INFO name="QUERY_STATUS" value="ERROR">(.*?)</INFO>', text, re.DOTALL)
    return html.unescape(found[1].decode()) if found else None


def _unknown_parameters(header: str, status: int) -> NearskyError:
    """Returns the error for parameters that the service has ignored: the answer is then not the requested one."""
    params, said = [], []
    for item in header.split(", "):
        name, _, more = item.partition(";")
        key, _, value = more.partition("=")
        if key == "more":
            said.append(f"{value} others")
            continue
        params.append(unquote(name))
        said.append(unquote(name) + (f" (did you mean {unquote(value)}?)" if key == "did-you-mean" else ""))
    message = f"The service does not know {', '.join(said)} and has answered without: leave out or correct these"
    return NearskyError(message, "unknown_parameter", status, params=params)


def _not_ours(address: str, status: int, why: str) -> NearskyError:
    message = f"Cannot read what {address} answers because {why}: is this the address of a nearsky service?"
    return NearskyError(message, "not_nearsky", status, retryable=status >= 500)


# A column's type in pandas, and its unit in astropy's spelling.
_Kind = tuple[str, "str | None"]

# Statistics of a match at `full`: an object in JSON, columns in tables. Older services have none, or have them on the match.
_WORTH: dict[str, _Kind] = {
    "chance_probability": ("Float64", None),
    "source_density": ("Float64", "arcmin-2"),
    "sources_within_radius": ("Int64", None),
    "second_separation_arcsec": ("Float64", "arcsec"),
    "normalized_separation": ("Float64", None),
    "match_probability": ("Float64", None),
    "any_match_probability": ("Float64", None),
}

_OF_SOURCE: dict[str, _Kind] = {
    "matches": ("Int64", None),
    "source_id": ("Int64", None),
    "separation_arcsec": ("Float64", "arcsec"),
    "separation_at_epoch_arcsec": ("Float64", "arcsec"),
    "release": ("string", None),
    **_WORTH,
    "ra": ("Float64", "deg"),
    "dec": ("Float64", "deg"),
}



def _floats(unit: str | None, *names: str) -> dict[str, _Kind]:
    return {name: ("Float64", unit) for name in names}


def _integers(unit: str | None, *names: str) -> dict[str, _Kind]:
    return {name: ("Int64", unit) for name in names}


def _gold(bands: str) -> dict[str, _Kind]:
    return {
        **_floats("mag", *(f"wavg_mag_psf_{band}" for band in bands), *(f"wavg_magerr_psf_{band}" for band in bands)),
        **_floats("arcsec2", "bdf_t"),
        **_floats(None, "bdf_g_1", "bdf_g_2", "bdf_fracdev", "dnf_z", "dnf_zsigma"),
        **_integers(None, "ext_mash", "flags_gold", "flags_foreground", "flags_footprint", "bdf_flags"),
    }


# For each catalog the columns of its payload, except `ra` and `dec`.
_PAYLOADS: dict[str, dict[str, _Kind]] = {
    "gaia_dr3": {
        **_floats("mag", "phot_g_mean_mag", "phot_bp_mean_mag", "phot_rp_mean_mag"),
        **_floats(None, "phot_g_mean_flux_over_error", "phot_bp_mean_flux_over_error", "phot_rp_mean_flux_over_error"),
        **_floats("mas", "ra_error", "dec_error", "parallax", "parallax_error"),
        **_floats("mas/yr", "pmra", "pmra_error", "pmdec", "pmdec_error"),
        **_floats("yr", "ref_epoch"),
        **_floats(None, "classprob_dsc_combmod_star", "classprob_dsc_combmod_galaxy", "classprob_dsc_combmod_quasar", "ruwe"),
        **_floats("mas", "astrometric_excess_noise"),
        **_floats(None, "astrometric_excess_noise_sig"),
    },
    "des_y6_gold": _gold("grizy"),
    "delve_dr3_gold": _gold("griz"),
    "skymapper_dr4": {
        **_floats("mag", *(f"{band}_psf" for band in "uvgriz"), *(f"e_{band}_psf" for band in "uvgriz")),
        **_floats("deg", "raj2000", "dej2000"),
        **_integers("mas", "e_raj2000", "e_dej2000"),
        **_floats(None, "class_star"),
        **_integers(None, "flags", "nimaflags", "ngood"),
    },
}


# Catalogs with proper motions.
_MOVING = {"gaia_dr3"}


def _source_columns(catalog: str) -> dict[str, _Kind]:
    """The columns of a catalog's nearest source."""
    columns = {**_OF_SOURCE, **_PAYLOADS[catalog]}
    if catalog not in _MOVING:
        del columns["separation_at_epoch_arcsec"]
    return columns


def _column_types() -> dict[str, str]:
    """The columns of `rows` and their pandas types: the columns of the service's own tables at `full` with filters, in their order."""
    return {
        "input_index": "Int64",
        "input_kind": "string",
        "input_status": "string",
        "input": "string",
        "input_error": "string",
        "input_total": "Int64",
        "input_truncation": "string",
        "diaObjectId": "Int64",
        "status": "string",
        "ra": "Float64",
        "dec": "Float64",
        "separation_arcsec": "Float64",
        "reliability": "Float64",
        "ingest_time": "string",
        "event_time": "string",
        "brokers": "string",
        "match_version": "Int64",
        "crossmatched_at": "string",
        "provenance_set": "string",
        **{f"{catalog}_outcome": "string" for catalog in _PAYLOADS},
        "matches": "Int64",
        **{
            f"{catalog}_{name}": kind
            for catalog in _PAYLOADS
            for name, (kind, _) in _source_columns(catalog).items()
        },
        "tns_checked": "boolean",
        "tns_name": "string",
        "tns_name_prefix": "string",
        "tns_classification": "string",
        "tns_redshift": "Float64",
        "tns_separation_arcsec": "Float64",
        "qualifies": "boolean",
        "qualifies_reason": "string",
    }


_TYPES = _column_types()
_UNITS = {
    **{name: "deg" for name in ("ra", "dec")},
    **{name: "arcsec" for name in ("separation_arcsec", "tns_separation_arcsec")},
    **{f"{catalog}_{name}": unit for catalog in _PAYLOADS for name, (_, unit) in _source_columns(catalog).items()},
}


def rows(objects: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Objects, or the results of lookups, as flat rows: one row per object, and one for a result without objects.

    Every row has all columns, regardless of the request; a missing value is None. The columns have the names of the service's own tables
    (`format=csv`). Each catalog has its number of sources and the nearest one, with a column for each payload key that
    the catalog has. Objects in a probability map also have `credible_level`. Times are texts, like in the API.
    """
    for each in objects:
        if "objects" not in each:
            yield _row_of({}, each)
            continue
        head = _input_columns(each)
        if not each["objects"]:
            head.update({name: each[name] for name in ("qualifies", "qualifies_reason") if name in each})
        for found in each["objects"] or [{}]:
            yield _row_of(head, found)


def _input_columns(result: dict[str, Any]) -> dict[str, Any]:
    """Returns the values that all rows of a lookup's result share."""
    known = result["normalized"]
    if known is None:
        text = json.dumps(result["input"], ensure_ascii=False)
    else:
        text = known.get("diaObjectId_str") or known.get("name") or f"{known['ra']} {known['dec']}"
    return {
        **{f"input_{name}": result[name] for name in ("index", "kind", "status")},
        "input": text,
        "input_error": result.get("error", {}).get("message"),
        "input_total": result.get("total"),
        "input_truncation": result.get("truncation"),
    }


def _row_of(head: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {**dict.fromkeys(_TYPES), **head}
    row.update({name: value for name, value in found.items() if name in _TYPES and not isinstance(value, (dict, list))})
    if "credible_level" in found:
        row["credible_level"] = found["credible_level"]
    if "brokers" in found:
        row["brokers"] = " ".join(found["brokers"])
    crossmatch = found.get("crossmatch") or {}
    for name in ("match_version", "crossmatched_at", "provenance_set"):
        row[name] = crossmatch.get(name)
    for catalog, outcome in crossmatch.get("catalog_outcomes", {}).items():
        row[f"{catalog}_outcome"] = outcome
    if "matches" in found:
        searched = [name for name, outcome in crossmatch.get("catalog_outcomes", {}).items() if outcome == "searched"]
        _put_matches(row, found["matches"], searched)
    for name, value in (_tns_of(found) or {}).items():
        if f"tns_{name}" in _TYPES:
            row[f"tns_{name}"] = value
    return row


def _put_matches(row: dict[str, Any], matches: list[dict[str, Any]], searched: list[str]) -> None:
    row["matches"] = len(matches)
    row.update({f"{catalog}_matches": 0 for catalog in searched})
    for match in sorted(matches, key=_separation, reverse=True):
        # The nearest source of a catalog comes last, and overwrites the others.
        catalog = match["catalog_name"]
        row[f"{catalog}_matches"] = (row.get(f"{catalog}_matches") or 0) + 1
        row[f"{catalog}_source_id"] = _source_id(match["catalog_source_id"])
        row[f"{catalog}_separation_arcsec"] = match["separation_arcsec"]
        at_epoch = match.get("separation_at_epoch_arcsec")
        if at_epoch is not None or catalog in _MOVING:
            row[f"{catalog}_separation_at_epoch_arcsec"] = at_epoch
        row[f"{catalog}_release"] = match.get("catalog_release")
        statistics = match.get("statistics", match)
        for name in _WORTH:
            row[f"{catalog}_{name}"] = statistics.get(name)
        row[f"{catalog}_ra"] = match.get("ra")
        row[f"{catalog}_dec"] = match.get("dec")
        payload = match.get("catalog_payload") or {}
        for name in _PAYLOADS.get(catalog, payload):
            if name not in ("ra", "dec"):
                # The service's own tables rename a column whose name is taken in the same way.
                column = f"{catalog}_{name}_2" if name in _OF_SOURCE else f"{catalog}_{name}"
                row[column] = _cell(payload.get(name), _TYPES.get(column))


def _source_id(text: str) -> int | str:
    """The id of a source as a 64-bit integer if it is one. Other ids stay text, because catalogs may use any text."""
    is_integer = re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text) is not None and -(2**63) <= int(text) < 2**63
    return int(text) if is_integer else text


def _cell(value: Any, kind: str | None) -> int | float | None:
    """Converts a payload value to the type of its column. An import may contain values that do not fit."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if kind == "Float64":
        return float(value)
    if isinstance(value, float):
        if kind is None:
            return value
        return int(value) if value.is_integer() and abs(value) < 2**53 else None
    return value if -(2**63) <= value < 2**63 else None


def _tns_of(found: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the registry's association. Answers have it on the object, recent crossmatches on each match."""
    if "tns" in found:
        association: dict[str, Any] | None = found["tns"]
        return association
    match: dict[str, Any] = next(iter(found.get("matches") or []), {})
    return {"checked": match["tns_checked"], **(match.get("tns") or {})} if "tns_checked" in match else None


def _separation(match: dict[str, Any]) -> float:
    separation = match.get("separation_at_epoch_arcsec", match["separation_arcsec"])
    return float("inf") if separation is None else separation


def to_pandas(objects: Iterable[dict[str, Any]]) -> Any:
    """`rows` as a pandas DataFrame, with the same columns and types for any rows, even for none.

    Integers are Int64, which keeps every digit and allows missing values. Texts have the type string.
    """
    pandas = _module("pandas")
    table, types = _columns(objects)
    return pandas.DataFrame({name: pandas.array(values, dtype=types[name]) for name, values in table.items()})


def to_astropy(objects: Iterable[dict[str, Any]]) -> Any:
    """`rows` as an astropy Table, with the same columns and types for any rows.

    Missing values are masked. Columns have units; payload columns have the units of their catalog.
    """
    astropy = _module("astropy.table")
    columns, types = _columns(objects)
    table = astropy.Table()
    for name, values in columns.items():
        kind = {"Int64": "int64", "Float64": "float64", "boolean": "bool", "string": "str"}[types[name]]
        empty = {"int64": 0, "float64": float("nan"), "bool": False, "str": ""}[kind]
        filled = [empty if value is None else value for value in values]
        table[name] = astropy.MaskedColumn(filled, mask=[value is None for value in values], dtype=kind, unit=_UNITS.get(name))
    return table


def _columns(objects: Iterable[dict[str, Any]]) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The columns and their types. Columns of catalogs that this client does not know come last."""
    table = list(rows(objects))
    further = dict.fromkeys(name for row in table for name in row if name not in _TYPES)
    types = {**_TYPES, **{name: _type_of(name, [row.get(name) for row in table]) for name in further}}
    columns = {name: [row.get(name) for row in table] for name in types}
    for name in further:
        if types[name] == "string":
            columns[name] = [None if value is None else str(value) for value in columns[name]]
    return columns, types


# The ends of the names of columns that hold floats, even if all values are whole.
_FLOATS = tuple(f"_{name}" for name, (kind, _) in _OF_SOURCE.items() if kind == "Float64")


def _type_of(column: str, values: list[Any]) -> str:
    """The type of a column in a catalog that this client does not know."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known) or (not known and column.endswith(("_outcome", "_release"))):
        return "string"
    is_whole = all(isinstance(value, int) for value in known)
    return "Int64" if is_whole and not column.endswith(_FLOATS) else "Float64"
