/**
 * Every sentence of docs/contract.md, by section, by the test that holds it: the test's file and a part of its name. Of a
 * sentence its first words stand here, of a table those of its head. What a sentence says that is no behaviour of ours is named so.
 */

/** A definition, a reason, or what clients should do. */
export const NO_BEHAVIOUR = 'no behaviour';

export const CONTRACT: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'The contract of the API': {
    [NO_BEHAVIOUR]: [
      'What clients of the service rely on, whatever',
      'Names of sections stay as they are: the code',
      'Numbers are those of the default settings.',
    ],
    'contract/document.test.ts: the paths are those of the contract, in its order, and our own': [
      '`GET /openapi.json` has every field with its',
    ],
    'contract/document.test.ts: the document follows the configuration': [
      '`GET /openapi.json` has every field with its',
    ],
    'contract/document.test.ts: it is OpenAPI 3.1.0, of the contract version': ['The contract version is `1.0.0`.'],
    'contract/suite.test.ts: the service holds every check': ['Clients written for the public crossmatch service'],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      'What the table under [OpenAPI texts](#openapi-texts)',
    ],
  },
  Purpose: {
    [NO_BEHAVIOUR]: [
      'The service says what is known of objects of',
      'No credential, header or token is needed, the',
      'Clients ignore keys that they do not know.',
      'Paths carry no version.',
    ],
    'http/routing.test.ts: another method is 405 with Allow': ['It is read-only and public, and answers in JSON.'],
    'contract/document.test.ts: every number has its unit': ['Positions are ICRS right ascension and declination'],
    'crossmatch/match.test.ts: the radius is inclusive to the last bit': [
      'The crossmatch radius is 1.0 arcsec, inclusive.',
    ],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      'For each object and each catalog only the nearest',
      'Those of gaia_dr3 are at `ref_epoch`, J2016.0.',
      'A coincident source is not a host association.',
      'The host of an offset supernova is generally',
      '`not_in_service`, and `no_rubin_object` for a',
    ],
    'crossmatch/match.test.ts: of equal separations the lowest id wins': [
      'Other sources inside the radius are not reported.',
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event': [
      'Positions are compared as the catalog has them,',
    ],
    'ingest/normalise.test.ts: pittgoogle: the cut is inclusive': ['Alerts are filtered before they are stored: by'],
    'contract/suite/objects.ts: an object without a position is found by its id, and by no position': [
      'An object whose position could not be indexed',
      'It is found by `diaObjectId`.',
    ],
    'http/walk.test.ts: while new objects arrive': ['A cursor pins the objects of a walk, not their'],
    'http/walk.test.ts: walks while objects arrive whose ingest time is not after as_of': [
      '`as_of` bounds the ingest time and is not a snapshot:',
    ],
    'contract/suite/every_answer.ts: every diaObjectId is the integer that diaObjectId_str is': [
      '`diaObjectId` is a 64-bit integer; `diaObjectId_str`',
    ],
  },
  Decisions: {
    [NO_BEHAVIOUR]: ['Where the public service was silent or hard to'],
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      '**P1.** The method is checked first: 405 for',
    ],
    'http/routing.test.ts: another method is 405 with Allow': [
      'Every 405 has `Allow`.',
      'A bare OPTIONS is 405.',
      'A method of any name is 405 where the path has',
    ],
    'contract/suite/transport.ts: a method that a path does not have is 405, with Allow': ['Every 405 has `Allow`.'],
    'contract/suite/transport.ts: a CORS preflight is 204': ['**P2.** A CORS preflight (OPTIONS with `Origin`'],
    'http/routing.test.ts: every response has the headers of security and CORS, and none of caching': [
      'Every answer has `Access-Control-Allow-Origin:',
    ],
    'http/routing.test.ts: unknown paths are 404 with the error body': ['**P3.** An unknown path is 404 with an error'],
    'pages/pages.test.ts: where there is nothing: a page for a browser, the error of the API for everyone else': [
      '**P3.** An unknown path is 404 with an error',
    ],
    'http/trouble.test.ts: a fault of our own is a 500 without detail': [
      'A fault of the service is 500, `internal_error`,',
    ],
    'answers/admission.test.ts: takes what will wait for a fifth of its budget': [
      '**P4.** Overload is 503 `service_unavailable`',
    ],
    'answers/query_runner.test.ts: a quick query whose budget was spent before it began is refused': [
      'A query that waited for more than half',
    ],
    'contract/suite/transport.ts: the text "diaObjectId_str": "DIGITS" can be found': [
      '**P5.** JSON has `": "` and `", "`, so that the',
    ],
    'contract/document.test.ts: the paths are those of the contract, in its order, and our own': [
      '**P6.** `GET /api/task/` answers the bare array,',
    ],
    'mcp/client.test.ts: each revision: connect, list, call, leave': [
      '**P7.** The connector speaks the protocol revisions',
    ],
    'contract/document.test.ts: the document follows the configuration': [
      '**P8.** Limits have the names of [Settings and',
    ],
    'contract/suite/descriptions.ts: its keys and values': ['**P9.** `service_version` is the release, contract'],
    'http/object.test.ts: the keys of each level, in order': ['**P10.** The block `tns` of an object is there'],
    'contract/suite/transport.ts: another version of HTTP is 505, too large headers are 431': [
      '**P11.** What is below the API has codes of its',
    ],
    'http/body.test.ts: a body that does not arrive within the budget is refused as late': [
      'A body that does not arrive within the budget',
    ],
    'contract/suite/transport.ts: a method of any name is 405 where the path has others': [
      'A method of any name is 405 where the path has',
    ],
    'ingest/normalise.test.ts: pittgoogle: an older schema spells midPointTai': [
      '**P12.** Times of brokers that are MJD in TAI',
    ],
    'http/tns.test.ts: a name with the prefix that its own row has': [
      '**P13.** Names with the prefixes `FRB` and `TDE`',
    ],
    'mcp/limits.test.ts: who the client is, only this machine and the proxies of the settings may say': [
      '**P14.** What a client says of its address is',
    ],
    'http/unknown_parameters.test.ts: Accept that cannot be met is 406; format goes before it': [
      '**P15.** An operation that has formats answers',
      '`text/xml` asks for VOTable, `application/vnd.msgpack`',
      '`format=` goes before `Accept` and is never 406.',
      'Other errors are JSON whatever is accepted, this one',
      '`/api/status`, `/api/describe` and the documents',
    ],
    'docs/contract.test.ts: a table that is no JSON answers whatever is accepted': [
      "The crossmatch of a table and an area's table,",
    ],
    'tables/answers.test.ts: the formats, by name and by Accept, say the same ids': [
      'JSON is for no `Accept`, an empty one, and what',
    ],
    'contract/suite/transport.ts: numbers are decimal, with white space around them': [
      '**P16.** Positions are decimal degrees in the',
    ],
    'pages/search_text.test.ts: every position, in decimal and sexagesimal notation': [
      "The pages' search reads sexagesimal positions.",
    ],
    'tables/answers.test.ts: at full each column of each catalog is a column': [
      '**P17.** Tables, of which the public service',
      "At `full` each key of a catalog's payload is",
      'They are of the nearest source: `CATALOG_matches`',
    ],
    'tables/answers.test.ts: a value of a payload that is not of its column is null, and counted': [
      "Keys that an import has brought beyond the catalog's",
    ],
    'tables/readers.test.ts: a bare pandas.read_parquet keeps every digit': [
      "Parquet and Arrow name pandas' types (`Int64`,",
    ],
    'http/stream_matches.test.ts: from the beginning: each message of the journal once': [
      '**P18.** Matches can be followed over HTTP ([Stream',
      'An event is a message of that stream, byte by',
    ],
    'sources/nearby_sources.test.ts: at hard places, in catalogs of mixed orders, each source once and nearest first': [
      '**P19.** The catalogs themselves can be asked',
    ],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      '**P20.** Objects are listed by area ([Areas](#areas))',
      'There filters leave objects out, as on the stream:',
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event': [
      '**P21.** Sources with a proper motion can be',
    ],
  },
  Routes: {
    'docs/contract.test.ts: every route of the table is there, under its methods': [
      '| method | path | operation | |---|---|---| |',
    ],
    'http/routing.test.ts: health and readiness': ['| method | path | operation | |---|---|---| |'],
    'http/routing.test.ts: another method is 405 with Allow': ['Other methods are 405.'],
    'contract/suite/transport.ts: a slash at the end, an encoded slash and an unknown path are 404': [
      'API paths have no slash at the end, but for `/api/task/`;',
      'A parameter of a path is one segment that is',
    ],
    'contract/task_list.test.ts: without the slash GET is sent to it': ['`/api/task` redirects (301) to `/api/task/`.'],
  },
  Headers: {
    'contract/suite/transport.ts: JSON is application/json, without a charset and without cache headers': [
      '`Content-Type` of JSON is `application/json`,',
      'No `Cache-Control`, `ETag` or `Last-Modified`',
    ],
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      '`Retry-After: 30` on 503 `service_unavailable`,',
    ],
    'contract/task_list.test.ts: other methods are 405 with Allow and the error body': [
      '`Allow` on every 405 and on every answer of `/api/task/`.',
    ],
    'http/routing.test.ts: every response has the headers of security and CORS, and none of caching': [
      'No `Cache-Control`, `ETag` or `Last-Modified`',
      '`X-Content-Type-Options: nosniff`, `Referrer-Policy:',
    ],
    'tables/answers.test.ts: a walk by its Link has every object once': [
      '`Link: </llms.txt>; rel="describedby"` on `/api-docs.md`;',
    ],
    'http/unknown_parameters.test.ts: what is ignored is named, with the nearest name; the answer is the same': [
      '`X-Unknown-Parameters` where parameters were',
    ],
    'tables/answers.test.ts: the formats, by name and by Accept, say the same ids': [
      '`Vary: Accept, Accept-Encoding` on what may be',
    ],
    'http/log_place.test.ts: an archive without a log says nothing': [
      '`X-Log-Position` on every answer of a node that',
    ],
    'http/log_place.test.ts: a node that is behind waits for what another has shown, or refuses': [
      '`X-Log-Position` on every answer of a node that',
      'A client that may be answered by several nodes',
      'A node that is behind waits, and is 503 when',
      'A value that is of no or of another log is passed',
    ],
    'http/log_place.test.ts: over many hops no query of a client misses what one of its kind had': [
      'The text is `ARCHIVE-POSITION-SEQUENCE`; of two',
    ],
    'sky_map/sky_map.test.ts: counts while objects arrive and are crossmatched': [
      'The map of the sky and TAP answer from snapshots',
    ],
    'mcp/protocol.test.ts: only initialize gives a session': ['`Mcp-Session-Id` on the answer to `initialize`'],
  },
  'JSON text': {
    'contract/suite/every_answer.ts: every diaObjectId is the integer that diaObjectId_str is': [
      '`diaObjectId` is a bare integer with all its',
    ],
    'answers/object_writer.test.ts: any object, at every level, byte for byte': [
      '`catalog_source_id` is a text, `objid` an integer.',
      'Integers in `catalog_payload` are integers as',
      'Floats are the shortest text that reads as the',
      'What is not finite is `null`.',
    ],
    [NO_BEHAVIOUR]: ['The order of keys is that of the tables here;'],
  },
  Times: {
    'http/values.test.ts: times: offset as +00:00, six digits or none, exact to the microsecond': [
      'ISO 8601 with the offset `+00:00`, never `Z`.',
      'Microseconds are six digits, and are left out',
    ],
    'http/values.test.ts: a cursor keeps every digit': ['They survive storage and cursors.'],
    'http/values.test.ts: an instant keeps its offset and every digit': [
      'Of a time that is read, digits beyond the sixth',
      'The window of recent crossmatches echoes the',
    ],
    'http/routing.test.ts: declared cuts need both a value and a date': ['Dates of cuts are `YYYY-MM-DD`.'],
  },
  'Query strings': {
    'contract/suite/transport.ts: of a repeated name the last value counts': [
      'Of a repeated name the last value counts.',
    ],
    'contract/suite/transport.ts: an empty value is a bad value, never an absent one': [
      'An empty value is a bad value (400), never an',
    ],
    'contract/suite/transport.ts: names and values are case-sensitive; unknown names are ignored': [
      'Names and the values of enumerations are case-sensitive.',
    ],
    'http/filters.test.ts: a name that is shaped like a filter must be one; others are ignored': [
      'An unknown name is ignored, unless it is shaped',
    ],
    'http/filters.test.ts: an operation without filters, or counts, refuses them by name': [
      'An operation whose query string has no filters',
    ],
    'docs/contract.test.ts: the descriptions ignore every name': ['The descriptions (`/api/status`, `/api/describe`,'],
    'http/unknown_parameters.test.ts: what is ignored is named, with the nearest name; the answer is the same': [
      'What was ignored is named in the header `X-Unknown-Parameters`,',
      'Names are percent-encoded and at most 64 characters',
      'After eight names `*;more=N` says how many are',
      'The header is exposed to scripts of other origins.',
    ],
    'contract/suite/transport.ts: numbers are decimal, with white space around them': [
      'Numbers are decimal, with white space around',
      '`nan`, `inf`, hexadecimal and what overflows',
    ],
    'contract/suite/transport.ts: page_size is an integer of at least 1, and clamped': [
      '`page_size` is an integer, at least 1; a larger',
    ],
    'contract/suite/transport.ts: an id in a path is ASCII digits up to 2^63 - 1': [
      '`diaObjectId` in a path is ASCII digits, 0 to',
    ],
  },
  'JSON bodies': {
    'contract/suite/transport.ts: the content type must be application/json, whatever its case and parameters': [
      'The media type must be `application/json`, in',
    ],
    'http/body.test.ts: a body of the largest size is read, one byte more is not': [
      'More than 2,621,440 bytes, no JSON, bad UTF-8,',
    ],
    'http/body.test.ts: a body of more values than a lookup can have is refused before it is parsed': [
      'A body has at most 100,000 names and values, or',
    ],
    'http/body.test.ts: what is not JSON in UTF-8 is a fault of the body': [
      'More than 2,621,440 bytes, no JSON, bad UTF-8,',
    ],
    'contract/suite/transport.ts: nesting up to 1,000 levels inside an input is the problem of that input': [
      'Nesting up to 1,000 levels inside one input is',
    ],
    'contract/suite/transport.ts: of a repeated key the last value counts': [
      'Of a repeated key the last value counts.',
    ],
    'http/body.test.ts: 1 is an id and 1.0 is none': ['`1` is an integer, `1.0` is none.'],
    'contract/suite/transport.ts: an integer is told apart from a float, and a number from a text and a boolean': [
      'Numbers are JSON numbers: texts and booleans',
    ],
  },
  Errors: {
    'http/routing.test.ts: the body of an error: keys in order, error equal to message': [
      'Every answer that is no success is `{error, code,',
      '`error` repeats `message`.',
    ],
    'contract/suite/every_answer.ts: there was no 5xx, and no 4xx without the error body and the status of its code': [
      '`param` names the one parameter at fault, `params`',
      'There is no `provenance`.',
    ],
    'contract/hostile.test.ts: random requests': ['No message tells of hosts or drivers.'],
    'contract/texts.test.ts: the codes, in the order of the contract': [
      '| code | HTTP | retryable | `param`, `params`',
      "The first six are the contract's, in the order",
    ],
    'contract/occurs.test.ts: errors of what is no request that an operation sees': [
      '| code | HTTP | retryable | `param`, `params`',
    ],
  },
  'Time budget': {
    'http/trouble.test.ts: a spent budget is 400 query_too_expensive, without Retry-After; a bad parameter stays one': [
      'A request has 5.0 s, by a clock that never steps,',
      'What takes longer is 400 `query_too_expensive`',
      'A 400 or 405 that comes late stays',
    ],
    'http/deadline.test.ts: a query that worked for half of its budget is too expensive; one that waited': [
      'What takes longer is 400 `query_too_expensive`',
    ],
    'http/trouble.test.ts: a database that cannot be read is one that is not there': [
      'A database that cannot be read in time is 503.',
    ],
    'server/stream_matches.test.ts: requests behind a stream are not answered: it has no end': [
      'The stream of matches has no end of its own,',
    ],
    'http/area_table.test.ts: so many tables are sent at once': ["Tables that are crossmatched, an area's table"],
  },
  'Settings and limits': {
    'commands/config.test.ts: the defaults are those of the contract': ['| setting | default | bounds | |---|---|---|'],
    'mcp/settings.test.ts: the defaults': ['| setting | default | bounds | |---|---|---|'],
    'tns/names.test.ts: at most 64 characters as they were sent': ['A name of the registry has at most 64 characters'],
  },
  Catalogs: {
    'contract/describe.test.ts: the catalogs: source ids, coverage maps, filterable fields': [
      'The order of this table is the order everywhere.',
      'The side of a pixel is that of an equal-area',
      '| catalog | release | `catalog_source_id` is',
    ],
    'contract/texts.test.ts: each text of the contract is at its place': ['An id is unique within one catalog only.'],
    'catalogs/coverage.test.ts: a finer map is degraded': ['`searched` means that the position lay inside'],
    'catalogs/footprint.test.ts: a sparse catalog of the whole sky covers all of it': [
      'The footprint of another catalog has pixels large enough',
    ],
    'catalogs/footprint.test.ts: --footprint: a MOC as mocpy degrades it': [
      'An operator may state the footprint instead.',
    ],
    'crossmatch/conventions.test.ts: matches and separations are those of LSDB, the payload as published': [
      'The payload at `full` has every one of these',
    ],
    'docs/contract.test.ts: the payload of each catalog has the keys of the contract': [
      'gaia_dr3: phot_g_mean_mag, phot_bp_mean_mag,',
      'des_y6_gold: wavg_mag_psf_ and wavg_magerr_psf_',
      'delve_dr3_gold: as DES without the two columns',
      'skymapper_dr4: u_psf, v_psf, g_psf, r_psf, i_psf,',
    ],
  },
  'Proper motion': {
    'crossmatch/again.test.ts: a source that the last crossmatch does not find stays listed': [
      'A source that an earlier crossmatch found without proper motions',
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event': [
      'With `CROSSMATCH_PROPER_MOTION=yes` the sources',
      'Their entry among the `catalogs` of the provenance',
    ],
    'crossmatch/motion.test.ts: the nearest source at the time of the event': [
      'The nearest source is the one that is nearest',
      'Of equally near ones the lowest id counts.',
      'A match of a source that moves has `separation_at_epoch_arcsec`,',
      "`separation_arcsec` stays the one at the catalog's",
      'A source without a proper motion, or with one',
      'The outcome of a catalog and the radius of its',
    ],
    'http/motion.test.ts: answers, tables, the Virtual Observatory, the source, the export': [
      'A match of a source that moves has `separation_at_epoch_arcsec`,',
      "`separation_arcsec` stays the one at the catalog's",
      "`ra` and `dec` stay the catalog's.",
      'A cone of `/vo/scs/CATALOG` finds a source by',
    ],
    'crossmatch/motion.test.ts: an event more than a century from the epoch': [
      'A source without a proper motion, or with one',
    ],
    'crossmatch/motion.test.ts: a copy of the catalog without motions': [
      'A source without a proper motion, or with one',
    ],
    'crossmatch/motion.test.ts: parallaxes and radial velocities that are no star’s count as unknown': [
      'Parallaxes that are not above 0 and at most 1",',
    ],
    'index/motion.test.ts: further stars': [
      "Positions are those of ERFA's `pmsafe`, and so",
      'UTC is taken as 69.184 s behind the time scale',
    ],
  },
  Provenance: {
    'contract/suite/objects.ts: every envelope has the block of the service': [
      'The first key of every success but the OpenAPI',
      'A cut has `broker`, `min_reliability` (0 to 1',
    ],
    'http/routing.test.ts: declared cuts need both a value and a date': [
      'The first two are enforced by the broker and',
    ],
    'ingest/normalise.test.ts: pittgoogle: the cut is inclusive': ['The third is enforced by the service.'],
    'contract/suite/objects.ts: provenance_sets has what the listed objects refer to: as recorded, not as it is now': [
      '`provenance_sets` of a lookup has the sets that',
    ],
    'crossmatch/crossmatcher.test.ts: every outcome, status and count of a small sky': [
      'Its catalogs are those that were registered then,',
    ],
    'contract/suite/objects.ts: an object without a record refers to a best guess': [
      'Under the key `best_guess_current_settings` it',
    ],
  },
  Objects: {
    'answers/object_fields.test.ts: JSON has the documented keys in the documented order': [
      '| key | level | | |---|---|---| | `diaObjectId`,',
    ],
    'http/object.test.ts: the keys of each level, in order': ['Levels add up: `ids`, `position`, `matches` (the'],
    'http/object.test.ts: an unknown id is an answer with three keys, at every level': [
      'An object that is not in the service has `diaObjectId`,',
    ],
    'http/object.test.ts: statuses': ['Status: no such object, `not_in_service`; not'],
    'http/object.test.ts: a pending object has no crossmatch and no matches': ['A pending object never shows matches.'],
    'http/object.test.ts: the crossmatch block of a recorded crossmatch': [
      '`crossmatch` has `provenance`, `match_version`,',
    ],
    'http/object.test.ts: the crossmatch block where nothing was recorded, and its best guess': [
      'Without a record these are null, the outcome',
    ],
    'http/object.test.ts: brokers at the crossmatch are those of then; a catalog no longer in service comes last': [
      'Outcomes are a map: the catalogs in service in',
    ],
    'contract/suite/objects.ts: of several records the highest version is current': [
      'The record of the highest version is current.',
    ],
    'http/object.test.ts: matches: four keys, ordered by catalog, then by source id as text': [
      'A match has `catalog_name`, `catalog_source_id`,',
      'Matches are by catalog name, then id, both as',
    ],
    'http/object.test.ts: full: the published match, its payload exact': [
      'At `full` it is the published form: `diaObjectId`,',
    ],
    'http/object.test.ts: matches: the newest version of each source': [
      'Of each source only the newest version is listed;',
    ],
    'http/object.test.ts: the registry block, and the association on each match at full': [
      '`tns` of an object has `checked`, `snapshot_epoch`,',
    ],
    'tns/association.test.ts: it is recorded with the crossmatch, once': [
      'It is the nearest object of the registry within',
    ],
    'http/tns.test.ts: a name: the record, the epoch, the objects around': [
      'The record of a name has `objid`, `name`, `classification`,',
    ],
  },
  Lookup: {
    'http/lookup.test.ts: detail is as asked, null is the default': [
      'The body has `inputs` (required), `detail`, `radius_arcsec`',
    ],
    'contract/suite/lookup.ts: the order of the checks; the first unknown field in the order of the body': [
      'Another key is 400.',
      'The first fault wins: Content-Type, body, unknown',
    ],
    'http/lookup.test.ts: an id: integer literal or digits': [
      'Inputs are `{"kind": "id", "diaObjectId"}` (an',
      'An id has the status of its object and exactly',
    ],
    'http/lookup.test.ts: a radius: its own, else the shared one, else for a name the default': [
      'A radius of null is missing for a position and',
    ],
    'http/lookup.test.ts: the bounds themselves are valid': ['A radius of null is missing for a position and'],
    'http/lookup.test.ts: the request: the first fault in order is a 400 that names it': [
      'The first fault wins: Content-Type, body, unknown',
    ],
    'http/lookup.test.ts: how many inputs: by the kinds that occur': ['They are counted by their kind, before each is'],
    'contract/suite/lookup.ts: each is invalid_input in its own place and names what is at fault; the others are answered':
      ['A bad input is `invalid_input` with `error.param`'],
    'http/lookup.test.ts: one result an input, in order, duplicates answered twice: keys and their order': [
      'The answer has `provenance`, `detail`, `count`,',
      'Each input has one result, in order, duplicates',
    ],
    'contract/suite/lookup.ts: a position: normalized, total, truncated, truncation': [
      'A position has `objects_found` or `no_rubin_object`,',
    ],
    'contract/suite/lookup.ts: a position lists its first 100 objects by ingest time and id': [
      'A position lists the first 100 objects by ingest',
    ],
    'http/lookup.test.ts: limits on listing: an input first, then the request, in the order of the inputs': [
      'A request lists 2000 less its valid ids, in the',
      'Ids are never cut.',
    ],
  },
  'One object': {
    'contract/suite/objects.ts: the envelope of a lookup with one result, its input the segment': [
      '`GET /api/objects/{diaObjectId}` is a lookup',
    ],
    'http/object.test.ts: detail before filters before response before the id': [
      'The order of checks: `detail`, filters, `response`,',
    ],
    'http/object.test.ts: an unknown id is an answer': ['An unknown id is 200 with `not_in_service`.'],
  },
  Cone: {
    'http/cone.test.ts: ascending ingest time, then id': ['Every object within the radius, inclusive, crossmatched'],
    'http/cone.test.ts: the radius is inclusive': ['Every object within the radius, inclusive, crossmatched'],
    'http/cone.test.ts: across RA 0/360 and over the poles': [
      'Every object within the radius, inclusive, crossmatched',
    ],
    'contract/suite/cone.ts: the order of the checks: filters, response, ra, dec, radius, detail, page_size': [
      'The order of checks: filters, `response`, `ra`,',
    ],
    'http/cone.test.ts: page_size: default 100, clamped to 2000': ['`page_size` is 100 unless asked, at most 2000.'],
    'http/cone.test.ts: the page: keys, their order and values': ["The answer is a lookup's with one result, then"],
    'contract/suite/cone.ts: the envelope, and one position result that echoes what was sent as texts': [
      '`input` has the parameters as they were sent,',
    ],
    'http/walk.test.ts: while new objects arrive': ['`total` is the same on every page: the objects'],
    'http/cone.test.ts: a walk: pages in order, the same total and as_of': [
      '`total` is the same on every page: the objects',
    ],
    'http/cone.test.ts: what a cursor pins may be repeated but not changed': [
      'A cursor pins position, radius, `detail` and',
    ],
    'contract/suite/cone.ts: filters are not pinned; their total is of the whole walk': ['Filters are not pinned.'],
    'http/counts.test.ts: a cone: no cursor, page_size is ignored': ['`response=count` takes no cursor, and counts'],
  },
  'Registry names': {
    'http/tns.test.ts: a name: the record, the epoch, the objects around': [
      '`GET /api/tns/{name}` is a lookup of one name.',
    ],
    'contract/suite/tns.ts: the order of the checks: detail, filters, response, name, radius': [
      'The order of checks: `detail`, filters, `response`,',
    ],
    'contract/suite/tns.ts: at most 100 objects, in the order of a position; no pages': [
      'At most 100 objects, without pages.',
    ],
    'tns/names.test.ts: the ways of writing one name come to the same': [
      'White space in a name is dropped wherever it',
    ],
    'http/tns.test.ts: of several rows of a name the lowest objid counts': [
      'Of several objects with a name the lowest `objid`',
    ],
    'http/tns.test.ts: a snapshot that is absent or stale: unavailable, with 200': [
      'A snapshot that is absent or older than 7200',
    ],
  },
  'Filters and counts': {
    'http/filters.test.ts: there are 34, each taken on each operation': [
      '`catalog`, `separation_arcsec_max`, `reliability_min`,',
      'SkyMapper has none.',
    ],
    'contract/suite/filters.ts: one source must meet every match filter, bounds inclusive': [
      'Bounds are inclusive, and apply to the value',
      'An object qualifies that meets every reliability',
    ],
    'http/qualification.test.ts: random filters over random objects': [
      '`parallax_over_error` is signed, and unusable',
      'An object qualifies that meets every reliability',
      'Filters drop and reorder nothing: they mark.',
      'The reason is the first that holds: `not_in_service`,',
    ],
    'contract/suite/filters.ts: the reliability of the object, inclusive; none never meets it': [
      'No reliability never meets one.',
    ],
    'http/filters.test.ts: filters of several catalogs: all that name one, grouped by catalog': [
      'Match filters that name more than one catalog',
    ],
    'http/filters.test.ts: filters drop and reorder nothing': ['Filters drop and reorder nothing: they mark.'],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      '(Areas, objects by time and the stream of matches',
    ],
    'contract/suite/filters.ts: a position counts all it found, listed or not; nothing is dropped': [
      'A result of a position or name has `qualifying_total`,',
    ],
    'http/counts.test.ts: a lookup: inputs with their duplicates, objects once': [
      '`response=count` gives `response`, `filters`,',
    ],
    'http/counts.test.ts: a position: every object, whenever ingested, whatever the limits': [
      'Limits of listing do not apply, those of inputs',
    ],
  },
  'Recent crossmatches': {
    'http/recent.test.ts: objects with matches, whatever their state: the newest first, then by id': [
      'Objects with a match whose time lies in the window,',
      'An object with matches is listed whatever its',
    ],
    'http/recent.test.ts: the window: start is in it, end is not': ['`start` is inclusive, `end` exclusive; without'],
    'http/recent.test.ts: the defaults: 12 hours until now': ['`end` is now and `start` 12 h before it unless'],
    'http/recent.test.ts: parameters: the first fault in order is named': [
      '`time_field` is `ingest_time` or `event_time`.',
      'The order of checks: unsupported names, `start`,',
    ],
    'http/recent.test.ts: filters and response are not supported: all are named': [
      'A filter or `response` is 400 `unsupported_parameter`.',
    ],
    'http/recent.test.ts: the page: keys and their order': ['The answer has `provenance`, `window`, `time_field`,'],
    'http/recent.test.ts: each level: its keys, and none of a lookup': [
      'Objects have ids, then position, then `matches`,',
    ],
    'http/recent.test.ts: as_of bounds the ingest time': ['A page holds objects ingested at or before `as_of`;'],
    'http/every_page_size.test.ts: objects that get their first match beside a walk': [
      'A page holds objects ingested at or before `as_of`;',
    ],
  },
  'Stream of matches': {
    'http/stream_matches.test.ts: the headers': [
      '`GET /api/stream/matches` answers with server-sent',
      'The first block has `retry` (1 to 5 s, at random)',
    ],
    'http/stream_matches.test.ts: a bad request is told what is wrong with it': [
      'The order of checks: filters, the database (503),',
      'Another text, or an id of an entry that is not',
    ],
    'http/stream_matches.test.ts: from the beginning: each message of the journal once': [
      'An event is a match: its data is a message of',
      'Every match of each recorded crossmatch comes',
      'Its id is the place in the journal: `SEQUENCE`,',
    ],
    'stream/publication.test.ts: what an import brought is published only when asked for': [
      'Matches that an import brought come only where',
    ],
    [NO_BEHAVIOUR]: ['Clients need not understand it.', 'In both cases the client comes again with its'],
    'http/stream_matches.test.ts: a client that comes again after any event gets the others': [
      'With the last one as the header `Last-Event-ID`',
      'The journal is kept whole, so that an id never',
    ],
    'http/stream_matches.test.ts: what is recorded while it reads; now leaves out what was there': [
      'The header goes before the parameter `from`:',
    ],
    'docs/contract.test.ts: an empty Last-Event-ID is none': ['An empty header is none.'],
    'http/stream_matches.test.ts: filters leave out events, each match by itself': [
      'Filters are those of [Filters and counts](#filters-and-counts),',
    ],
    'http/stream_matches.test.ts: filters that nothing meets: the client hears that the service is there': [
      'After 15 s without an event comes a comment with',
    ],
    'server/stream_matches.test.ts: a client that does not read is ended, and goes on where it was': [
      'A client that reads too slowly falls behind,',
    ],
    'server/stream_matches.test.ts: the end of the service ends the streams, read or not': [
      'When the service stops it ends every stream at',
    ],
    'server/stream_matches.test.ts: a client that ends its side of the connection is gone at once': [
      'A client that ends its side of the connection',
    ],
  },
  Sources: {
    'sources/nearby_sources.test.ts: at hard places, in catalogs of mixed orders, each source once and nearest first': [
      '`GET /api/sources` lists every source of the',
      'Sources are read from the catalogs as they are',
      'No proper motion is applied.',
    ],
    'sources/nearby_sources.test.ts: parameters': [
      '`catalog` names one catalog; without it all are',
      '`limit` (1 to 10,000, 1,000 by default) bounds',
      'The order of checks: `catalog`, `ra`, `dec`,',
    ],
    'sources/nearby_sources.test.ts: the outcome of each catalog, columns with units, payloads as published': [
      '`catalog` names one catalog; without it all are',
      'Each catalog has an outcome.',
      '`searched` means that the position lies in its',
      '`outside_footprint`, `not_registered` and `skipped_read_failure`',
      'A catalog of which some file cannot be read lists',
      '`columns` gives each key of `catalog_payload`',
    ],
    'sources/nearby_sources.test.ts: a database that is not there is 503': [
      'While the catalogs take longer than the budget,',
    ],
    'sources/source_objects.test.ts: the objects of a source are those whose own answers list it': [
      '`GET /api/sources/{catalog}/{catalog_source_id}`',
    ],
    'sources/source_objects.test.ts: more objects than are listed': [
      '`GET /api/sources/{catalog}/{catalog_source_id}`',
    ],
    [NO_BEHAVIOUR]: ['A crossmatch records the nearest source of a'],
    'sources/source_objects.test.ts: names that are none': ['A catalog that the contract does not have, or'],
  },
  Areas: {
    'http/area.test.ts: a circle as a body in each spelling, and as a parameter': [
      '`POST /api/area` lists the objects in an area',
      'The area is the body, whatever its Content-Type,',
      'A circle, `CIRCLE ra dec radius`, its edge included,',
      'Objects come by credible level where there is',
      'A place in that order never changes, so that',
      '`page_size` is 1000 unless asked, at most 10,000.',
    ],
    'http/area.test.ts: a cursor is of its area; what is wrong is named': [
      'The order of checks: filters, `start`, `end`,',
      'What is more, or no area, is 400 with `param`',
      'For the next page the same request, area included,',
    ],
    'vo/areas.test.ts: a MOC of one order is the same in FITS, JSON and text': [
      'A MOC (IVOA, MOC 2.0): FITS with NUNIQ numbers',
    ],
    'http/area.test.ts: a polygon and MOCs in text, JSON and FITS': [
      'An object is inside whose HEALPix pixel at order',
      'A circle, `CIRCLE ra dec radius`, its edge included,',
    ],
    'vo/areas.test.ts: what is no area is refused with the reason': [
      'MOCs of time or frequency are refused.',
      'For other areas, a `level` other than 0.9 is',
    ],
    'vo/areas.test.ts: a FITS file that is cut, damaged, or of something else is refused': [
      'MOCs of time or frequency are refused.',
      'MOCs and maps in other than equatorial coordinates',
    ],
    'vo/areas.test.ts: shapes of other frames, boxes, ranges and any right ascension hold the positions that astropy finds inside':
      [
        '`BOX ra dec width height` is that of ADQL, a',
        '`RANGE ra1 ra2 dec1 dec2` runs eastwards from',
        'Any finite right ascension is taken modulo 360.',
        'A frame may stand before the numbers: `ICRS`, `FK5`',
      ],
    'vo/areas.test.ts: the edges of a range are inside, and 0 and 360 are one meridian': [
      '`RANGE ra1 ra2 dec1 dec2` runs eastwards from',
    ],
    'vo/areas.test.ts: a frame that is not converted is refused by name': [
      'A frame may stand before the numbers: `ICRS`, `FK5`',
    ],
    'vo/areas.test.ts: a polygon of half the sky is refused: its inside could be either part': [
      'The smaller of the two parts of the sky is meant,',
    ],
    'index/area.test.ts: polygons of all sizes, over the poles and RA 0, either way round, equal a scan': [
      'Edges of polygons are great circles, each shorter',
      'The smaller of the two parts of the sky is meant,',
    ],
    'index/area.test.ts: polygons that cannot be are refused': ['Edges of polygons are great circles, each shorter'],
    'docs/contract.test.ts: where the edges of a polygon cross, inside and outside change': [
      'Where edges cross each other, the sides change',
    ],
    'vo/flat_maps.test.ts: a map in each order and spelling holds what a scan of its pixels finds': [
      'A map of probability (FITS): multi-order with',
    ],
    'vo/flat_maps.test.ts: pixels without data have no probability': ['A map of probability (FITS): multi-order with'],
    'http/area.test.ts: a map of probability: the densest pixels up to the level': [
      'The credible level of a pixel is the share of',
      'The area is the pixels whose level is at most',
      'Each object has its `credible_level`.',
    ],
    'vo/areas.test.ts: what is too large is refused with the bound': [
      'At most 8,388,608 bytes, which gzip may have',
      'What is more, or no area, is 400 with `param`',
    ],
    'vo/large_maps.test.ts: of more pixels than are held, the least dense are dropped; where the area needs these, it is refused':
      ['In a map of one NSIDE, only the pixels up to'],
    'vo/large_maps.test.ts: a map of NSIDE 1024 in doubles, 100 MB, has the levels of ligo.skymap': [
      'A map of one NSIDE that is sent with gzip may be',
    ],
    'http/area.test.ts: a map of NSIDE 1024 in doubles, page by page; a second one at once is 503': [
      'A map of one NSIDE that is sent with gzip may be',
      'A thread that serves reads one such map at once;',
    ],
    'vo/flat_maps.test.ts: a map that was made of larger pixels may have many more than an area': [
      'In a map of one NSIDE, only the pixels up to',
    ],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      'Filters, and the window from `start` (inclusive)',
      'The window is open unless given.',
      '`response=count` gives `total`, the number of',
    ],
    'http/area.test.ts: a page looks at so many objects at most': ['For one page at most about 20,000 objects are'],
    'http/deadline.test.ts: a page of a listing ends when half of its time is spent': [
      'For one page at most about 20,000 objects are',
    ],
    'http/area.test.ts: a walk goes on while objects arrive': ['A page holds objects ingested at or before `as_of`,'],
    'http/area_table.test.ts: the rows of all pages in their order': ['`response=table` answers with all objects as'],
    'http/area_table.test.ts: headers; the format is CSV unless a table is asked for': [
      '`response=table` answers with all objects as',
      'It has no limit on rows, and no `X-Row-Count`,',
    ],
    'http/area_table.test.ts: every format has the same rows': ['The statements in it are those that all pages'],
    'http/area_table.test.ts: so many tables are sent at once': ['A thread that serves sends 8 such tables at once;'],
    [NO_BEHAVIOUR]: ['Filters and a window of event times make it read'],
  },
  'Objects by time': {
    'http/area.test.ts: the objects with sources by time, those that meet filters': [
      '`GET /api/objects` lists the objects that have',
      '`response=count` gives `total`, the number of',
    ],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      'Filters, window and pages are those of [Areas](#areas).',
    ],
    'http/area.test.ts: time_field is in the cursor: it need not be repeated': [
      'The cursor pins `time_field` and `as_of`.',
    ],
    'docs/contract.test.ts: the order of checks of the objects by time, and of a table': [
      'The order of checks: filters, `start`, `end`,',
    ],
  },
  'Crossmatch of a table': {
    'table_match/crossmatch_table.test.ts: the status of each row, and every column as it was sent': [
      '`POST /api/crossmatch` takes a table as its body',
      '`against` is `objects` (the default) or a catalog,',
      '`rows=matched` leaves out the rows for which',
      'The answer has every column of the table, unchanged,',
      '`nearsky_status` is `matched`, `no_match` (nothing',
      'Cells of CSV stay as they were sent in CSV, and',
    ],
    'table_input/tools.test.ts: every cell of every format, and the positions': [
      'The body is CSV (ECSV too, with its types and',
    ],
    'table_input/text.test.ts: IPAC tables of archives: shortened types, dashes, units, nulls, the equinox': [
      'The body is CSV (ECSV too, with its types and',
    ],
    'table_input/positions.test.ts: ECSV of astropy and of the Gaia archive': [
      'The body is CSV (ECSV too, with its types and',
    ],
    'table_match/crossmatch_table.test.ts: tables that cannot be used, and parameters: 400, with what to do': [
      'It has at most `API_MAX_TABLE_ROWS` rows and',
      '`radius_arcsec` is more than 0 and at most 60,',
      'A table that cannot be read is 400 with `param`',
    ],
    'docs/contract.test.ts: the order of checks of the objects by time, and of a table': [
      'The order of checks: `against`, `radius_arcsec`,',
    ],
    'table_match/crossmatch_table.test.ts: at hard places, with duplicates and ties: every pair and separation': [
      '`find=nearest` (the default) gives a row the',
    ],
    'table_input/positions.test.ts: by UCD before names, by unit, by the usual names, as named': [
      'Positions are in the columns that `ra` and `dec`',
      'Numbers are degrees, unless their unit is radians,',
    ],
    'table_input/positions.test.ts: the unit with a factor, as astropy writes hours': [
      'Numbers are degrees, unless their unit is radians,',
      'Columns of another unit are refused.',
    ],
    'table_input/frames.test.ts: every frame in every format is read to a milliarcsecond': [
      'Positions in FK5 and FK4 (with the E-terms of',
    ],
    'table_input/frames.test.ts: the request goes before the table, and what the table declares before the names': [
      'The frame is the one that `frame` names',
    ],
    'table_input/frames.test.ts: a frame that is not converted is named, and so are declarations': [
      'Any other frame is 400 and named, as are columns',
    ],
    'table_match/crossmatch_table.test.ts: the frame of the positions is read, said in a header and in the answer': [
      '`X-Position-Frame`, and `position_frame` in the',
    ],
    'table_input/hostile.test.ts: no integer is rounded, and no row is lost': [
      'Arrays, and integers beyond 64 bits with a sign,',
    ],
    'table_match/crossmatch_table.test.ts: small integers of Parquet are copied so that they can be read': [
      'A table of Parquet is answered in Parquet with its',
    ],
    'table_input/positions.test.ts: sexagesimal texts, and both in one column': [
      'Where `ra` alone is named, its column has both,',
      'Sexagesimal right ascensions are in their unit,',
      'Numbers are degrees, unless their unit is radians,',
    ],
    'docs/contract.test.ts: any finite right ascension is taken modulo 360': [
      'Any finite right ascension is taken modulo 360.',
    ],
    'docs/contract.test.ts: a table that is no JSON answers whatever is accepted': [
      'The format is `format`, else what `Accept` prefers,',
    ],
    'table_match/crossmatch_table.test.ts: Parquet in several row groups, with nulls': [
      'Arrays, and integers beyond 64 bits with a sign,',
      'The answer is sent when all of it is written;',
    ],
    'table_input/hostile.test.ts: Arrow with LZ4 and ZSTD, and Parquet, have the same cells; times to the microsecond':
      ['Timestamps of Parquet and Arrow are UTC.'],
    'table_match/crossmatch_table.test.ts: dates of Parquet stay dates in Parquet, against a catalog too, and are the beginning of their day elsewhere':
      ['A table of Parquet is answered in Parquet with its'],
    'table_input/fits.test.ts: columns that no cell can hold are left out by name; the others are read': [
      'Columns that no answer can hold (times of day,',
    ],
    'table_match/crossmatch_table.test.ts: small integers of Parquet are copied so that they can be read; times without':
      ['Times outside of the years 0 to 9999 are 400.'],
    'neighbour/tables.test.ts: a bomb is 400, and small tables of another client are answered meanwhile': [
      'Another process reads the table, within a bound',
    ],
    'table_match/crossmatch_table.test.ts: the rows of the answer are counted, columns are selected and those that': [
      '`X-Row-Count` (the rows of the answer), `X-Input-Row',
      '`columns` names the columns of the table that the',
      'One that the table has not, or that no answer can',
      'Columns that no answer can hold (times of day,',
    ],
    'table_input/hostile.test.ts: columns that no answer can hold are left out by name': [
      'Columns that no answer can hold (times of day,',
    ],
    'table_match/crossmatch_table.test.ts: an answer in FITS, as astropy reads it': [
      '`format=fits` (or `Accept: application/fits` alone)',
    ],
    'base/fair_places.test.ts: of one place, too, a client has one, and then it is the turn of whoever has used least':
      ['A client has one table under way at a time, and'],
    'base/fair_places.test.ts: who waits in vain leaves no trace; of those who wait, one client is half': [
      'One for which no place becomes free within 55 s is',
    ],
    'docs/contract.test.ts: more pairs than a table may have are refused': ['More than 5,000,000 pairs are 400, too.'],
    'jobs/jobs.test.ts: a table as a job, from the request to its end': [
      'With `Prefer: respond-async` such a request is',
      'The job, `/vo/jobs/ID`, has the resources of',
      "Whoever knows a job's name, 160 random bits,",
      '`/vo/jobs` is always an empty list.',
      'A table that cannot be used is `ERROR`, too,',
    ],
    'jobs/jobs.test.ts: one after another; aborted and removed ones; bounds': [
      '`PHASE=ABORT` sent to `phase` ends it, `DELETE`',
      'Else the answer is 503.',
    ],
    'docs/contract.test.ts: a job under way says how many rows are searched and written': [
      'While it is carried out, `jobInfo` says of how many',
    ],
    'jobs/jobs.test.ts: one client fills neither all places nor all room, and waits for the turns of others': [
      'One such job is carried out at a time, in the',
      "One client, by its address as for the connector's",
    ],
    'jobs/jobs.test.ts: who only makes jobs, or has large results, leaves room for others': [
      'A result takes at most half of the room, less',
      'Where there is no room for a further job, one',
    ],
    'http/client_address.test.ts: all addresses of an IPv6 /64 are one client': [
      'All addresses of an IPv6 /64 are one client.',
    ],
    'jobs/jobs.test.ts: a restart begins what was under way again; what ended two processes is over': [
      'A job that was under way when the service ended',
    ],
    'docs/settings.test.ts: how long a job may take and is kept': [
      'Jobs are kept for `JOBS_HOURS`, at most `JOBS_MAX`',
    ],
  },
  Cursors: {
    'http/values.test.ts: a forged cursor is a 400 naming it': ['Opaque, at most 1024 characters.'],
    'http/area.test.ts: a cursor of which any member was altered names cursor': ['So is one that was altered.'],
    'contract/suite/cursors.ts: what is no cursor is refused: empty, too long, damaged, of another operation': [
      'Opaque, at most 1024 characters.',
      "What is empty, too long, damaged, another operation's",
    ],
    'http/values.test.ts: a cursor keeps every digit': ['Ids keep all their digits in it.'],
    'http/walk.test.ts: a cursor goes on after a restart and in a copy of the archive, and no other archive takes it': [
      'A cursor is of one archive, in which alone its',
      "It goes on after a restart and in a backup's",
      'Another data directory refuses it, also one that',
      'A cursor that an older release gave names no',
    ],
  },
  'Status and descriptions': {
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      '`/api/status` is always 200: `database` (`ok`,',
    ],
    'contract/describe.test.ts: the keys, in the order of the contract, without a database': [
      '`/api/describe` needs no database (`coverage_map`',
    ],
    'contract/describe.test.ts: the order of a coverage map is the one in force': [
      '`/api/describe` needs no database (`coverage_map`',
    ],
    'contract/document.test.ts: the components are the 42 of the contract, and the two parts of one': [
      '`/openapi.json` is OpenAPI 3.1 with 42 named',
    ],
    'contract/document.test.ts: every number has its unit': ['`/openapi.json` is OpenAPI 3.1 with 42 named'],
    'contract/occurs.test.ts: everything documented was seen': ['`/openapi.json` is OpenAPI 3.1 with 42 named'],
    'contract/document.test.ts: what is closed is closed, nested objects too; what is open is open': [
      'What is closed has `additionalProperties: false`.',
    ],
  },
  'OpenAPI texts': {
    [NO_BEHAVIOUR]: [
      'Integrators rely on what the document says at',
      '`A.b` is a property of a schema, `info` the head',
    ],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      '| place | says | |---|---| | `info` | only the',
    ],
  },
  Tasks: {
    'contract/suite/descriptions.ts: the bare list of 17 names; GET, HEAD and OPTIONS; 405 for the others': [
      '`/api/task/` is a bare array of 17 objects with',
      'GET, HEAD and OPTIONS (a small description) are',
      'The names: Host match; Cutout download; Global',
    ],
    'contract/task_list.test.ts: other methods are 405 with Allow and the error body': [
      'GET, HEAD and OPTIONS (a small description) are',
    ],
  },
  Documents: {
    'clients/served.test.ts: the files are those of the checkout': [
      '`/clients/` has the clients in the version of the service',
      '`/consuming` names their addresses.',
    ],
    'clients/served.test.ts: pip installs the wheel from the service': [
      '`/clients/` has the clients in the version of the service',
    ],
    'contract/docs.test.ts: llms.txt has the layout of llmstxt.org, and is short': [
      '`/llms.txt` is plain text below 10 KiB in the',
    ],
    'contract/docs.test.ts: the reference has every operation, parameter, code and source id': [
      '`/llms.txt` is plain text below 10 KiB in the',
    ],
    'contract/docs.test.ts: addresses follow the Host header and X-Forwarded-Proto': [
      'Links are whole addresses that exist: of `PUBLIC_BASE_URL`,',
    ],
    'contract/docs.test.ts: PUBLIC_BASE_URL is where the documents send their readers': [
      'Links are whole addresses that exist: of `PUBLIC_BASE_URL`,',
    ],
  },
  Connector: {
    'mcp/query.test.ts: a service that cannot answer queries does not list the tool': [
      'It is listed only where the service can answer',
    ],
    'mcp/http.test.ts: an origin that is not on the list is refused before anything else is looked at': [
      'MCP over POST at `/mcp`, one JSON-RPC message',
      'In order: an `Origin` that is not allowed is',
    ],
    'mcp/http.test.ts: a notification, whatever it is, and a response of the client: 202 without a body': [
      'In order: an `Origin` that is not allowed is',
    ],
    'mcp/protocol.test.ts: initialize: a served revision is echoed, anything else is answered with the newest': [
      '`initialize` echoes a revision that it speaks,',
    ],
    'mcp/protocol.test.ts: tools/call needs no session': ['Tools work without a session.'],
    'mcp/protocol.test.ts: the limits in the tools are those of the service': [
      '`lookup_rubin_transients`: `identifiers`, 1 to',
      '`search_rubin_transients_near_position`: `ra_deg`,',
    ],
    'mcp/protocol.test.ts: /mcp has the three tools of the contract, /mcp/archive all six': [
      '`/mcp` has these three, in this order.',
      '`/mcp/archive`, which answers alike, has them and',
    ],
    'mcp/protocol.test.ts: tools/list: names, titles, schemas and hints, in order': [
      '`describe_crossmatch_service`: no arguments.',
      'The last three have an `outputSchema`, and a result',
    ],
    'mcp/listings.test.ts: an area: how many objects it has, and the first of them, with a command for all': [
      '`list_rubin_transients_in_area`: `area`, a circle,',
    ],
    'mcp/listings.test.ts: arguments that are none are errors of the call': [
      '`list_rubin_transients_in_area`: `area`, a circle,',
      '`list_recent_rubin_transients`: `hours` (24 unless',
    ],
    'mcp/listings.test.ts: the latest objects with sources, newest first, of one catalog or any': [
      '`list_recent_rubin_transients`: `hours` (24 unless',
    ],
    'mcp/query.test.ts: rows by column, ids as texts with all their digits': [
      '`query_rubin_archive`: `query`, in ADQL ([tap.md](tap.md)),',
      'It answers with at most 200 rows, integers beyond',
      'The last three have an `outputSchema`, and a result',
    ],
    'mcp/query.test.ts: more rows than fit are cut, with a command for all of them': [
      'It answers with at most 200 rows, integers beyond',
    ],
    'contract/describe.test.ts: the connector, with the tools of the contract': [
      "The last three are not the public service's.",
      '`/api/describe` lists the first three and names',
    ],
    'mcp/lookup.test.ts: the text is compact JSON': ['A result is one text of compact JSON.'],
    'mcp/search.test.ts: arguments that are wrong': ['A failed call is a result with `isError` and'],
    'mcp/limits.test.ts: over HTTP: the eleventh call at once is refused with when to try again, as a result and not as 429':
      ['A failed call is a result with `isError` and'],
    'mcp/lookup.test.ts: identifiers that are none, that lost digits, and that are the same': [
      'Digits up to 2^63 - 1 are an id, what reads as',
      'Duplicates are looked up once.',
    ],
    'mcp/lookup.test.ts: at most 20 objects; the rest is a command away': [
      'An answer shows at most 20 objects and 30000',
    ],
    'mcp/identifiers.test.ts: a command keeps to the limits of a request, however low': [
      'An answer shows at most 20 objects and 30000',
    ],
    'mcp/search.test.ts: near a position: nothing there': ['A result without objects has a `reason`; a name'],
    'mcp/search.test.ts: near a position: all that lies within, the nearest first': [
      'A position search is ordered by separation.',
    ],
    'mcp/limits.test.ts: over HTTP: arguments that are wrong, and other methods, do not count': [
      'Only tool calls with good arguments count: by',
    ],
    'mcp/limits.test.ts: whom a call counts against': ['Only tool calls with good arguments count: by'],
  },
  'Ingest and states': {
    'store/store.test.ts: the first delivery fixes everything': ['One object per `diaObjectId`: the first delivery'],
    'crossmatch/crossmatcher.test.ts: every outcome, status and count of a small sky': [
      'An object without a usable position is crossmatched',
    ],
    'crossmatch/crossmatcher.test.ts: a catalog that cannot be read is skipped': [
      'A catalog that cannot be read is `skipped_read_failure`.',
    ],
    'tns/association.test.ts: it is recorded with the crossmatch, once': [
      'The association with the registry needs a current',
    ],
  },
};
