"""Reads matches by the Python client, as typescript.test.ts does, and prints them as JSON. Usage: matches.py URL COUNT [FILTERS]"""

import json
import sys
from itertools import islice

from nearsky import Nearsky, NearskyError

url, count = sys.argv[1], int(sys.argv[2])
service = Nearsky(url)


def said(match):
    return f"{match['diaObjectId']} {match['catalog_name']}"


def failure(**options):
    try:
        next(iter(service.matches(**options)))
    except NearskyError as error:
        return [error.code, error.status, error.param, error.params]
    return None


whole = list(islice(service.matches(after="beginning"), count))
parts = []
after = "beginning"
while len(parts) < count:
    stream = service.matches(after=after, filters={"catalog": "gaia_dr3"})
    parts += islice(stream, 2)
    after = stream.last_id
print(
    json.dumps(
        {
            "whole": [said(each) for each in whole],
            "parts": [said(each) for each in parts[:count]],
            "after": failure(after="abc"),
            "filter": failure(filters={"catalog": "2mass"}),
            "unknown": failure(filters={"catalogue": "gaia_dr3"}),
        }
    )
)
