"""Client of nearsky: lookups of any size, walks over cones and recent crossmatches, tables.

Needs nothing but the standard library; `to_pandas` and `to_astropy` need what they are named after.

    from nearsky import Nearsky

    service = Nearsky("http://127.0.0.1:8080")
    for result in service.lookups([313637935709683761, (61.62, -49.29, 5), "SN 2099aaa"]):
        print(result["input"], result["status"])

Answers are dictionaries with the keys of the API (`/api-docs` of the service). Identifiers are Python's integers, which lose no digit.
Angles are ICRS degrees, separations and radii arcsec.
"""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.request
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from operator import index
from typing import Any, Callable, Iterable, Iterator
from urllib.parse import quote, unquote, urlencode

__all__ = ["Nearsky", "NearskyError", "Walk", "rows", "to_astropy", "to_pandas"]
__version__ = "0.2.0"

DEFAULT_RETRY_AFTER_SECONDS = 30.0
MAX_RETRY_AFTER_SECONDS = 300.0

Progress = Callable[[int, "int | None"], None]


class NearskyError(Exception):
    """An answer that is an error.

    `code` is that of the API; or `not_nearsky` where the answer is none of a nearsky service, `repeated_cursor` where a walk would not
    end, `unknown_parameter` where the service has ignored `params`, such as a misspelt filter. `status` is that of HTTP; `param` the parameter at fault, or `params` where they are several; `retryable` whether the same
    request may succeed later.
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


class Walk:
    """Objects of a walk, page by page: iterate over it, or over `pages()`; each iteration goes on where the walk stands.

    `cursor` is that of the page that is being given, or is next: a new walk with it begins there. None on the first page. `is_done` says
    whether all pages have been given.
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
        """The pages as the API gives them. Raises NearskyError `repeated_cursor` where the service gives a cursor twice."""
        seen = {self.cursor}
        done = 0
        while not self.is_done:
            page = self._get(self.cursor)
            following = page["next_cursor"]
            if following is not None and following in seen:
                raise NearskyError(
                    f"Cannot go on as the service gave the cursor {following[:40]}... twice: the walk would never end",
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


class Nearsky:
    """A nearsky service.

    address: for example `http://127.0.0.1:8080`
    concurrency: requests at once of a lookup, at least 1
    timeout_seconds: of each request
    on_progress: called after each request of a lookup or a walk with how many inputs or objects have been given, and how many there
        are, or None where that is not known

    Every method raises NearskyError, also after the one retry that a 503 gets when its `Retry-After` is over, and
    urllib.error.URLError where there is no answer.
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
        self._base = address.rstrip("/")
        self._concurrency = concurrency
        self._timeout_seconds = timeout_seconds
        self._on_progress = on_progress
        self._limits: dict[str, Any] | None = None

    def object(self, dia_object_id: int | str, detail: str | None = None, filters: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of an identifier. One that the service does not have is a result with the status `not_in_service`."""
        query = {"detail": detail, **(filters or {})}
        return self._get(f"/api/objects/{quote(str(dia_object_id), safe='')}", query)["results"][0]

    def tns(
        self,
        name: str,
        radius_arcsec: float | None = None,
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The result of a name of the Transient Name Server."""
        query = {"radius_arcsec": radius_arcsec, "detail": detail, **(filters or {})}
        return self._get(f"/api/tns/{quote(name, safe='')}", query)["results"][0]

    def describe(self) -> dict[str, Any]:
        """Catalogs, filters and limits, as configured."""
        return self._get("/api/describe", {})

    def status(self) -> dict[str, Any]:
        """Whether the service can answer now."""
        return self._get("/api/status", {})

    def lookup(self, inputs: Iterable[Any], **options: Any) -> list[dict[str, Any]]:
        """`lookups`, as a list."""
        return list(self.lookups(inputs, **options))

    def lookups(
        self,
        inputs: Iterable[Any],
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        radius_arcsec: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """A result for each of any number of inputs, in their order, in as many requests as it takes, several at once.

        An integer or a text of digits is an identifier, another text a name of the Transient Name Server; a pair or triple is right
        ascension, declination and radius; a dictionary is an input of the API. radius_arcsec is that of inputs that have none of their
        own. Inputs are taken as they are needed. `index` of a result is the place of its input among all.
        """
        total = len(inputs) if hasattr(inputs, "__len__") else None  # type: ignore[arg-type]
        options = {"detail": detail, "filters": filters, "radius_arcsec": radius_arcsec}
        chunks = self._chunks(inputs)
        running: deque[Future[list[dict[str, Any]]]] = deque()
        done = 0
        with ThreadPoolExecutor(self._concurrency) as pool:
            try:
                while True:
                    while len(running) < self._concurrency:
                        chunk = next(chunks, None)
                        if chunk is None:
                            break
                        running.append(pool.submit(self._lookup_chunk, chunk, options))
                    if not running:
                        return
                    for result in running.popleft().result():
                        yield _placed(result, done)
                        done += 1
                    if self._on_progress:
                        self._on_progress(done, total)
            finally:
                for future in running:
                    future.cancel()

    def cone(
        self,
        ra: float | None = None,
        dec: float | None = None,
        radius_arcsec: float | None = None,
        detail: str | None = None,
        filters: dict[str, Any] | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> Walk:
        """The objects within a radius, by ingest time, then identifier. Without a cursor, position and radius must be given."""
        query = {"ra": ra, "dec": dec, "radius_arcsec": radius_arcsec, "detail": detail, "page_size": page_size}
        return self._walk("/api/cone", {**query, **(filters or {})}, cursor, lambda page: page["results"][0]["objects"])

    def recent(
        self,
        start: str | None = None,
        end: str | None = None,
        time_field: str | None = None,
        detail: str | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> Walk:
        """Objects with coincident sources in a window of time (ISO 8601; its end is exclusive), latest first."""
        query = {"start": start, "end": end, "time_field": time_field, "detail": detail, "page_size": page_size}
        return self._walk("/api/recent-crossmatches", query, cursor, lambda page: page["objects"])

    def _walk(
        self,
        path: str,
        query: dict[str, Any],
        cursor: str | None,
        objects_of: Callable[[dict[str, Any]], list[dict[str, Any]]],
    ) -> Walk:
        return Walk(lambda at: self._get(path, {**query, "cursor": at}), objects_of, cursor, self._on_progress)

    def _lookup_chunk(self, inputs: list[dict[str, Any]], options: dict[str, Any]) -> list[dict[str, Any]]:
        """The results of inputs that one request may have. What the limit of a whole request has cut is asked for again, alone."""
        results = self._post("/api/lookup", {"inputs": inputs, **options})["results"]
        cut = [i for i, result in enumerate(results) if result.get("truncation") == "per_request_limit"]
        if cut and len(cut) < len(inputs):
            again = self._lookup_chunk([inputs[i] for i in cut], options)
            for i, result in zip(cut, again):
                results[i] = result
        return results

    def _chunks(self, inputs: Iterable[Any]) -> Iterator[list[dict[str, Any]]]:
        """Runs of inputs that one request may have, by the limits of the service as it is configured now."""
        if self._limits is None:
            self._limits = self.describe()["limits"]
        max_ids, max_positions = self._limits["max_ids"], self._limits["max_positions"]
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

    def _get(self, path: str, query: dict[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in query.items() if value is not None}
        return self._request(f"{path}?{urlencode(given)}" if given else path, None)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._request(path, json.dumps(body).encode())

    def _request(self, path: str, body: bytes | None) -> dict[str, Any]:
        status, headers, text = self._send(path, body)
        if status == 503:
            time.sleep(_retry_after_seconds(headers.get("Retry-After")))
            status, headers, text = self._send(path, body)
        if status != 200:
            raise _error_of(self._base + path, status, text)
        unknown = headers.get("X-Unknown-Parameters")
        if unknown is not None:
            raise _unknown_parameters(unknown, status)
        try:
            return json.loads(text)
        except ValueError as error:
            raise _not_ours(self._base + path, status, "it is no JSON") from error

    def _send(self, path: str, body: bytes | None) -> tuple[int, Any, bytes]:
        headers = {"Accept": "application/json", "User-Agent": f"nearsky-python/{__version__}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self._base + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_seconds) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()
        except urllib.error.URLError:
            raise
        except (http.client.HTTPException, OSError) as error:
            # An answer that broke off, or never began: urllib passes these on as they are.
            raise urllib.error.URLError(error) from error


def _input_of(value: Any) -> dict[str, Any]:
    """An input in the API's form."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        is_id = value.isascii() and value.isdigit()
        return {"kind": "id", "diaObjectId": value} if is_id else {"kind": "tns", "name": value}
    if isinstance(value, (tuple, list)) and len(value) in (2, 3):
        names = ("ra", "dec", "radius_arcsec")
        return {"kind": "position", **{name: _finite(number) for name, number in zip(names, value)}}
    if isinstance(value, float):
        raise TypeError(f"Cannot look up the float {value!r}: give identifiers as integers, as a float loses digits")
    try:
        # NumPy's integers, too; what has lost digits or is no number has no index.
        return {"kind": "id", "diaObjectId": str(index(value))}
    except TypeError:
        hint = "give an identifier as an integer or text, a position as (ra, dec) or (ra, dec, radius)"
        raise TypeError(f"Cannot look up {value!r} as it is of type {type(value).__name__}: {hint}") from None


def _finite(number: Any) -> float | None:
    """None of what JSON has no number for: the service finds fault with this input, and answers the others."""
    value = float("nan") if number is None else float(number)
    return value if math.isfinite(value) else None


def _placed(result: dict[str, Any], index: int) -> dict[str, Any]:
    """The result as that of an input at this place among all."""
    placed = {**result, "index": index}
    if "error" in result:
        before, after = f"inputs[{result['index']}]", f"inputs[{index}]"
        placed["error"] = {name: text.replace(before, after) for name, text in result["error"].items()}
    return placed


def _retry_after_seconds(text: str | None) -> float:
    """Of the header, which is a number of seconds or a date."""
    seconds = DEFAULT_RETRY_AFTER_SECONDS
    try:
        seconds = float(text) if text else seconds
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError):
            pass
    return min(max(0.0, seconds), MAX_RETRY_AFTER_SECONDS)


def _error_of(address: str, status: int, text: bytes) -> NearskyError:
    try:
        answer = json.loads(text)
        code, message = answer["code"], answer["message"]
    except (ValueError, KeyError, TypeError):
        return _not_ours(address, status, f"it is {status}")
    param, params = answer.get("param"), answer.get("params")
    blamed = param or ", ".join(params or [])
    said = f"{message} ({status} {code}{', ' + blamed if blamed else ''})"
    return NearskyError(said, code, status, param, params, answer.get("retryable", False))


def _unknown_parameters(header: str, status: int) -> NearskyError:
    """Of parameters that the service has ignored: its answer is not what was asked for."""
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
    message = f"Cannot read what {address} answers as {why}: is this the address of a nearsky service?"
    return NearskyError(message, "not_nearsky", status, retryable=status >= 500)


def rows(objects: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Objects, or the results of lookups, as flat rows: one an object, and one for a result without objects.

    Of each catalog there are the number of sources and identifier and separation of the nearest, by the names that the service's own
    tables have (`format=csv`).
    """
    for each in objects:
        if "objects" not in each:
            yield _row_of(each)
            continue
        head = {f"input_{name}": each[name] for name in ("index", "kind", "status")}
        for found in each["objects"] or [{}]:
            yield {**head, **_row_of(found)}


def _row_of(found: dict[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in found.items() if not isinstance(value, (dict, list)) and name != "diaObjectId_str"}
    if "brokers" in found:
        row["brokers"] = " ".join(found["brokers"])
    for catalog, outcome in ((found.get("crossmatch") or {}).get("catalog_outcomes") or {}).items():
        row[f"{catalog}_outcome"] = outcome
    for match in sorted(found.get("matches") or [], key=_separation):
        catalog = match["catalog_name"]
        row[f"{catalog}_matches"] = row.get(f"{catalog}_matches", 0) + 1
        row.setdefault(f"{catalog}_source_id", int(match["catalog_source_id"]))
        row.setdefault(f"{catalog}_separation_arcsec", match["separation_arcsec"])
    for name in ("name", "classification", "redshift", "separation_arcsec"):
        if isinstance(found.get("tns"), dict):
            row[f"tns_{name}"] = found["tns"][name]
    return row


def _separation(match: dict[str, Any]) -> float:
    separation = match["separation_arcsec"]
    return float("inf") if separation is None else separation


def to_pandas(objects: Iterable[dict[str, Any]]) -> Any:
    """`rows` as a pandas DataFrame. Columns of integers are Int64, which keeps every digit beside missing values."""
    import pandas

    columns = _columns(objects)
    return pandas.DataFrame({name: pandas.array(values, dtype=_dtype(values)) for name, values in columns.items()})


def _dtype(values: list[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "Int64"
    return "Float64" if kinds and kinds <= {int, float} else "object"


def to_astropy(objects: Iterable[dict[str, Any]]) -> Any:
    """`rows` as an astropy Table; missing values are masked, positions have units."""
    from astropy.table import MaskedColumn, Table

    table = Table()
    for name, values in _columns(objects).items():
        kind = {"Int64": "int64", "Float64": "float64", "boolean": "bool", "object": "str"}[_dtype(values)]
        empty = {"int64": 0, "float64": float("nan"), "bool": False, "str": ""}[kind]
        filled = [empty if value is None else value for value in values]
        unit = "deg" if name in ("ra", "dec") else "arcsec" if name.endswith("_arcsec") else None
        table[name] = MaskedColumn(filled, mask=[value is None for value in values], dtype=kind, unit=unit)
    return table


def _columns(objects: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Every name that some row has, with a value a row."""
    table = list(rows(objects))
    names = list(dict.fromkeys(name for row in table for name in row))
    return {name: [row.get(name) for row in table] for name in names}
