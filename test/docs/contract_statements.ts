/**
 * Every sentence of docs/contract.md, by section, by the test that holds it: the test's file and a part of its name. Of a
 * sentence its first words stand here, of a table those of its head. What a sentence says that is no behaviour of ours is named so.
 */

/** A definition, a reason, or what clients should do. */
export const NO_BEHAVIOUR = 'no behaviour';

export const CONTRACT: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'The contract of the API': {
    [NO_BEHAVIOUR]: [
      'Clients of every release can rely on this page.',
      'Section names never change, because the code',
      'Numbers are for the default settings.',
    ],
    'contract/document.test.ts: the paths are those of the contract, in its order, and our own': [
      '`GET /openapi.json` lists every field with',
    ],
    'contract/document.test.ts: the document follows the configuration': ['`GET /openapi.json` lists every field with'],
    'contract/document.test.ts: it is OpenAPI 3.1.0, of the contract version': ['The contract version is `1.0.0`.'],
    'contract/suite.test.ts: the service holds every check': ['Clients written for the public crossmatch service'],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      'The OpenAPI document contains the phrases',
    ],
  },
  Purpose: {
    [NO_BEHAVIOUR]: [
      'The service returns what is known about objects',
      'No operation needs a credential, header or',
      'Clients must ignore keys that they do not know.',
      'Paths contain no version.',
    ],
    'http/routing.test.ts: another method is 405 with Allow': ['The service is read-only and public, and'],
    'contract/document.test.ts: every number has its unit': ['Positions are ICRS right ascension and declination'],
    'crossmatch/match.test.ts: the radius is inclusive to the last bit': [
      'The crossmatch radius is 1.0 arcsec, inclusive.',
    ],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      'For each object and each catalog only the',
      'Positions of gaia_dr3 are at `ref_epoch`, J2016.0.',
      'A coincident source is not a host association.',
      'The source is generally not the host of an',
      '`not_in_service` (or `no_rubin_object` for',
    ],
    'crossmatch/match.test.ts: of equal separations the lowest id wins': [
      'Other sources inside the radius are not reported.',
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event': [
      'Catalog positions are compared as published,',
    ],
    'ingest/normalise.test.ts: pittgoogle: the cut is inclusive': ['Alerts are filtered before they are stored,'],
    'contract/suite/objects.ts: an object without a position is found by its id, and by no position': [
      'An object whose position could not be indexed',
      'Such an object is found only by `diaObjectId`.',
    ],
    'http/walk.test.ts: while new objects arrive': ['A cursor pins the set of objects of a walk,'],
    'http/walk.test.ts: walks while objects arrive whose ingest time is not after as_of': [
      '`as_of` bounds the ingest time and is not a snapshot.',
      'An object can appear on a later page if its',
    ],
    'contract/suite/every_answer.ts: every diaObjectId is the integer that diaObjectId_str is': [
      '`diaObjectId` is a 64-bit integer; `diaObjectId_str`',
    ],
  },
  Decisions: {
    [NO_BEHAVIOUR]: ['This service makes the following decisions'],
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      '**P1.** The method is checked first: a wrong',
    ],
    'http/routing.test.ts: another method is 405 with Allow': [
      'Every 405 has `Allow`.',
      'A bare OPTIONS is 405.',
      'Any unsupported method, including TRACE,',
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
    'http/trouble.test.ts: a fault of our own is a 500 without detail': ['An internal fault is 500, `internal_error`,'],
    'answers/admission.test.ts: takes what will wait for a fifth of its budget': [
      '**P4.** Overload is 503 `service_unavailable`',
    ],
    'answers/query_runner.test.ts: a quick query whose budget was spent before it began is refused': [
      'A query that waited for more than half of',
    ],
    'contract/suite/transport.ts: the text "diaObjectId_str": "DIGITS" can be found': [
      '**P5.** JSON uses the separators `": "` and',
    ],
    'contract/document.test.ts: the paths are those of the contract, in its order, and our own': [
      '**P6.** `GET /api/task/` returns a bare array,',
    ],
    'mcp/client.test.ts: each revision: connect, list, call, leave': ['**P7.** The connector supports the protocol'],
    'contract/document.test.ts: the document follows the configuration': ['**P8.** Limits have the names of [Settings'],
    'contract/suite/descriptions.ts: its keys and values': ['**P9.** `service_version` is the release, contract'],
    'http/object.test.ts: the keys of each level, in order': ['**P10.** The block `tns` of an object is'],
    'contract/suite/transport.ts: another version of HTTP is 505, too large headers are 431': [
      '**P11.** Errors below the API have their',
    ],
    'http/body.test.ts: a body that does not arrive within the budget is refused as late': [
      'A body that does not arrive within the budget',
    ],
    'server/http_server.test.ts: a body of many small chunks is refused': ['A body of more than 10,000 chunks that'],
    'contract/suite/transport.ts: a method of any name is 405 where the path has others': [
      'Any unsupported method, including TRACE,',
    ],
    'ingest/normalise.test.ts: pittgoogle: an older schema spells midPointTai': [
      '**P12.** Broker times in MJD TAI are converted',
    ],
    'http/tns.test.ts: a name with the prefix that its own row has': ['**P13.** Names with the prefixes `FRB` and'],
    'mcp/limits.test.ts: who the client is, only this machine and the proxies of the settings may say': [
      '**P14.** A client address in a header is',
    ],
    'http/unknown_parameters.test.ts: Accept that cannot be met is 406; format goes before it': [
      '**P15.** An operation with several formats',
      '`text/xml` selects VOTable, `application/vnd.msgpack`',
      '`format=` overrides `Accept` and is never 406.',
      'All errors, including 406, are JSON regardless',
      '`/api/status`, `/api/describe` and the documents',
    ],
    'docs/contract.test.ts: a table that is no JSON answers whatever is accepted': [
      "The crossmatch of a table and an area's table",
    ],
    'tables/answers.test.ts: the formats, by name and by Accept, say the same ids': [
      'The answer is JSON if `Accept` is missing,',
      'Browsers therefore get JSON, because they end',
      '`text/*` gets CSV, the only text format.',
      'A wildcard also gets CSV if JSON has the',
    ],
    'contract/suite/transport.ts: numbers are decimal, with white space around them': [
      '**P16.** Operations of the contract accept',
    ],
    'pages/search_text.test.ts: every position, in decimal and sexagesimal notation': [
      'The search box of the pages accepts sexagesimal',
    ],
    'tables/answers.test.ts: at full each column of each catalog is a column': [
      '**P17.** Tables, which the public service',
      "At `full` each key of a catalog's payload",
      'These columns show the nearest source; `CATALOG_matches`',
    ],
    'tables/answers.test.ts: a value of a payload that is not of its column is null, and counted': [
      'Imported keys that are not in the catalog',
      'A value of the wrong type for its column',
    ],
    'tables/readers.test.ts: a bare pandas.read_parquet keeps every digit': [
      'Parquet and Arrow declare pandas types (`Int64`,',
    ],
    'http/stream_matches.test.ts: from the beginning: each message of the journal once': [
      '**P18.** Clients can follow matches over',
      'An event equals the Kafka message byte for',
    ],
    'sources/nearby_sources.test.ts: at hard places, in catalogs of mixed orders, each source once and nearest first': [
      '**P19.** [Sources](#sources) lists what the',
    ],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      '**P20.** Objects are listed by area ([Areas](#areas))',
      'These listings, like the stream, omit objects',
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event': [
      '**P21.** Sources with a proper motion can',
    ],
  },
  Routes: {
    'docs/contract.test.ts: every route of the table is there, under its methods': [
      '| method | path | operation | |---|---|---| |',
    ],
    'http/routing.test.ts: health and readiness': ['| method | path | operation | |---|---|---| |'],
    'http/routing.test.ts: another method is 405 with Allow': ['Other methods are 405.'],
    'contract/suite/transport.ts: a slash at the end, an encoded slash and an unknown path are 404': [
      'API paths other than `/api/task/` have no',
      'A path parameter is one non-empty, percent-decoded',
    ],
    'contract/task_list.test.ts: without the slash GET is sent to it': ['`/api/task` redirects (301) to `/api/task/`.'],
  },
  Headers: {
    'contract/suite/transport.ts: JSON is application/json, without a charset and without cache headers': [
      '`Content-Type` of JSON is `application/json`,',
      '`Cache-Control`, `ETag` and `Last-Modified`',
    ],
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      '`Retry-After` on 503 `service_unavailable`,',
    ],
    'base/client_admission.test.ts: a refusal says when a slot may be free: by how long slots were held, and are held now':
      ['If a slot is taken, it is 1 to 600 seconds,'],
    'contract/task_list.test.ts: other methods are 405 with Allow and the error body': [
      '`Allow` on every 405 and on every answer of `/api/task/`.',
    ],
    'http/routing.test.ts: every response has the headers of security and CORS, and none of caching': [
      '`Cache-Control`, `ETag` and `Last-Modified`',
      '`X-Content-Type-Options: nosniff`, `Referrer-Policy:',
    ],
    'tables/answers.test.ts: a walk by its Link has every object once': [
      '`Link: </llms.txt>; rel="describedby"` on `/api-docs.md`;',
    ],
    'http/unknown_parameters.test.ts: what is ignored is named, with the nearest name; the answer is the same': [
      '`X-Unknown-Parameters` if parameters were',
    ],
    'tables/answers.test.ts: the formats, by name and by Accept, say the same ids': [
      '`Vary: Accept, Accept-Encoding` on operations',
    ],
    'http/log_place.test.ts: an archive without a log says nothing': ['`X-Log-Position` on every answer of a node'],
    'http/log_place.test.ts: a node that is behind waits for what another has shown, or refuses': [
      '`X-Log-Position` on every answer of a node',
      'A client of several nodes sends back the',
      'Then no answer is older than an earlier one,',
      'A lagging node waits until it has caught',
      'A value without a log, or of another log,',
    ],
    'http/log_place.test.ts: over many hops no query of a client misses what one of its kind had': [
      'The value is `ARCHIVE-POSITION-SEQUENCE`.',
      'If concurrent requests return two values',
    ],
    'sky_map/sky_map.test.ts: counts while objects arrive and are crossmatched': [
      'The sky map and TAP answer from their own',
    ],
    'mcp/protocol.test.ts: only initialize gives a session': ['`Mcp-Session-Id` only on the answer to `initialize`.'],
  },
  'JSON text': {
    'contract/suite/every_answer.ts: every diaObjectId is the integer that diaObjectId_str is': [
      '`diaObjectId` is a bare integer with all its',
    ],
    'answers/object_writer.test.ts: any object, at every level, byte for byte': [
      '`catalog_source_id` is a string, `objid`',
      'Integers in `catalog_payload` are returned',
      'Floats are written as the shortest text that',
      'Non-finite numbers are `null`.',
    ],
    [NO_BEHAVIOUR]: ['Keys have the order of the tables here, but'],
  },
  Times: {
    'http/values.test.ts: times: offset as +00:00, six digits or none, exact to the microsecond': [
      'Times are ISO 8601 with the offset `+00:00`,',
      'Microseconds have six digits, and are omitted',
    ],
    'http/values.test.ts: a cursor keeps every digit': ['Storage and cursors keep microseconds.'],
    'http/values.test.ts: an instant keeps its offset and every digit': [
      'Digits of an input time beyond the sixth',
      'The window of recent crossmatches echoes',
    ],
    'http/routing.test.ts: declared cuts need both a value and a date': ['Dates of cuts are `YYYY-MM-DD`.'],
  },
  'Query strings': {
    'contract/suite/transport.ts: of a repeated name the last value counts': [
      'If a name is repeated, the last value counts.',
    ],
    'contract/suite/transport.ts: an empty value is a bad value, never an absent one': [
      'An empty value is an invalid value (400),',
    ],
    'contract/suite/transport.ts: names and values are case-sensitive; unknown names are ignored': [
      'Names and the values of enumerations are case-sensitive.',
    ],
    'http/filters.test.ts: a name that is shaped like a filter must be one; others are ignored': [
      'An unknown name is ignored, unless it looks',
      'A name looks like a filter if it is a generic',
    ],
    'http/filters.test.ts: an operation without filters, or counts, refuses them by name': [
      'An operation without filters in its query',
      'An operation without `response` refuses that',
    ],
    'docs/contract.test.ts: the descriptions ignore every name': ['The descriptions (`/api/status`, `/api/describe`,'],
    'http/unknown_parameters.test.ts: what is ignored is named, with the nearest name; the answer is the same': [
      'The header `X-Unknown-Parameters` lists the',
      'Names are percent-encoded and truncated to',
      'After eight names, `*;more=N` counts the rest.',
      'Scripts of other origins can read the header.',
    ],
    'contract/suite/transport.ts: numbers are decimal, with white space around them': [
      'Numbers are decimal and may have surrounding',
      '`nan`, `inf`, hexadecimal numbers and overflows',
    ],
    'contract/suite/transport.ts: page_size is an integer of at least 1, and clamped': [
      '`page_size` is an integer of at least 1;',
    ],
    'contract/suite/transport.ts: an id in a path is ASCII digits up to 2^63 - 1': [
      '`diaObjectId` in a path is ASCII digits,',
    ],
  },
  'JSON bodies': {
    'contract/suite/transport.ts: the content type must be application/json, whatever its case and parameters': [
      'The media type must be `application/json`,',
    ],
    'http/body.test.ts: a body of the largest size is read, one byte more is not': [
      'A body of more than 2,621,440 bytes, or one',
    ],
    'http/body.test.ts: a body of more values than a lookup can have is refused before it is parsed': [
      'A body has at most 100,000 names and values,',
    ],
    'mcp/http.test.ts: a body that is too large or no JSON': ['A call of the connector has at most 131,072 bytes.'],
    'http/body.test.ts: what is not JSON in UTF-8 is a fault of the body': [
      'A body of more than 2,621,440 bytes, or one',
    ],
    'contract/suite/transport.ts: nesting up to 1,000 levels inside an input is the problem of that input': [
      'Nesting up to 1,000 levels inside one input',
    ],
    'contract/suite/transport.ts: of a repeated key the last value counts': [
      'If a key is repeated, the last value counts.',
    ],
    'http/body.test.ts: 1 is an id and 1.0 is none': ['`1` is an integer, `1.0` is not.'],
    'contract/suite/transport.ts: an integer is told apart from a float, and a number from a text and a boolean': [
      'Numbers must be JSON numbers: strings and',
    ],
  },
  Errors: {
    'http/routing.test.ts: the body of an error: keys in order, error equal to message': [
      'Every error answer is `{error, code, message,',
      '`error` repeats `message`.',
    ],
    'contract/suite/every_answer.ts: there was no 5xx, and no 4xx without the error body and the status of its code': [
      '`param` names a single parameter at fault,',
      'Error answers have no `provenance`.',
    ],
    'contract/hostile.test.ts: random requests': ['No message reveals hosts or drivers.'],
    'contract/texts.test.ts: the codes, in the order of the contract': [
      '| code | HTTP | retryable | `param`, `params`',
      "The first six codes are the contract's, in",
    ],
    'contract/occurs.test.ts: errors of what is no request that an operation sees': [
      '| code | HTTP | retryable | `param`, `params`',
    ],
  },
  'Time budget': {
    'http/trouble.test.ts: a spent budget is 400 query_too_expensive, without Retry-After; a bad parameter stays one': [
      'A request has 5.0 s from its start to its',
      'A slower request is an error, even if the',
      'It is 400 `query_too_expensive` if the query',
      'Otherwise it is 503, because the query had',
      'A late 400 or 405 stays as it is.',
    ],
    'http/deadline.test.ts: a query that worked for half of its budget is too expensive; one that waited': [
      'A slower request is an error, even if the',
      'It is 400 `query_too_expensive` if the query',
      'Otherwise it is 503, because the query had',
    ],
    'http/trouble.test.ts: a database that cannot be read is one that is not there': [
      'A database that cannot be read in time is 503.',
    ],
    'server/stream_matches.test.ts: requests behind a stream are not answered: it has no end': [
      'The stream of matches has no end, and so',
    ],
    'http/area_table.test.ts: so many tables are sent at once': ["Table crossmatches, an area's table, areas that"],
  },
  'Settings and limits': {
    'commands/config.test.ts: the defaults are those of the contract': ['| setting | default | bounds | |---|---|---|'],
    'mcp/settings.test.ts: the defaults': ['| setting | default | bounds | |---|---|---|'],
    'tns/names.test.ts: at most 64 characters as they were sent': [
      'A registry name has at most 64 characters',
      'All settings are in [settings.md](settings.md).',
    ],
  },
  Catalogs: {
    'contract/describe.test.ts: the catalogs: source ids, coverage maps, filterable fields': [
      'All lists of catalogs have the order of this',
      'The pixel size is the side of an equal-area',
      '| catalog | release | `catalog_source_id` is',
    ],
    'contract/texts.test.ts: each text of the contract is at its place': ['An id is unique only within one catalog.'],
    'catalogs/coverage.test.ts: a finer map is degraded': ['`searched` means that the position lay inside'],
    'catalogs/footprint.test.ts: a sparse catalog of the whole sky covers all of it': [
      'The footprint of any other catalog has pixels',
      'So a sparse all-sky catalog covers the whole sky.',
    ],
    'catalogs/footprint.test.ts: --footprint: a MOC as mocpy degrades it': [
      'An operator can state the footprint instead.',
    ],
    'crossmatch/conventions.test.ts: matches and separations are those of LSDB, the payload as published': [
      'The payload at `full` has every one of these',
    ],
    'http/text_ids.test.ts: answers in JSON, the objects of a source, and the sources near a position': [
      'An added catalog may have text ids (',
    ],
    'crossmatch/text_ids.test.ts: each object has the nearest source that has an id': [
      'An added catalog may have text ids (',
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
      'With `CROSSMATCH_PROPER_MOTION=yes`, sources',
      'Of the four catalogs, only gaia_dr3 has one',
      "Such a catalog's entry in the `catalogs`",
    ],
    'crossmatch/motion.test.ts: the nearest source at the time of the event': [
      'The nearest source and the radius are determined',
      'Of equally near sources the lowest id wins.',
      'A match of a moving source has `separation_at_epoch_arcsec`,',
      '`separation_arcsec` stays the separation',
      'A source is compared at its catalog position',
      "Proper motion does not change a catalog's",
    ],
    'http/motion.test.ts: answers, tables, the Virtual Observatory, the source, the export': [
      'A match of a moving source has `separation_at_epoch_arcsec`,',
      '`separation_arcsec` stays the separation',
      "`ra` and `dec` stay the catalog's.",
      'A cone of `/vo/scs/CATALOG` finds a source',
    ],
    'crossmatch/motion.test.ts: an event more than a century from the epoch': [
      'A source is compared at its catalog position',
    ],
    'crossmatch/motion.test.ts: a copy of the catalog without motions': [
      'A source is compared at its catalog position',
    ],
    'crossmatch/motion.test.ts: parallaxes and radial velocities that are no star’s count as unknown': [
      'Parallaxes outside the range 0 (exclusive)',
    ],
    'index/motion.test.ts: further stars': [
      "Positions agree with ERFA's `pmsafe`, and",
      'UTC is assumed to be 69.184 s behind the',
    ],
  },
  Provenance: {
    'contract/suite/objects.ts: every envelope has the block of the service': [
      'Every successful answer starts with the key',
      'It has these keys:',
      '| key of `provenance` | value |',
    ],
    'http/routing.test.ts: declared cuts need both a value and a date': [
      'The brokers antares and lasair enforce their',
      'The service does not observe these two cuts;',
      'Their status is `declared` only if both',
    ],
    'ingest/normalise.test.ts: pittgoogle: the cut is inclusive': [
      'The service itself enforces the cut of pittgoogle.',
    ],
    'contract/suite/objects.ts: provenance_sets has what the listed objects refer to: as recorded, not as it is now': [
      '`provenance_sets` of a lookup lists, by hash,',
    ],
    'crossmatch/crossmatcher.test.ts: every outcome, status and count of a small sky': [
      'The catalogs of a set are those registered',
      'The provenance block lists the four catalogs',
    ],
    'contract/suite/objects.ts: an object without a record refers to a best guess': [
      'The key `best_guess_current_settings` has',
    ],
  },
  Objects: {
    'answers/object_fields.test.ts: JSON has the documented keys in the documented order': [
      '| key | level | | |---|---|---| | `diaObjectId`,',
    ],
    'http/object.test.ts: the keys of each level, in order': ['Levels are cumulative: `ids`, `position`,'],
    'http/object.test.ts: an unknown id is an answer with three keys, at every level': [
      'An object that is not in the service has `diaObjectId`,',
    ],
    'http/object.test.ts: statuses': ['The first row that applies gives the status:', '| status | if |'],
    'http/object.test.ts: a pending object has no crossmatch and no matches': ['A pending object never shows matches.'],
    'http/object.test.ts: the crossmatch block of a recorded crossmatch': [
      '`crossmatch` has `provenance`, `match_version`,',
    ],
    'http/object.test.ts: the crossmatch block where nothing was recorded, and its best guess': [
      'Without a record these are null, the outcome',
    ],
    'http/object.test.ts: brokers at the crossmatch are those of then; a catalog no longer in service comes last': [
      'Outcomes are a map: first the catalogs in',
    ],
    'contract/suite/objects.ts: of several records the highest version is current': [
      'The record with the highest version is current.',
    ],
    'http/object.test.ts: matches: four keys, ordered by catalog, then by source id as text': [
      'A match has `catalog_name`, `catalog_source_id`,',
      'Matches are sorted by catalog name, then',
    ],
    'http/object.test.ts: full: the published match, its payload exact': [
      'At `full` a match has the published form.',
      'Its keys are `diaObjectId`, `ra` and `dec`',
    ],
    'http/object.test.ts: matches: the newest version of each source': [
      'Each source is listed only in its newest version.',
      'A source that only an earlier crossmatch',
    ],
    'http/object.test.ts: the registry block, and the association on each match at full': [
      '`tns` of an object has `checked`, `snapshot_epoch`,',
    ],
    'tns/association.test.ts: it is recorded with the crossmatch, once': [
      'The association is the nearest registry object',
    ],
    'http/tns.test.ts: a name: the record, the epoch, the objects around': [
      'The record of a name has `objid`, `name`,',
    ],
  },
  Lookup: {
    'http/lookup.test.ts: detail is as asked, null is the default': ['The body has `inputs` (required), `detail`,'],
    'contract/suite/lookup.ts: the order of the checks; the first unknown field in the order of the body': [
      'Any other key is 400.',
      'The first error in this order is reported:',
    ],
    'http/lookup.test.ts: an id: integer literal or digits': [
      'Inputs are `{"kind": "id", "diaObjectId"}` (an',
      'An id has the status of its object and exactly',
    ],
    'http/lookup.test.ts: a radius: its own, else the shared one, else for a name the default': [
      'A null radius counts as missing for a position,',
      'The bounds are 0 < radius <= 60, 0 <= ra',
    ],
    'http/lookup.test.ts: the bounds themselves are valid': [
      'A null radius counts as missing for a position,',
      'The bounds are 0 < radius <= 60, 0 <= ra',
    ],
    'http/lookup.test.ts: the request: the first fault in order is a 400 that names it': [
      'The first error in this order is reported:',
    ],
    'http/lookup.test.ts: how many inputs: by the kinds that occur': [
      'Inputs are counted by kind before each is checked.',
      'A request has at most the sum of the limits',
    ],
    'contract/suite/lookup.ts: each is invalid_input in its own place and names what is at fault; the others are answered':
      ['An invalid input has the status `invalid_input`'],
    'http/lookup.test.ts: one result an input, in order, duplicates answered twice: keys and their order': [
      'The answer has `provenance`, `detail`, `count`,',
      'Each input, including duplicates, has one',
    ],
    'contract/suite/lookup.ts: a position: normalized, total, truncated, truncation': [
      'A position has `objects_found` or `no_rubin_object`,',
    ],
    'contract/suite/lookup.ts: a position lists its first 100 objects by ingest time and id': [
      'A position lists its first 100 objects by',
    ],
    'http/lookup.test.ts: limits on listing: an input first, then the request, in the order of the inputs': [
      'A request lists 2000 objects minus its valid',
      'A result that does not fit has the truncation',
      'Ids are never truncated.',
    ],
  },
  'One object': {
    'contract/suite/objects.ts: the envelope of a lookup with one result, its input the segment': [
      '`GET /api/objects/{diaObjectId}` is a lookup',
    ],
    'http/object.test.ts: detail before filters before response before the id': [
      'Parameters are checked in this order: `detail`,',
    ],
    'http/object.test.ts: an unknown id is an answer': ['An unknown id is 200 with `not_in_service`.'],
  },
  Cone: {
    'http/cone.test.ts: ascending ingest time, then id': ['The answer lists every object within the'],
    'http/cone.test.ts: the radius is inclusive': ['The answer lists every object within the'],
    'http/cone.test.ts: across RA 0/360 and over the poles': ['The answer lists every object within the'],
    'contract/suite/cone.ts: the order of the checks: filters, response, ra, dec, radius, detail, page_size': [
      'Parameters are checked in this order: filters,',
    ],
    'http/cone.test.ts: page_size: default 100, clamped to 2000': ['`page_size` is 100 by default, at most 2000.'],
    'http/cone.test.ts: the page: keys, their order and values': ['The answer has the keys of a lookup with'],
    'contract/suite/cone.ts: the envelope, and one position result that echoes what was sent as texts': [
      '`input` repeats the parameters as sent, as',
    ],
    'http/walk.test.ts: while new objects arrive': ['`total` is the same on every page: the number'],
    'http/cone.test.ts: a walk: pages in order, the same total and as_of': [
      '`total` is the same on every page: the number',
    ],
    'http/cone.test.ts: what a cursor pins may be repeated but not changed': [
      'A cursor pins position, radius, `detail`',
    ],
    'contract/suite/cone.ts: filters are not pinned; their total is of the whole walk': ['Filters are not pinned.'],
    'http/counts.test.ts: a cone: no cursor, page_size is ignored': ['`response=count` accepts no cursor, and counts'],
  },
  'Registry names': {
    'http/tns.test.ts: a name: the record, the epoch, the objects around': [
      '`GET /api/tns/{name}` is a lookup of one name.',
    ],
    'contract/suite/tns.ts: the order of the checks: detail, filters, response, name, radius': [
      'Parameters are checked in this order: `detail`,',
    ],
    'contract/suite/tns.ts: at most 100 objects, in the order of a position; no pages': [
      'At most 100 objects are listed, without pages.',
    ],
    'tns/names.test.ts: the ways of writing one name come to the same': [
      'All white space in a name is dropped, and',
      'Four digits and at least one digit or letter',
    ],
    'http/tns.test.ts: of several rows of a name the lowest objid counts': [
      'If several objects have the name, the lowest',
    ],
    'http/tns.test.ts: a snapshot that is absent or stale: unavailable, with 200': [
      'If the snapshot is missing or older than',
    ],
  },
  'Filters and counts': {
    'http/filters.test.ts: there are 34, each taken on each operation': [
      'The generic filters are `catalog`,',
      'Each field of this table has the filters',
      '| catalog | fields with filters |',
    ],
    'contract/suite/filters.ts: one source must meet every match filter, bounds inclusive': [
      'Bounds are inclusive, and apply to the stored',
      'An object qualifies if it meets every reliability',
    ],
    'http/qualification.test.ts: random filters over random objects': [
      '`parallax_over_error` is signed, and unusable',
      'An object qualifies if it meets every reliability',
      'Filters mark objects without dropping or',
      '`qualifies_reason` is the first that applies:',
    ],
    'contract/suite/filters.ts: the reliability of the object, inclusive; none never meets it': [
      'An object without a reliability never meets',
    ],
    'http/filters.test.ts: filters of several catalogs: all that name one, grouped by catalog': [
      'Match filters of more than one catalog are',
    ],
    'http/filters.test.ts: filters drop and reorder nothing': ['Filters mark objects without dropping or'],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      'Areas, objects by time and the stream of matches differ:',
    ],
    'contract/suite/filters.ts: a position counts all it found, listed or not; nothing is dropped': [
      'The result for a position or name has `qualifying_total`,',
    ],
    'http/counts.test.ts: a lookup: inputs with their duplicates, objects once': [
      '`response=count` gives `response`, `filters`,',
    ],
    'http/counts.test.ts: a position: every object, whenever ingested, whatever the limits': [
      'Counts ignore the limits on listed objects,',
    ],
  },
  'Recent crossmatches': {
    'http/recent.test.ts: objects with matches, whatever their state: the newest first, then by id': [
      'The answer lists objects with a match whose',
      'An object with matches is listed in any state.',
    ],
    'http/recent.test.ts: the window: start is in it, end is not': ['`start` is inclusive, `end` exclusive; times'],
    'http/recent.test.ts: the defaults: 12 hours until now': ['By default `end` is now and `start` 12 h'],
    'http/recent.test.ts: parameters: the first fault in order is named': [
      '`time_field` is `ingest_time` or `event_time`.',
      'Parameters are checked in this order: unsupported',
    ],
    'http/recent.test.ts: filters and response are not supported: all are named': [
      'A filter or `response` is 400 `unsupported_parameter`.',
    ],
    'http/recent.test.ts: the page: keys and their order': ['The answer has `provenance`, `window`, `time_field`,'],
    'http/recent.test.ts: each level: its keys, and none of a lookup': [
      'Objects have ids, then position, then `matches`,',
    ],
    'http/recent.test.ts: as_of bounds the ingest time': [
      'A page holds objects ingested at or before',
      'A walk never repeats an object; one that',
    ],
    'http/every_page_size.test.ts: objects that get their first match beside a walk': [
      'A page holds objects ingested at or before',
      'A walk never repeats an object; one that',
    ],
  },
  'Stream of objects': {
    'http/stream_objects.test.ts: each change once, in the order of the journal, as the change left the object': [
      '`GET /api/stream/objects` and `POST',
      'An event is one change of one object.',
      '`stored` is the first delivery of the object',
      'A later delivery by another broker is no event.',
    ],
    'http/stream_objects.test.ts: a client that comes again after any event gets the others': [
      'All rules of the [stream of matches](#stream-of-matches)',
    ],
    'http/stream_objects.test.ts: what an import brought comes only where it is published': [
      'Imported objects are sent only if imported',
    ],
    'http/stream_objects.test.ts: a message: its keys, exact ids, and the matches of the crossmatch': [
      'The data is the object as that change left it,',
      'The matches are the messages of the stream of',
    ],
    'http/stream_objects.test.ts: status, filters and areas leave out events': [
      '`status` drops changes that leave the object',
      'If there are match filters, an event is sent',
    ],
  },
  'Stream of matches': {
    'http/stream_area.test.ts: the objects of a stream are those of /api/area': [
      '`POST /api/stream/matches` is the same stream,',
      'The body and the parameters `area` and `level`',
    ],
    'http/stream_area.test.ts: an area as a text in the address, in a GET too': ['The GET accepts `area`, too.'],
    'http/stream_area.test.ts: a table of positions with a radius': [
      'With `radius_arcsec` (more than 0, at most 3600)',
      'An object is inside if it lies within that',
      'The columns and the frame are found as there',
    ],
    'http/stream_area.test.ts: a bad request is told what is wrong with it': [
      'A request is checked in this order: filters,',
      'A row without a valid position is 400.',
    ],
    'http/stream_area.test.ts: more areas than the process may follow': [
      'The process follows `NEARSKY_MAX_STREAM_AREAS`',
    ],
    'service/area_slots.test.ts: half of the memory for one client': ['The areas take at most 256 MiB of memory'],
    'http/stream_area.test.ts: a client that comes again after any event gets the others': [
      'To resume, send the area again with the last id.',
    ],
    'http/stream_matches.test.ts: too many clients, or more than half of the streams for one: 503 until one has gone': [
      'Each serving thread sends `NEARSKY_MAX_STREAMS`',
    ],
    'http/stream_matches.test.ts: the headers': [
      '`GET /api/stream/matches` sends server-sent',
      'The first block has `retry` (1 to 5 s, random)',
    ],
    'http/stream_matches.test.ts: a bad request is told what is wrong with it': [
      'A request is checked in this order: filters,',
      'Any other value, or an id beyond the end',
    ],
    'http/stream_matches.test.ts: from the beginning: each message of the journal once': [
      'An event is a match.',
      'Its data is a message of the stream ([stream.md](stream.md#the-messages)),',
      'Every match of each recorded crossmatch is',
      "The event's id is its position in the journal:",
    ],
    'stream/publication.test.ts: what an import brought is published only when asked for': [
      'Imported matches are sent only if they are',
    ],
    [NO_BEHAVIOUR]: ['Clients can treat the id as opaque.', 'In both cases the client reconnects with'],
    'http/stream_matches.test.ts: a client that comes again after any event gets the others': [
      'A client that sends its last id as the header',
      'The journal is never truncated, so ids never',
    ],
    'http/stream_matches.test.ts: what is recorded while it reads; now leaves out what was there': [
      'The header overrides the parameter `from`,',
    ],
    'docs/contract.test.ts: an empty Last-Event-ID is none': ['An empty header is ignored.'],
    'http/stream_matches.test.ts: filters leave out events, each match by itself': [
      'The stream has the filters of [Filters and',
    ],
    'http/stream_matches.test.ts: filters that nothing meets: the client hears that the service is there': [
      'After 15 s without an event, the service',
    ],
    'server/stream_matches.test.ts: a client that does not read is ended, and goes on where it was': [
      'A client that reads too slowly falls behind,',
    ],
    'server/stream_matches.test.ts: the end of the service ends the streams, read or not': [
      'When the service stops, it closes every stream',
    ],
    'server/stream_matches.test.ts: a client that ends its side of the connection is gone at once': [
      'A client that closes its side of the connection',
    ],
  },
  Sources: {
    'sources/nearby_sources.test.ts: at hard places, in catalogs of mixed orders, each source once and nearest first': [
      '`GET /api/sources` lists every source of',
      'Equally near sources are sorted by catalog,',
      'Sources are read from the current catalogs.',
      'No proper motion is applied.',
    ],
    'sources/nearby_sources.test.ts: parameters': [
      '`catalog` selects one catalog; by default',
      '`limit` (1 to 10,000, 1,000 by default) bounds',
      'Parameters are checked in this order: `catalog`,',
    ],
    'sources/nearby_sources.test.ts: the outcome of each catalog, columns with units, payloads as published': [
      '`catalog` selects one catalog; by default',
      'Each catalog has an outcome.',
      "`searched` means that the position lies in the catalog's",
      'Part of the circle may lie outside.',
      '`outside_footprint`, `not_registered` and',
      'A catalog with an unreadable file lists no',
      '`columns` gives each key of `catalog_payload`',
    ],
    'sources/nearby_sources.test.ts: a database that is not there is 503': [
      'If reading the catalogs takes longer than',
    ],
    'sources/source_objects.test.ts: the objects of a source are those whose own answers list it': [
      '`GET /api/sources/{catalog}/{catalog_source_id}`',
      "It gives the separation listed in the object's",
      'It lists at most `limit` objects (1 to 10,000,',
    ],
    'sources/source_objects.test.ts: more objects than are listed': [
      '`GET /api/sources/{catalog}/{catalog_source_id}`',
      "It gives the separation listed in the object's",
      'It lists at most `limit` objects (1 to 10,000,',
    ],
    [NO_BEHAVIOUR]: ['A crossmatch records only the nearest source'],
    'sources/source_objects.test.ts: names that are none': ['An unknown catalog, or an id that is not'],
    'http/text_ids.test.ts: answers in JSON, the objects of a source, and the sources near a position': [
      'For an added catalog with text ids, send',
    ],
  },
  Areas: {
    'http/area.test.ts: a circle as a body in each spelling, and as a parameter': [
      '`POST /api/area` lists the objects in an area',
      'The area is sent as the body, with any Content-Type,',
      'A circle is `CIRCLE ra dec radius`, including',
      "The ADQL spelling `CIRCLE('ICRS', ra, dec,",
      'Objects are sorted by credible level if there',
      'This order never changes, so a walk can be',
      '`page_size` is 1000 by default, at most 10,000.',
    ],
    'http/area.test.ts: a cursor is of its area; what is wrong is named': [
      'A request is checked in this order: filters,',
      'A larger or missing area is 400 with `param`',
      'To get the next page, send the same request,',
    ],
    'vo/areas.test.ts: a MOC of one order is the same in FITS, JSON and text': [
      'A MOC (IVOA, MOC 2.0) is FITS with NUNIQ',
    ],
    'http/area.test.ts: a polygon and MOCs in text, JSON and FITS': [
      'An object is inside if its HEALPix pixel',
      'A circle is `CIRCLE ra dec radius`, including',
      "The ADQL spelling `CIRCLE('ICRS', ra, dec,",
    ],
    'vo/areas.test.ts: what is no area is refused with the reason': [
      'MOCs of time or frequency are refused.',
      'For other areas, a `level` other than 0.9 is',
    ],
    'vo/areas.test.ts: a FITS file that is cut, damaged, or of something else is refused': [
      'MOCs of time or frequency are refused.',
      'MOCs and maps that are not in equatorial',
    ],
    'vo/areas.test.ts: shapes of other frames, boxes, ranges and any right ascension hold the positions that astropy finds inside':
      [
        '`BOX ra dec width height` is the box of ADQL,',
        '`RANGE ra1 ra2 dec1 dec2` runs eastwards',
        'Any finite right ascension is taken modulo 360.',
        'A frame may precede the numbers: `ICRS`,',
        'Other frames are refused, and a `RANGE` must',
      ],
    'vo/areas.test.ts: the edges of a range are inside, and 0 and 360 are one meridian': [
      '`RANGE ra1 ra2 dec1 dec2` runs eastwards',
    ],
    'vo/areas.test.ts: a frame that is not converted is refused by name': [
      'A frame may precede the numbers: `ICRS`,',
      'Other frames are refused, and a `RANGE` must',
    ],
    'vo/areas.test.ts: a polygon of half the sky is refused: its inside could be either part': [
      'The area is the smaller of the two parts',
    ],
    'index/area.test.ts: polygons of all sizes, over the poles and RA 0, either way round, equal a scan': [
      'Edges of polygons are great circles, each shorter',
      'The area is the smaller of the two parts',
    ],
    'index/area.test.ts: polygons that cannot be are refused': ['Edges of polygons are great circles, each shorter'],
    'docs/contract.test.ts: where the edges of a polygon cross, inside and outside change': [
      'Where edges cross, inside and outside swap;',
    ],
    'vo/flat_maps.test.ts: a map in each order and spelling holds what a scan of its pixels finds': [
      'A probability map (FITS) is multi-order or flat.',
      'A multi-order map has the columns UNIQ and',
      'A flat map has one NSIDE, at most 8192, in',
      'Its probability is the first column whose',
      'Pixels with NaN, or marked by HEALPix as',
    ],
    'vo/flat_maps.test.ts: pixels without data have no probability': [
      'A probability map (FITS) is multi-order or flat.',
      'A multi-order map has the columns UNIQ and',
      'A flat map has one NSIDE, at most 8192, in',
      'Its probability is the first column whose',
      'Pixels with NaN, or marked by HEALPix as',
    ],
    'http/area.test.ts: a map of probability: the densest pixels up to the level': [
      'The credible level of a pixel is the fraction',
      'The area is all pixels with a level of at',
      'Each object has its `credible_level`.',
    ],
    'vo/areas.test.ts: what is too large is refused with the bound': [
      'An area has at most 8,388,608 bytes (67,108,864',
      'A larger or missing area is 400 with `param`',
    ],
    'vo/large_maps.test.ts: of more pixels than are held, the least dense are dropped; where the area needs these, it is refused':
      ['In a flat map only the pixels up to `level`'],
    'vo/large_maps.test.ts: a map of NSIDE 1024 in doubles, 100 MB, has the levels of ligo.skymap': [
      'A gzipped flat map may decompress to more:',
    ],
    'http/area.test.ts: a map of NSIDE 1024 in doubles, page by page; further ones wait their turn': [
      'A gzipped flat map may decompress to more:',
      'One client has at most half of the slots;',
    ],
    'http/sent_area.test.ts: a map that takes more memory than its process may have is 400; the next area is read': [
      'A separate process with limited memory reads every',
    ],
    'http/sent_area.test.ts: while one client sends map after map, that of another is read': [
      'One client has at most half of the slots;',
    ],
    'base/client_admission.test.ts: who waits in vain leaves no trace; of those who wait, one client is half': [
      'An area that gets no slot within 55 s is',
    ],
    'vo/flat_maps.test.ts: a map that was made of larger pixels may have many more than an area': [
      'In a flat map only the pixels up to `level`',
    ],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      'Filters, and the window from `start` (inclusive)',
      'By default the window is unbounded.',
      '`response=count` returns `total`, the number',
    ],
    'http/area.test.ts: a page looks at so many objects at most': [
      'A page examines at most about 20,000 objects,',
      'So it may have fewer objects than `page_size`,',
    ],
    'http/deadline.test.ts: a page of a listing ends when half of its time is spent': [
      'A page examines at most about 20,000 objects,',
      'So it may have fewer objects than `page_size`,',
    ],
    'http/area.test.ts: a walk goes on while objects arrive': ['A page holds objects ingested at or before `as_of`,'],
    'http/area_table.test.ts: the rows of all pages in their order': [
      '`response=table` returns all objects as one',
      'Its format is `format`, else what `Accept`',
    ],
    'http/area_table.test.ts: headers; the format is CSV unless a table is asked for': [
      '`response=table` returns all objects as one',
      'Its format is `format`, else what `Accept`',
      'The table has no limit on rows, and no `X-Row-Count`,',
      'If the connection ends early, the table is',
    ],
    'http/area_table.test.ts: every format has the same rows': ['Its metadata has only what is the same on'],
    'http/area_table.test.ts: so many tables are sent at once': ['Each serving thread sends 8 such tables at'],
    [NO_BEHAVIOUR]: ['With filters or a window of event times it'],
  },
  'Objects by time': {
    'http/area.test.ts: the objects with sources by time, those that meet filters': [
      '`GET /api/objects` lists the objects that',
      'The answer has the form of a lookup.',
      'Objects are sorted by `time_field`, newest',
      '`response=count` returns `total`, the number',
    ],
    'http/area.test.ts: filters and the window leave objects out of pages and counts': [
      'Filters, window and pages work as in [Areas](#areas).',
    ],
    'http/area.test.ts: time_field is in the cursor: it need not be repeated': [
      'The cursor pins `time_field` and `as_of`.',
    ],
    'docs/contract.test.ts: the order of checks of the objects by time, and of a table': [
      'A request is checked in this order: filters,',
    ],
  },
  'Crossmatch of a table': {
    'tap/async.test.ts: the parameters of a job have a bound together, when it is made and when it is changed': [
      'The parameters of a job, for example its',
      'More is 400.',
    ],
    'table_match/crossmatch_table.test.ts: the status of each row, and every column as it was sent': [
      '`POST /api/crossmatch` takes a table as its body',
      '`against` is `objects` (the default) or a',
      '`rows=matched` omits rows without a match.',
      'The answer has every column of the table,',
      'Against a catalog it also has the catalog',
      'If the table already has such a name, the new',
      '`nearsky_status` is `matched`, `no_match`',
      'CSV cells stay as sent in a CSV answer, and',
    ],
    'astrotables/tools.test.ts: every cell of every format, and the positions': [
      'These formats are read, with or without gzip:',
      '| format of the body |',
      'The format is detected from the bytes, whatever',
    ],
    'astrotables/text.test.ts: IPAC tables of archives: shortened types, dashes, units, nulls, the equinox': [
      'These formats are read, with or without gzip:',
      '| format of the body |',
      'The format is detected from the bytes, whatever',
    ],
    'astrotables/positions.test.ts: ECSV of astropy and of the Gaia archive': [
      'These formats are read, with or without gzip:',
      '| format of the body |',
      'The format is detected from the bytes, whatever',
    ],
    'table_match/crossmatch_table.test.ts: tables that cannot be used, and parameters: 400, with what to do': [
      'The table has at most `API_MAX_TABLE_ROWS`',
      '`radius_arcsec` is above 0 and at most 60,',
      'A table that cannot be read is 400 with `param`',
    ],
    'docs/contract.test.ts: the order of checks of the objects by time, and of a table': [
      'A request is checked in this order: `against`,',
    ],
    'table_match/crossmatch_table.test.ts: at hard places, with duplicates and ties: every pair and separation': [
      '`find=nearest` (the default) returns the',
      '`find=all` returns every match, nearest first,',
    ],
    'astrotables/positions.test.ts: by UCD before names, by unit, by the usual names, as named': [
      'Positions are read from the columns named',
      'Numbers are degrees, unless their unit is',
    ],
    'astrotables/positions.test.ts: the unit with a factor, as astropy writes hours': [
      'Numbers are degrees, unless their unit is',
      'Columns with any other unit are refused.',
    ],
    'astrotables/read_frames.test.ts: every frame in every format is read to a milliarcsecond': [
      'Positions in FK5 and FK4 (with the E-terms',
    ],
    'astrotables/read_frames.test.ts: the request goes before the table, and what the table declares before the names':
      ['The frame is taken from the first of these', 'The frame is taken from the first of these'],
    'astrotables/read_frames.test.ts: a frame that is not converted is named, and so are declarations': [
      'Any other frame is 400, and the message',
      'Columns with contradictory declarations',
    ],
    'table_match/crossmatch_table.test.ts: the frame of the positions is read, said in a header and in the answer': [
      '`X-Position-Frame`, and `position_frame`',
    ],
    'astrotables/hostile.test.ts: no integer is rounded, and no row is lost': [
      'Arrays and integers beyond signed 64 bits',
    ],
    'table_match/crossmatch_table.test.ts: small integers of Parquet are copied so that they can be read': [
      'A Parquet table answered in Parquet keeps',
      'This requires that `find` is `nearest`,',
      'Otherwise times become timestamps in microseconds,',
    ],
    'astrotables/positions.test.ts: sexagesimal texts, and both in one column': [
      'If only `ra` is named, its column holds both',
      "Sexagesimal right ascensions are in the column's",
      'A row with 24 hours or more is',
      'Numbers are degrees, unless their unit is',
    ],
    'docs/contract.test.ts: any finite right ascension is taken modulo 360': [
      'Any finite right ascension is taken modulo 360.',
    ],
    'docs/contract.test.ts: a table that is no JSON answers whatever is accepted': [
      'The format is `format`, else what `Accept`',
    ],
    'table_match/crossmatch_table.test.ts: Parquet in several row groups, with nulls': [
      'Arrays and integers beyond signed 64 bits',
      'The answer is sent when all of it is written;',
    ],
    'astrotables/hostile.test.ts: Arrow with LZ4 and ZSTD, and Parquet, have the same cells; times to the microsecond':
      ['Timestamps of Parquet and Arrow are UTC.'],
    'table_match/crossmatch_table.test.ts: dates of Parquet stay dates in Parquet, against a catalog too, and are the beginning of their day elsewhere':
      ['A Parquet table answered in Parquet keeps', 'Otherwise times become timestamps in microseconds,'],
    'astrotables/read_fits.test.ts: columns that no cell can hold are left out by name; the others are read': [
      'Columns that no answer can hold are dropped:',
      '`X-Dropped-Columns` names the first 50 of',
    ],
    'table_match/crossmatch_table.test.ts: small integers of Parquet are copied so that they can be read; times without':
      ['Times outside the years 0 to 9999 are 400.'],
    'pool/reading_processes.test.ts: if all have too much memory, the largest is ended and refused for now': [
      'If other tables and queries use the memory,',
    ],
    'neighbour/tables.test.ts: a bomb is 400, and small tables of another client are answered meanwhile': [
      'A separate process with limited memory (`API_TABLE_MEMORY_MIB`)',
    ],
    'table_match/crossmatch_table.test.ts: the rows of the answer are counted, columns are selected and those that': [
      'The headers `X-Row-Count` (rows of the answer),',
      "`columns` selects the table's columns in",
      'A column that the table lacks, or that no',
      'Columns that no answer can hold are dropped:',
      '`X-Dropped-Columns` names the first 50 of',
    ],
    'astrotables/hostile.test.ts: columns that no answer can hold are left out by name': [
      'Columns that no answer can hold are dropped:',
      '`X-Dropped-Columns` names the first 50 of',
    ],
    'table_match/crossmatch_table.test.ts: an answer in FITS, as astropy reads it': [
      '`format=fits` (or only `Accept: application/fits`)',
    ],
    'base/client_admission.test.ts: of one slot, too, a client has one, and then it is the turn of whoever has used least':
      ['Each client has one large table and one table'],
    'base/client_admission.test.ts: who waits in vain leaves no trace; of those who wait, one client is half': [
      'A table that gets no slot within 55 s is',
      'A table that takes longer than 55 s is',
    ],
    'docs/contract.test.ts: more pairs than a table may have are refused': ['More than 5,000,000 pairs are also 400.'],
    'pool/reading_processes.test.ts: a job that is ended for its memory again and again fails': [
      'So is a table whose memory other',
    ],
    'jobs/jobs.test.ts: a table as a job, from the request to its end': [
      'With `Prefer: respond-async` the request',
      'The job, `/vo/jobs/ID`, has the resources',
      'The result is the table that the request',
      "Anyone who knows a job's name, 160 random",
      '`/vo/jobs` always returns an empty list.',
      'An unusable table is also `ERROR`, with the',
    ],
    'jobs/jobs.test.ts: one after another; aborted and removed ones; bounds': [
      'Send `PHASE=ABORT` to `phase` to stop the',
      'Otherwise the answer is 503.',
    ],
    'docs/contract.test.ts: a job under way says how many rows are searched and written': [
      'While it runs, `jobInfo` gives the total',
    ],
    'jobs/jobs.test.ts: one client fills neither all places nor all room, and waits for the turns of others': [
      'One such job runs at a time, for at most',
      "One client (identified as for the connector's",
    ],
    'jobs/jobs.test.ts: who only makes jobs, or has large results, leaves room for others': [
      'A result takes at most half of the disk space,',
      'If a new job does not fit, the service looks',
      'If that client has several, and more than the',
    ],
    'http/client_address.test.ts: all addresses of an IPv6 /64 are one client': [
      'All addresses of an IPv6 /64 count as one client.',
    ],
    'jobs/jobs.test.ts: a restart begins what was under way again; what ended two processes is over': [
      'A job that was running when the service stopped',
    ],
    'docs/settings.test.ts: how long a job may take and is kept': [
      'Jobs are kept for `JOBS_HOURS`.',
      'There are at most `JOBS_MAX` jobs, which',
    ],
  },
  Cursors: {
    'http/values.test.ts: a forged cursor is a 400 naming it': ['Cursors are opaque strings of at most 1024'],
    'http/area.test.ts: a cursor of which any member was altered names cursor': ['An altered cursor is also 400.'],
    'contract/suite/cursors.ts: what is no cursor is refused: empty, too long, damaged, of another operation': [
      'Cursors are opaque strings of at most 1024',
      'A cursor that is empty, too long, damaged,',
    ],
    'http/values.test.ts: a cursor keeps every digit': ['Ids in a cursor keep all their digits.'],
    'http/walk.test.ts: a cursor goes on after a restart and in a copy of the archive, and no other archive takes it': [
      'A cursor is valid only for the archive that',
      'It stays valid after a restart, in a restored',
      'Another data directory refuses it, even one',
      'A cursor from an older release names no archive,',
    ],
  },
  'Status and descriptions': {
    'contract/suite.test.ts: the service holds every check': ['The document lists every status and header that'],
    'contract/describe.test.ts: the values, with the settings of the contract': [
      '`limits` has the limits of lookups and',
    ],
    'contract/describe.test.ts: it follows the settings': ['`limits` has the limits of lookups and'],
    'contract/validate.test.ts: what surrounds the body is held to the document too': [
      'The document lists every status and header that',
    ],
    'contract/occurs.test.ts: queries, at once and as jobs': ['Beside the operations above it has [TAP](tap.md)'],
    'http/routing.test.ts: every operation of the document has a route': ['A CORS preflight is 204 on every path'],
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      '`/api/status` is always 200: `database` (`ok`,',
    ],
    'contract/describe.test.ts: the keys, in the order of the contract, without a database': [
      '`/api/describe` needs no database: `catalogs`,',
      'Its `coverage_map` has the order of the footprint',
      'That order differs from the table above if',
      'If a catalog is not registered, or the database',
    ],
    'contract/describe.test.ts: the order of a coverage map is the one in force': [
      '`/api/describe` needs no database: `catalogs`,',
      'Its `coverage_map` has the order of the footprint',
      'That order differs from the table above if',
      'If a catalog is not registered, or the database',
    ],
    'contract/document.test.ts: the components are the 42 of the contract, and the two parts of one': [
      '`/openapi.json` is OpenAPI 3.1 with 42 named',
      'It also names `LookupMatchSummary` and `LookupPublishedMatch`,',
      'Every number has its unit in `x-unit`.',
      'Every value of an enumeration occurs, and',
    ],
    'contract/document.test.ts: every number has its unit': [
      '`/openapi.json` is OpenAPI 3.1 with 42 named',
      'It also names `LookupMatchSummary` and `LookupPublishedMatch`,',
      'Every number has its unit in `x-unit`.',
      'Every value of an enumeration occurs, and',
    ],
    'contract/occurs.test.ts: everything documented was seen': [
      '`/openapi.json` is OpenAPI 3.1 with 42 named',
      'It also names `LookupMatchSummary` and `LookupPublishedMatch`,',
      'Every number has its unit in `x-unit`.',
      'Every value of an enumeration occurs, and',
    ],
    'contract/document.test.ts: what is closed is closed, nested objects too; what is open is open': [
      'Closed schemas have `additionalProperties: false`.',
    ],
  },
  'OpenAPI texts': {
    [NO_BEHAVIOUR]: [
      'Integrators rely on these phrases of the document.',
      '`A.b` is a property of a schema, `info` the head',
    ],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      '| place | says | |---|---| | `info` | only the',
    ],
  },
  Tasks: {
    'contract/suite/descriptions.ts: the bare list of 17 names; GET, HEAD and OPTIONS; 405 for the others': [
      '`/api/task/` returns a bare array of 17 objects',
      'GET, HEAD and OPTIONS (a small description) are',
      'The names are: Host match; Cutout download;',
    ],
    'contract/task_list.test.ts: other methods are 405 with Allow and the error body': [
      'GET, HEAD and OPTIONS (a small description) are',
    ],
  },
  Documents: {
    'clients/served.test.ts: the files are those of the checkout': [
      "`/clients/` has the clients in the service's",
      '`/consuming` lists their addresses.',
    ],
    'clients/served.test.ts: pip installs the wheel from the service': ["`/clients/` has the clients in the service's"],
    'contract/docs.test.ts: llms.txt has the layout of llmstxt.org, and is short': [
      '`/llms.txt` is plain text below 10 KiB in',
    ],
    'contract/docs.test.ts: the reference has every operation, parameter, code and source id': [
      '`/llms.txt` is plain text below 10 KiB in',
    ],
    'contract/docs.test.ts: addresses follow the Host header and X-Forwarded-Proto': [
      'Links are absolute addresses that exist.',
      'They start with `PUBLIC_BASE_URL`, else with',
    ],
    'contract/docs.test.ts: PUBLIC_BASE_URL is where the documents send their readers': [
      'Links are absolute addresses that exist.',
      'They start with `PUBLIC_BASE_URL`, else with',
    ],
  },
  Connector: {
    'mcp/query.test.ts: a service that cannot answer queries does not list the tool': [
      'It is listed only if the service can answer',
    ],
    'mcp/http.test.ts: an origin that is not on the list is refused before anything else is looked at': [
      'The connector is MCP over POST at `/mcp`:',
      'Checks run in this order:',
      '| request | answer |',
    ],
    'mcp/http.test.ts: a notification, whatever it is, and a response of the client: 202 without a body': [
      'Checks run in this order:',
      '| request | answer |',
    ],
    'mcp/protocol.test.ts: initialize: a served revision is echoed, anything else is answered with the newest': [
      '`initialize` echoes a supported revision,',
      'The other methods are `ping`, `tools/list`',
    ],
    'mcp/protocol.test.ts: tools/call needs no session': ['Tools work without a session.'],
    'mcp/protocol.test.ts: the limits in the tools are those of the service': [
      '`lookup_rubin_transients`: `identifiers`,',
      '`search_rubin_transients_near_position`:',
    ],
    'mcp/protocol.test.ts: /mcp has the three tools of the contract, /mcp/archive all six': [
      '`/mcp` has these three, in this order.',
      '`/mcp/archive` works in the same way and adds:',
    ],
    'mcp/protocol.test.ts: tools/list: names, titles, schemas and hints, in order': [
      '`describe_crossmatch_service`: no arguments.',
      'The last three have an `outputSchema`, and',
    ],
    'mcp/listings.test.ts: an area: how many objects it has, and the first of them, with a command for all': [
      '`list_rubin_transients_in_area`: `area`,',
    ],
    'mcp/listings.test.ts: arguments that are none are errors of the call': [
      '`list_rubin_transients_in_area`: `area`,',
      '`list_recent_rubin_transients`: `hours` (24',
    ],
    'mcp/listings.test.ts: the latest objects with sources, newest first, of one catalog or any': [
      '`list_recent_rubin_transients`: `hours` (24',
    ],
    'mcp/query.test.ts: rows by column, ids as texts with all their digits': [
      '`query_rubin_archive`: `query`, in ADQL ([tap.md](tap.md)),',
      'It returns at most 200 rows, with integers',
      'The last three have an `outputSchema`, and',
    ],
    'mcp/query.test.ts: more rows than fit are cut, with a command for all of them': [
      'It returns at most 200 rows, with integers',
    ],
    'contract/describe.test.ts: the connector, with the tools of the contract': [
      'The public service lacks the last three tools.',
      '`/api/describe` lists the first three and names',
    ],
    'mcp/lookup.test.ts: the text is compact JSON': ['A result is one string of compact JSON.'],
    'mcp/search.test.ts: arguments that are wrong': ['A failed call is a result with `isError` and'],
    'mcp/limits.test.ts: over HTTP: the eleventh call at once is refused with when to try again, as a result and not as 429':
      ['A failed call is a result with `isError` and'],
    'mcp/lookup.test.ts: identifiers that are none, that lost digits, and that are the same': [
      'Digits up to 2^63 - 1 are read as an id,',
      'A JSON number above 2^53 is `identifier_precision_lost`',
      'Duplicates are looked up once.',
    ],
    'mcp/lookup.test.ts: at most 20 objects; the rest is a command away': [
      'An answer shows at most 20 objects and 30000',
      'If it is shortened, `truncation` gives the',
    ],
    'mcp/identifiers.test.ts: a command keeps to the limits of a request, however low': [
      'An answer shows at most 20 objects and 30000',
      'If it is shortened, `truncation` gives the',
    ],
    'mcp/search.test.ts: near a position: nothing there': ['A result without objects has a `reason`; a name'],
    'mcp/search.test.ts: near a position: all that lies within, the nearest first': [
      'A position search is sorted by separation.',
    ],
    'mcp/limits.test.ts: over HTTP: arguments that are wrong, and other methods, do not count': [
      'Only tool calls with valid arguments count',
      'Up to 6 calls run at once, 2 per key.',
    ],
    'mcp/limits.test.ts: whom a call counts against': [
      'Only tool calls with valid arguments count',
      'Up to 6 calls run at once, 2 per key.',
    ],
  },
  'Ingest and states': {
    'store/store.test.ts: the first delivery fixes everything': ['There is one object per `diaObjectId`: the'],
    'crossmatch/crossmatcher.test.ts: every outcome, status and count of a small sky': [
      'An object without a usable position has the',
    ],
    'crossmatch/crossmatcher.test.ts: a catalog that cannot be read is skipped': [
      'The outcome of an unreadable catalog is `skipped_read_failure`.',
    ],
    'tns/association.test.ts: it is recorded with the crossmatch, once': ['The association with the registry requires'],
  },
};
