"""Watches objects in an area by the Python client, as typescript.test.ts does, and prints them as JSON. Usage: watch.py URL RA DEC COUNT"""

import asyncio
import json
import signal
import sys
from itertools import islice

from nearsky import Nearsky, NearskyError
from nearsky.aio import AsyncNearsky

# A refusal says that a client may ask again at once.
signal.alarm(25)
url, ra, dec, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
service = Nearsky(url)
area = f"CIRCLE {ra} {dec} 1"


def said(found):
    return f"{found['diaObjectId']} {found['change']} {len(found['matches'])}"


async def watched():
    found = []
    async for each in AsyncNearsky(url).watch("objects", area, after="beginning"):
        found.append(said(each))
        if len(found) == count:
            return found


whole = [said(each) for each in islice(service.watch("objects", area, after="beginning"), count)]
table = f"ra,dec\n{ra},{dec}\n".encode()
first = service.watch("objects", table, radius_arcsec=1, after="beginning")
parts = [said(each) for each in islice(first, 9)]
parts += [said(each) for each in islice(service.watch("objects", table, radius_arcsec=1, after=first.last_id), count - 9)]
filters = {"status": "coincident_sources"}
filtered = [said(each) for each in islice(service.watch("objects", area, filters=filters, after="beginning"), 7)]
try:
    next(iter(service.watch("objects", "CIRCLE 1")))
    refused = None
except NearskyError as error:
    refused = error.param
print(json.dumps({"whole": whole, "parts": parts, "filtered": filtered, "awaited": asyncio.run(watched()), "refused": refused}))
