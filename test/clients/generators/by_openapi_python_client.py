"""Asks a service by the client that openapi-python-client has made, and prints what it got, as JSON. Usage: FILE URL DIAOBJECTID"""

import json
import sys

from made_client import Client
from made_client.api.default import cone_search, describe_service, get_object, get_sky_map, lookup_objects, recent_crossmatches
from made_client.models import Error, GetObjectDetailLevel, IdInput, LookupRequest, PositionInput, RecentCrossmatchesDetailLevel, TnsInput

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

print(
    json.dumps(
        {
            "details": details,
            "cone": [str(found.dia_object_id) for found in page.results[0].objects],
            "truncated": page.truncated,
            "lookup": [[name(result), result.status.value if hasattr(result.status, "value") else result.status] for result in results],
            "recent": sorted({name(match) for found in recent.objects for match in found.matches}),
            "refused": refused.code.value,
            "others": [name(describe_service.sync(client=client)), hasattr(get_sky_map.sync(client=client), "by_status")],
        }
    )
)
