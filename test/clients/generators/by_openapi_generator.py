"""Asks a service by the client that openapi-generator has made, and prints what it got, as JSON. Usage: FILE URL DIAOBJECTID"""

import json
import re
import sys
import time
from datetime import datetime, timedelta, timezone

from made_client import (
    ApiClient,
    ApiException,
    Configuration,
    DefaultApi,
    IdInput,
    IdInputDiaObjectId,
    LookupInput,
    LookupRequest,
    PositionInput,
    TnsInput,
)

api = DefaultApi(ApiClient(Configuration(host=sys.argv[1])))
known = int(sys.argv[2])
# A value of one of several types is wrapped.
name = lambda value: type(value.actual_instance).__name__

details = {}
for detail in ("ids", "position", "matches", "full"):
    result = api.get_object(str(known), detail=detail).actual_instance.results[0].actual_instance
    [found] = result.objects
    assert found.dia_object_id == known
    details[detail] = [name(match) for match in found.matches or []]

page = api.cone_search(ra=150, dec=2, radius_arcsec=5).actual_instance
inputs = [
    IdInput(kind="id", dia_object_id=IdInputDiaObjectId(known)),
    PositionInput(kind="position", ra=150, dec=2, radius_arcsec=5),
    TnsInput(kind="tns", name="2026abc"),
    PositionInput(kind="position", ra=20, dec=-80, radius_arcsec=5),
]
body = LookupRequest(inputs=[LookupInput(each) for each in inputs])
# It holds inputs to the document before they are sent.
body.inputs[3].actual_instance.__dict__["ra"] = 999
results = api.lookup_objects(body).actual_instance.results
recent = api.recent_crossmatches(start="2026-09-21", end="2026-09-23", detail="full")
try:
    api.recent_crossmatches(start="2026-09-23", end="2026-09-21")
    refused = None
except ApiException as error:
    refused = json.loads(error.body)["code"]

def refused_stream(name, **parameters):
    try:
        getattr(api, name)(var_from="later", **parameters)
    except ApiException as error:
        return json.loads(error.body)["code"]


# The operations that nothing above calls.
TABLE = b"ra,dec\n150,2\n10,20\n"
kept = api.keep_sample(TABLE, title="mine", _content_type="application/octet-stream")
others = {
    "get_openapi": api.get_openapi().openapi,
    "resolve_tns": api.resolve_tns("2026abc").actual_instance.results[0].actual_instance.status,
    "service_status": api.service_status().database,
    "describe_service": api.describe_service().default_detail,
    "stream_matches": refused_stream("stream_matches"),
    "stream_matches_in_area": refused_stream("stream_matches_in_area", area="CIRCLE 150 2 1"),
    "stream_objects": refused_stream("stream_objects"),
    "stream_objects_in_area": refused_stream("stream_objects_in_area", area="CIRCLE 150 2 1"),
    "find_sources": api.find_sources(ra=150, dec=2, radius_arcsec=5).count,
    "find_objects_of_source": api.find_objects_of_source("gaia_dr3", str(known)).count,
    "search_area": [
        api.search_area(area="CIRCLE 150 2 1").actual_instance.count,
        api.search_area(body=b"CIRCLE 150 2 1", _content_type="application/octet-stream").actual_instance.count,
    ],
    "list_objects": api.list_objects().actual_instance.count,
    "crossmatch_table": api.crossmatch_table(b"ra,dec\n150,2\n10,20\n", format="csv", rows="matched").decode().splitlines(),
    "report_sample": api.report_sample(TABLE, _content_type="application/octet-stream").count,
    "keep_sample": kept.title,
    "report_kept_sample": api.report_kept_sample(kept.id).count,
    "get_kept_sample_input": api.get_kept_sample_input(kept.id).decode(),
    "get_match_feed": api.get_match_feed()[:5].decode(),
    "get_object_feed": api.get_object_feed()[:5].decode(),
    "get_sample_feed": api.get_sample_feed(kept.id)[:5].decode(),
    "delete_kept_sample": api.delete_kept_sample_with_http_info(kept.id).status_code,
    "get_validation": api.get_validation().status,
    "get_sky_map": api.get_sky_map().actual_instance.layer,
    "list_tasks": len(api.list_tasks()),
    "head_tasks": api.head_tasks_with_http_info().status_code,
    "describe_tasks": api.describe_tasks().parses,
}

# The operations of the Virtual Observatory, by name: whether each answers.
answers = {}


def call(name, *args, **fields):
    answer = getattr(api, f"{name}_with_http_info")(*args, **fields)
    answers[name] = answer.status_code in (200, 202)
    return answer


def change(name, *args):
    """Changes a job. Other jobs may have ended, and then refuses."""
    try:
        call(name, *args)
    except ApiException as error:
        answers[name] = "query" not in name and error.status == 400


QUERY = "SELECT COUNT(*) AS n FROM nearsky.objects"
while True:
    try:
        rows = call("query", "ADQL", QUERY, responseformat="csv").data.decode()
        break
    except ApiException as error:
        # The first query begins to make the tables.
        assert error.status == 503
        time.sleep(0.2)
call("query_by_form", "ADQL", QUERY)
for document in ("entrance", "capabilities", "availability", "tables", "examples"):
    call(f"tap_{document}")
call("tap_table", "nearsky.objects")


def new_query():
    # The client follows the redirection to the job.
    return re.search(r"jobId>(\w+)<", call("create_query_job", lang="ADQL", query=QUERY).raw_data.decode())[1]


def new_table():
    answer = call("crossmatch_table", b"ra,dec\n150,2\n", prefer="respond-async")
    return answer.headers["Location"].split("/")[-1]


def new_sample():
    answer = call("report_sample", TABLE, prefer="respond-async", _content_type="application/octet-stream")
    return answer.headers["Location"].split("/")[-1]


for job, make in (("query_job", new_query), ("table_job", new_table), ("sample_job", new_sample)):
    first, second = make(), make()
    if job == "query_job":
        call(f"set_{job}_parameters", first, maxrec=5)
    change(f"set_{job}_executionduration", first, 60)
    change(f"set_{job}_phase", first, "RUN")
    while call(f"get_{job}_phase", first).data != "COMPLETED":
        time.sleep(0.05)
    for part in ("executionduration", "destruction", "quote", "owner", "error", "parameters", "results", "result"):
        call(f"get_{job}_{part}", first)
    call(f"get_{job}", first, wait=1)
    call(f"list_{job}s")
    call(f"set_{job}_destruction", second, datetime.now(timezone.utc) + timedelta(hours=1))
    call(f"change_{job}", first, "DELETE")
    call(f"delete_{job}", second)

del answers["crossmatch_table"], answers["report_sample"]
print(
    json.dumps(
        {
            "details": details,
            "cone": [str(found.dia_object_id) for found in page.results[0].objects],
            "truncated": page.truncated,
            "lookup": [[name(result), result.actual_instance.status] for result in results],
            "recent": sorted({name(match) for found in recent.objects for match in found.matches}),
            "refused": refused,
            "others": others,
            "rows": rows,
            "answers": answers,
        }
    )
)
