"""Asks a service by the Python client as typescript.test.ts does, and prints what it got, as JSON. Usage: check.py URL < INPUTS"""

import json
import sys

from nearsky import Nearsky, NearskyError, rows

url = sys.argv[1]
inputs = json.load(sys.stdin)
progress = []


def failure(work):
    try:
        work()
    except NearskyError as error:
        return {name: getattr(error, name) for name in ("code", "status", "param", "params", "retryable")}
    return None


service = Nearsky(url + "/", concurrency=3, on_progress=lambda done, total: progress.append([done, total]))
results = service.lookup(inputs)

walks = {}
for name, begin in {
    "cone": lambda cursor=None: service.cone(cursor=cursor, page_size=2)
    if cursor
    else service.cone(150, 2, 5, page_size=2),
    "recent": lambda cursor=None: service.recent(cursor=cursor, page_size=2)
    if cursor
    else service.recent("2026-09-21", "2026-09-23", detail="ids", page_size=2),
}.items():
    walk = begin()
    ids = []
    for found in walk:
        ids.append(found["diaObjectId"])
        if len(ids) == 5:
            break
    resumed = begin(walk.cursor)
    rest = [found["diaObjectId"] for found in resumed]
    walks[name] = {"ids": [str(each) for each in ids[:4] + rest], "done": resumed.is_done, "again": len(list(resumed))}

taken = 0


def many():
    global taken
    for taken in range(1000):
        yield 9223372036854775000 + taken


first = []
for result in Nearsky(url, concurrency=1).lookups(many(), detail="ids"):
    first.append(result["index"])
    if len(first) == 15:
        break

short = service.lookup(["2026abc", (150, 2), (150, 2, 0.5), "9223372036854775000"], radius_arcsec=2)
print(
    json.dumps(
        {
            "results": [json.dumps(result) for result in results],
            "progress": progress[: progress.index([len(inputs), len(inputs)]) + 1][-1],
            "walks": walks,
            "first": first,
            "taken": taken,
            "hours": service.lookup([(10, 2, 2)], detail="ids", ra_unit="h")[0]["objects"] == service.lookup([(150, 2, 2)], detail="ids")[0]["objects"] != [],
            "kinds": [result["kind"] for result in short],
            "bad": failure(lambda: service.lookup([{"kind": "id"}] * 3, detail="all")),
            "area": [str(found["diaObjectId"]) for found in service.area("CIRCLE 150 2 0.01", detail="ids", page_size=3)],
            "counted": service.count_area(b"CIRCLE 150 2 0.01"),
            "objects": [str(found["diaObjectId"]) for found in service.objects(page_size=2, filters={"catalog": "gaia_dr3"})],
            "pending": [str(found["diaObjectId"]) for found in service.objects(page_size=1, status="crossmatch_pending")],
            "no_area": failure(lambda: service.count_area("CIRCLE 1 2", level=0.5)),
            "sources": service.sources(150, 2, 5, catalog="gaia_dr3", limit=3)["catalogs"][0]["outcome"],
            "far": failure(lambda: service.sources(150, 2, 61)),
            "cone": failure(lambda: list(service.cone(999, 2, 1))),
            "rows": [[row.get("diaObjectId") and str(row["diaObjectId"]), row.get("gaia_dr3_source_id") and str(row["gaia_dr3_source_id"])] for row in rows(results)],
        }
    )
)
