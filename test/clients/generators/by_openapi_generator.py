"""Asks a service by the client that openapi-generator has made, and prints what it got, as JSON. Usage: FILE URL DIAOBJECTID"""

import json
import sys

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

print(
    json.dumps(
        {
            "details": details,
            "cone": [str(found.dia_object_id) for found in page.results[0].objects],
            "truncated": page.truncated,
            "lookup": [[name(result), result.actual_instance.status] for result in results],
            "recent": sorted({name(match) for found in recent.objects for match in found.matches}),
            "refused": refused,
            "others": [type(api.describe_service()).__name__, hasattr(api.get_sky_map().actual_instance, "by_status")],
        }
    )
)
