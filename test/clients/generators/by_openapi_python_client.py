"""Asks a service by the client that openapi-python-client has made, and prints what it got, as JSON. Usage: FILE URL DIAOBJECTID"""

import json
import sys
import time
from datetime import datetime, timedelta, timezone
from importlib import import_module
from io import BytesIO

from made_client import Client, models
from made_client.api.default import (
    cone_search,
    crossmatch_table,
    delete_kept_sample,
    describe_service,
    describe_tasks,
    find_objects_of_source,
    find_sources,
    get_kept_sample_input,
    get_match_feed,
    get_object,
    get_object_feed,
    get_openapi,
    get_sample_feed,
    get_sky_map,
    get_validation,
    head_tasks,
    keep_sample,
    list_objects,
    list_tasks,
    lookup_objects,
    recent_crossmatches,
    report_kept_sample,
    report_sample,
    resolve_tns,
    search_area,
    service_status,
    stream_matches,
    stream_matches_in_area,
    stream_objects,
    stream_objects_in_area,
)
from made_client.models import CrossmatchTableFormat, CrossmatchTableRows, Error, FindObjectsOfSourceCatalog, GetObjectDetailLevel, IdInput, LookupRequest, PositionInput, RecentCrossmatchesDetailLevel, TnsInput
from made_client.types import File

client = Client(base_url=sys.argv[1])
known = int(sys.argv[2])
name = lambda value: type(value).__name__

details = {}
for detail in GetObjectDetailLevel:
    [found] = get_object.sync(str(known), client=client, detail=detail).results[0].objects
    assert found.dia_object_id == known
    details[detail.value] = [name(match) for match in found.matches or []]

page = cone_search.sync(client=client, ra=150, dec=2, radius_arcsec=5)
inputs = [
    IdInput(kind="id", dia_object_id=known),
    PositionInput(kind="position", ra=150, dec=2, radius_arcsec=5),
    TnsInput(kind="tns", name="2026abc"),
    PositionInput(kind="position", ra=999, dec=2, radius_arcsec=5),
]
results = lookup_objects.sync(client=client, body=LookupRequest(inputs=inputs)).results
recent = recent_crossmatches.sync(client=client, start="2026-09-21", end="2026-09-23", detail=RecentCrossmatchesDetailLevel.FULL)
refused = cone_search.sync(client=client, ra=999, dec=2, radius_arcsec=5)
assert isinstance(refused, Error)

# The operations that nothing above calls.
TABLE = b"ra,dec\n150,2\n10,20\n"
table = File(BytesIO(TABLE))
kept = keep_sample.sync(client=client, body=File(BytesIO(TABLE)), title="mine")
others = {
    "get_openapi": get_openapi.sync(client=client).openapi,
    "resolve_tns": resolve_tns.sync("2026abc", client=client).results[0].status.value,
    "service_status": service_status.sync(client=client).database.value,
    "describe_service": describe_service.sync(client=client).default_detail,
    "stream_matches": stream_matches.sync(client=client, from_="later").code.value,
    "stream_matches_in_area": stream_matches_in_area.sync(client=client, area="CIRCLE 150 2 1", from_="later").code.value,
    "stream_objects": stream_objects.sync(client=client, from_="later").code.value,
    "stream_objects_in_area": stream_objects_in_area.sync(client=client, area="CIRCLE 150 2 1", from_="later").code.value,
    "find_sources": find_sources.sync(client=client, ra=150, dec=2, radius_arcsec=5).count,
    "find_objects_of_source": find_objects_of_source.sync(FindObjectsOfSourceCatalog.GAIA_DR3, str(known), client=client).count,
    "search_area": [
        search_area.sync(client=client, area="CIRCLE 150 2 1").count,
        search_area.sync(client=client, body=File(BytesIO(b"CIRCLE 150 2 1"))).count,
    ],
    "list_objects": list_objects.sync(client=client).count,
    "crossmatch_table": crossmatch_table.sync(client=client, body=table, format_=CrossmatchTableFormat.CSV, rows=CrossmatchTableRows.MATCHED).splitlines(),
    "report_sample": report_sample.sync(client=client, body=File(BytesIO(TABLE))).count,
    "keep_sample": kept.title,
    "report_kept_sample": report_kept_sample.sync(kept.id, client=client).count,
    "get_kept_sample_input": get_kept_sample_input.sync(kept.id, client=client).payload.read().decode(),
    "get_match_feed": get_match_feed.sync_detailed(client=client).content[:5].decode(),
    "get_object_feed": get_object_feed.sync_detailed(client=client).content[:5].decode(),
    "get_sample_feed": get_sample_feed.sync_detailed(kept.id, client=client).content[:5].decode(),
    "delete_kept_sample": delete_kept_sample.sync_detailed(kept.id, client=client).status_code.value,
    "get_validation": get_validation.sync(client=client).status,
    "get_sky_map": get_sky_map.sync(client=client).layer,
    "list_tasks": len(list_tasks.sync(client=client)),
    "head_tasks": head_tasks.sync_detailed(client=client).status_code.value,
    "describe_tasks": describe_tasks.sync(client=client).parses,
}

