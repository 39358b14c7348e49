"""Asks a service by the client that openapi-python-client has made, and prints what it got, as JSON. Usage: FILE URL DIAOBJECTID"""

import json
import sys
from io import BytesIO

from made_client import Client
from made_client.api.default import (
    cone_search,
    crossmatch_table,
    describe_service,
    describe_tasks,
    find_objects_of_source,
    find_sources,
    get_object,
    get_openapi,
    get_sky_map,
    head_tasks,
    list_objects,
    list_tasks,
    lookup_objects,
    recent_crossmatches,
    resolve_tns,
    search_area,
    service_status,
    stream_matches,
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
table = File(BytesIO(b"ra,dec\n150,2\n10,20\n"))
others = {
    "get_openapi": get_openapi.sync(client=client).openapi,
    "resolve_tns": resolve_tns.sync("2026abc", client=client).results[0].status.value,
    "service_status": service_status.sync(client=client).database.value,
    "describe_service": describe_service.sync(client=client).default_detail,
    "stream_matches": stream_matches.sync(client=client, from_="later").code.value,
    "find_sources": find_sources.sync(client=client, ra=150, dec=2, radius_arcsec=5).count,
    "find_objects_of_source": find_objects_of_source.sync(FindObjectsOfSourceCatalog.GAIA_DR3, str(known), client=client).count,
    "search_area": [
        search_area.sync(client=client, area="CIRCLE 150 2 1").count,
        search_area.sync(client=client, body=File(BytesIO(b"CIRCLE 150 2 1"))).count,
    ],
    "list_objects": list_objects.sync(client=client).count,
    "crossmatch_table": crossmatch_table.sync(client=client, body=table, format_=CrossmatchTableFormat.CSV, rows=CrossmatchTableRows.MATCHED).splitlines(),
    "get_sky_map": get_sky_map.sync(client=client).layer,
    "list_tasks": len(list_tasks.sync(client=client)),
    "head_tasks": head_tasks.sync_detailed(client=client).status_code.value,
    "describe_tasks": describe_tasks.sync(client=client).parses,
}

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
        }
    )
)
