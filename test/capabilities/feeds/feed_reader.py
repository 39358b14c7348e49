"""Reads a feed over all its pages with feedparser, polls it again, and prints what it found as JSON."""
import json
import sys

import feedparser

entries, pages, address = [], 0, sys.argv[1]
while address:
    page = feedparser.parse(address)
    assert not page.bozo, page.bozo_exception
    assert page.version == "atom10", page.version
    first = first if pages else page
    pages += 1
    entries += page.entries
    address = next((link.href for link in page.feed.links if link.rel == "next"), None)
by_etag = feedparser.parse(sys.argv[1], etag=first.etag)
by_time = feedparser.parse(sys.argv[1], modified=first.modified)
print(
    json.dumps(
        {
            "title": first.feed.title,
            "pages": pages,
            "statuses": [first.status, by_etag.status, by_time.status],
            "entries": [
                {
                    "id": entry.id,
                    "title": entry.title,
                    "link": entry.link,
                    "updated": list(entry.updated_parsed),
                    "published": list(entry.published_parsed),
                    "content": entry.content[0].value,
                    "category": entry.tags[0].term,
                }
                for entry in entries
            ],
        }
    )
)