# The operations of the Virtual Observatory, by name: whether each answers.
answers = {}


def call(name, *args, **fields):
    answer = import_module(f"made_client.api.default.{name}").sync_detailed(*args, client=client, **fields)
    answers[name] = answer.status_code.value in (200, 202, 303)
    return answer


def change(name, *args, **fields):
    """Changes a job. Other jobs may have ended, and then refuses."""
    answer = call(name, *args, **fields)
    answers[name] = answers[name] or "query" not in name and answer.status_code.value == 400


def model(operation, suffix="Body"):
    """The class of a form, or of a value in it."""
    return getattr(models, "".join(part.capitalize() for part in operation.split("_")) + suffix)


def form(operation, **fields):
    return model(operation)(**fields)


QUERY = "SELECT COUNT(*) AS n FROM nearsky.objects"
# The first query begins to make the tables.
while call("query", lang=models.QueryLANG.ADQL, query=QUERY, responseformat="csv").status_code != 200:
    time.sleep(0.2)
rows = call("query", lang=models.QueryLANG.ADQL, query=QUERY, responseformat="csv").parsed
call("query_by_form", body=models.QueryByFormDataBody(lang=models.QueryByFormDataBodyLANG.ADQL, query=QUERY))
for document in ("entrance", "capabilities", "availability", "tables", "examples"):
    call(f"tap_{document}")
call("tap_table", "nearsky.objects")


def new_query():
    body = models.CreateQueryJobDataBody(lang=models.CreateQueryJobDataBodyLANG.ADQL, query=QUERY)
    return call("create_query_job", body=body)


def new_table():
    return call("crossmatch_table", body=File(BytesIO(b"ra,dec\n150,2\n")), prefer="respond-async")


def new_sample():
    return call("report_sample", body=File(BytesIO(TABLE)), prefer="respond-async")


for job, make in (("query_job", new_query), ("table_job", new_table), ("sample_job", new_sample)):
    first, second = (make().headers["Location"].split("/")[-1] for _ in range(2))
    if job == "query_job":
        call(f"set_{job}_parameters", first, body=models.SetQueryJobParametersDataBody(maxrec=5))
    change(f"set_{job}_executionduration", first, body=form(f"set_{job}_executionduration", executionduration=60.0))
    change(f"set_{job}_phase", first, body=form(f"set_{job}_phase", phase=model(f"set_{job}_phase", "BodyPHASE").RUN))
    while call(f"get_{job}_phase", first).parsed != "COMPLETED":
        time.sleep(0.05)
    for part in ("executionduration", "destruction", "quote", "owner", "error", "parameters", "results", "result"):
        call(f"get_{job}_{part}", first)
    call(f"get_{job}", first, wait=1.0)
    call(f"list_{job}s")
    removal = datetime.now(timezone.utc)
    call(f"set_{job}_destruction", second, body=form(f"set_{job}_destruction", destruction=removal + timedelta(hours=1)))
    call(f"change_{job}", first, body=form(f"change_{job}", action=model(f"change_{job}", "BodyACTION").DELETE))
    call(f"delete_{job}", second)

del answers["crossmatch_table"], answers["report_sample"]
print(
    json.dumps(
        {
            "details": details,
            "cone": [str(found.dia_object_id) for found in page.results[0].objects],
            "truncated": page.truncated,
            "lookup": [[name(result), result.status.value if hasattr(result.status, "value") else result.status] for result in results],
            "recent": sorted({name(match) for found in recent.objects for match in found.matches}),
            "refused": refused.code.value,
            "others": others,
            "rows": rows,
            "answers": answers,
        }
    )
)
