"""Asks a query as each kind that this Python has: nearsky, and the address."""

import json
import sys
import time

from nearsky import Nearsky, NearskyError

service = Nearsky(sys.argv[1])
ADQL = "SELECT diaObjectId, ra, status, reliability FROM nearsky.objects ORDER BY diaObjectId"
kinds = {}


def has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


rows = service.query(ADQL, max_rows=12)
kinds["rows"] = [str(row["diaObjectId"]) for row in rows]
assert list(rows[0]) == ["diaObjectId", "ra", "status", "reliability"] and rows[0]["ra"] == 150, rows[0]
if has("pandas") and has("pyarrow"):
    import pandas

    found = service.query(ADQL, "pandas", 12)
    assert type(found) is pandas.DataFrame and found["diaObjectId"].dtype == "Int64"
    kinds["pandas"] = [str(each) for each in found["diaObjectId"]]
if has("polars"):
    import polars

    found = service.query(ADQL, kind="polars", max_rows=12)
    assert type(found) is polars.DataFrame
    kinds["polars"] = [str(each) for each in found["diaObjectId"]]
if has("astropy"):
    from astropy.table import Table

    found = service.query(ADQL, kind="astropy", max_rows=12)
    assert type(found) is Table and str(found["ra"].unit) == "deg"
    kinds["astropy"] = [str(each) for each in found["diaObjectId"]]
pending = "SELECT COUNT(*) AS n FROM nearsky.objects WHERE status = 'crossmatch_pending'"
for _ in range(60):
    try:
        then = service.query(pending, at=1)
        break
    except NearskyError as error:
        assert error.code == "service_unavailable", error
        time.sleep(1)
assert then == [{"n": 30}] and service.journal_entry == 1, then
try:
    service.query('SELECT "a<b&c" FROM nearsky.objects')
    raise AssertionError("it was answered")
except NearskyError as error:
    assert (error.code, error.param, error.status) == ("invalid_parameter", "QUERY", 400), error.code
    assert str(error).startswith("Line 1, column 8: ") and "a<b&c" in str(error), error
try:
    service.query(ADQL, at=999)
    raise AssertionError("it was answered")
except NearskyError as error:
    assert (error.code, error.param, error.status) == ("invalid_parameter", "AT", 400), error
# Exactly as many rows as the service gives at most: there may be more.
most = len(service.query(ADQL))
service._limits["tap"]["max_rows"] = most
for max_rows in (None, most + 1):
    try:
        service.query(ADQL, max_rows=max_rows)
        raise AssertionError("it was answered")
    except NearskyError as error:
        assert error.code == "too_many_rows" and f"{most} rows" in str(error), error
assert len(service.query(ADQL, max_rows=most)) == most
try:
    service.query(ADQL, kind="csv")
except ValueError as error:
    assert "rows, pandas, polars, astropy" in str(error)
print(json.dumps(kinds))
