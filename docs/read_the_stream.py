"""Reading the stream of matches with hop-client (pip install hop-client).

A script in cells: run it whole, or cell by cell in an editor that knows `# %%`.

    python read_the_stream.py kafka://kafka.scimma.org/me.matches [HOW_MANY]

Without HOW_MANY it reads what is there by now and ends. The tests of nearsky run it.
"""

# %% Where the stream is. `kafka://HOST:PORT/TOPIC`; hop-client takes credentials from `hop auth add`, and goes without where there are none.
import json
import os
import sys
import uuid
from itertools import islice

from hop.io import StartPosition, Stream

url = sys.argv[1]
how_many = int(sys.argv[2]) if len(sys.argv) > 2 else None
stream = Stream(
    auth="HOP_NO_AUTH" not in os.environ,
    # From the oldest message that the topic keeps. With a group id that you keep, Kafka remembers what you have read.
    start_at=StartPosition.EARLIEST,
    until_eos=how_many is None,
)

# %% Read. A message that was sent again, after a failure, has the id of the first one: it is left out.
matches = []
seen = set()
with stream.open(url, "r") as messages:
    for message, metadata in islice(messages.read(metadata=True), how_many):
        message_id = uuid.UUID(bytes=dict(metadata.headers)["_id"])
        if message_id not in seen:
            seen.add(message_id)
            matches.append((message_id, message.content))

# %% A match is a dictionary: the object, the catalog source, and what the crossmatch knew. Python's integers hold 64-bit ids exactly.
for message_id, match in matches:
    print(message_id, match["diaObjectId"], match["catalog_name"], match["catalog_source_id"], match["separation_arcsec"])

# %% Bright Gaia sources within half an arcsecond of an object: probably its star, and no transient.
stars = [
    match
    for _, match in matches
    if match["catalog_name"] == "gaia_dr3"
    and match["separation_arcsec"] < 0.5
    and ((match["catalog_payload"] or {}).get("phot_g_mean_mag") or 99) < 15
]
print(f"{len(matches)} matches, {len(stars)} with a bright star", file=sys.stderr)

# %% `partial` says that a catalog could not be read for the object: it is crossmatched again, and then published again with another id.
waiting = {match["diaObjectId"] for _, match in matches if match["partial"]}
print(json.dumps({"matches": len(matches), "objects_to_come_again": len(waiting)}), file=sys.stderr)
