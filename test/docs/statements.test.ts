/**
 * The statements of the documents about the behaviour of nearsky are true: each stands here with the test that holds
 * it. A statement that no test can hold is taken out of the document.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../directory.ts';
import { CONTRACT, NO_BEHAVIOUR } from './contract_statements.ts';

/** By document, by the test's file and a part of its name: the statements, in the document's words. */
const HELD: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'README.md': {
    'e2e/demo.test.ts: answers every address that it prints, answers as docs/api.md says': ['a page for each object'],
    'index/sky_index.test.ts: cones and nearest equal a scan': ['Searches are exact over the whole sphere'],
    'astrotables/formats.test.ts: parquet: what hyparquet reads is what was written': [
      '64-bit ids keep every digit in every format',
    ],
    'crossmatch/crossmatcher.test.ts: every outcome, status and count of a small sky': [
      '"Not searched" is never reported as "nothing there"',
    ],
    'e2e/kill_consume.test.ts: killed': ['Alerts are on disk before they are acknowledged to the broker'],
    'pages/pages.test.ts: each page is HTML under a policy that takes nothing from elsewhere': [
      'Pages load nothing from other hosts',
    ],
    'clients/python.test.ts: lookups, walks and errors, while the service is busy at times': [
      'The clients take lists of any length, and the answers keep their order',
    ],
  },
  'docs/run.md': {
    'commands/ingest.test.ts: counts what it stores, keeps what it rejects, and does nothing twice': [
      'nothing is stored twice',
      'Messages that cannot be read go to `DATA/rejected/`, with the reason',
    ],
    'commands/ingest.test.ts: from standard input a batch is durable before the input ends': [
      'or from standard input (`-`)',
    ],
    'commands/survey_table.test.ts: a directory of files, and a HATS catalog': [
      "stores the objects of a survey's table: Parquet files, or a HATS catalog",
    ],
    'consume/command.test.ts: nothing of a batch is acknowledged before all of it is on disk': [
      'A message is acknowledged once it is on disk',
    ],
    'crossmatch/quirks.test.ts: only what is needed is read': ['Of a remote catalog only the needed parts are read'],
    'hats/range_cache.test.ts: above the limit those not used for the longest time go': ['up to 10 GiB'],
    'hats/remote.test.ts: an s3 address is asked for at the public endpoint of its bucket': [
      '`s3://BUCKET/KEY` of a public bucket',
    ],
    'tns/background.test.ts: at once, then some minutes after each hour': ['it then refreshes the registry itself'],
    'e2e/commands.test.ts: serve crossmatches in the background what comes in': [
      'crossmatches new objects in the background',
    ],
    'commands/ask.test.ts: ids, names and files, in the formats of answers; the directory and the service say the same':
      ['print what a service would answer, from the data directory or, with `--url`, from a service'],
    'store/backup.test.ts: while two processes write': [
      'copies a data directory in use, and verifies the copy before it gets its name',
    ],
    'store/upgrade.test.ts: for writing upgrades it': [
      'upgrades the data directory of an older release when it first writes there',
    ],
    'commands/words.test.ts: the nearest command and option; help of a command': [
      '`npm run -s nearsky -- COMMAND --help` prints the options of a command',
    ],
    'commands/ingest.test.ts: a wrong command line is status 2': ['and 2 for a wrong command line'],
    'commands/config.test.ts: an option beats the environment': ['An option overrides an environment variable'],
    'ingest/rejects.test.ts: a file that is full is followed by the next': ['the oldest are removed'],
  },
  'docs/api.md': {
    'e2e/demo.test.ts: answers every address that it prints, answers as docs/api.md says': [
      'The demo prints further addresses, one for each status',
    ],
    'http/object.test.ts: an unknown id is an answer with three keys': [
      'an unknown id is 200 with the status `not_in_service`',
    ],
    'http/msgpack.test.ts: every query, and counts, say the same in both': ['the JSON as MessagePack'],
    'tables/answers.test.ts: JSON stays as it is; what is no format is refused; errors are JSON': ['Errors stay JSON'],
    'tables/answers.test.ts: a walk by its Link': ['its `Link` header names the next one'],
    'vo/cone.test.ts: the limit of the service holds whatever MAXREC is': ['and `VO_MAX_RECORDS` (10,000) rows'],
    'vo/moc.test.ts: the map of a catalog is its footprint': ['Coverage as MOC at'],
    'pages/pages.test.ts: each page is HTML under a policy that takes nothing from elsewhere': [
      'loads nothing from other hosts',
    ],
    'clients/typescript.test.ts: walks have every object once, and go on from a cursor': ['resume interrupted walks'],
    'clients/typescript.test.ts: errors say what is wrong; 503 is tried once more': ['retry when the service is busy'],
  },
  'docs/match.md': {
    'commands/match.test.ts: to a file and to standard output, from the directory and from the service': [
      '`nearsky match` does the same, with a data directory or with a running service',
    ],
    'table_match/crossmatch_table.test.ts: the status of each row, and every column as it was sent': [
      'returns the same rows, each with what lies at its position',
    ],
  },
  'docs/faq.md': {
    'table_match/crossmatch_table.test.ts: the status of each row, and every column as it was sent': [
      '`-` or `@` is not altered. A spreadsheet may run such a cell as a formula.',
    ],
    'crossmatch/again.test.ts: a source that the last crossmatch does not find stays listed': [
      "its `provenance_set` differs from the `provenance_set` of the object's `crossmatch`",
    ],
    'crossmatch/match.test.ts: a source at exactly 1 arcsec is a match': [
      "It is the catalog source nearest to the alert's position, within 1.0 arcsec",
    ],
    'store/store.test.ts: the first delivery fixes everything': [
      'is the score of the LSST pipeline in the first delivery',
    ],
    'commands/config.test.ts: the provenance block names versions': ['`reliability_cuts` in every answer'],
    'crossmatch/crossmatcher.test.ts: every outcome, status and count of a small sky': [
      'is the status of an object whose crossmatch searched no catalog at all',
      'Only `searched` without a match means that the catalog has no source there',
    ],
    'http/object.test.ts: brokers at the crossmatch are those of then; a catalog no longer in service comes last': [
      '`not_in_service_at_crossmatch`',
    ],
    'http/object.test.ts: the crossmatch block where nothing was recorded': ['`not_recorded`'],
    'catalogs/coverage.test.ts: a finer map is degraded': ['The resolution of a footprint is the resolution'],
    'contract/describe.test.ts: the order of a coverage map is the one in force': [
      '(`coverage_map` in `/api/describe`)',
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event, again, with a provenance of its own':
      [
        'Unless `CROSSMATCH_PROPER_MOTION` is set, no proper motion is applied',
        'With `CROSSMATCH_PROPER_MOTION=yes`, sources with a proper motion are searched at their position at the time of the event',
      ],
    'http/object.test.ts: full: the published match, its payload exact': [
      "At `detail=full` you get Gaia's `pmra`, `pmdec` and `ref_epoch`",
    ],
    'http/filters.test.ts: there are 42': ['Filters such as `gaia_dr3.pmra_min`'],
    'store/store.test.ts: a crossmatch records outcomes, matches, sources and provenance': [
      'Each crossmatch records its radius',
    ],
    'tables/answers.test.ts: at full each column of each catalog is a column': [
      'the table shows the nearest and counts them in `CATALOG_matches`',
    ],
    'vo/cone.test.ts: sources of ${catalog}': ['cone of `/vo/scs/CATALOG` has a row for each'],
    'contract/texts.test.ts: each text of the contract is at its place': ['An id is unique only within its catalog'],
    'tables/readers.test.ts: a bare pandas.read_parquet keeps every digit': ['It was converted to a 64-bit float'],
    'ingest/normalise.test.ts: pittgoogle: the cut is inclusive, and an alert without a reliability is below it': [
      'drops alerts below the cut and alerts without a reliability',
    ],
    'ingest/normalise.test.ts: a position that cannot be is null, and the object is delivered all the same': [
      'An object with an invalid position is stored, but is found only by its id',
    ],
    'tns/association.test.ts: it is recorded with the crossmatch, once': ['The association is not updated later'],
    'tns/association.test.ts: the nearest within the radius': [
      'the registry object nearest to the alert within 1.0 arcsec',
    ],
    'http/tns.test.ts: a snapshot that is absent or stale': [
      'If the snapshot is older than two hours, names are not resolved',
    ],
    'http/trouble.test.ts: without a database all is 503 but status and health': ['or cannot read its database'],
    'http/trouble.test.ts: a spent budget is 400 query_too_expensive': [
      'For `query_too_expensive`, request less at once',
    ],
    'transfer/roundtrip.test.ts: an export of what was imported': ['`nearsky export` writes all stored data'],
    'http/area.test.ts: the objects with sources by time, those that meet filters': ['lists only objects with a match'],
    'docs/settings.test.ts: the whole sky': ['every object that has a position, matched or not'],
  },
  'docs/tutorial.md': {
    'e2e/sample.test.ts: labels every alert that no broker sent': ['The demo ingests a few alerts of each broker'],
    'e2e/demo.test.ts: shows each status': ['`crossmatch_pending`, `not_in_service`'],
    'answers/object_fields.test.ts: JSON has the documented keys in the documented order, and levels are cumulative': [
      'sets how much each answer contains',
    ],
    'tables/answers.test.ts: the formats, by name and by Accept': ['without it you get JSON'],
    'tables/answers.test.ts: a walk by its Link': ['a table names the next page in its `Link` header'],
    'http/cone.test.ts: a walk: pages in order': ['JSON in `next_cursor`'],
    'http/lookup.test.ts: one result an input, in order': ['Every input has one result, in the same order'],
    'http/lookup.test.ts: malformed entries': ['A bad input affects only its own row'],
    'http/lookup.test.ts: how many inputs': ['One request takes at most 1,000 ids and 200 positions or names'],
    'clients/typescript.test.ts: a lookup of any size': ['splits longer lists, keeps several requests in flight'],
    'clients/typescript.test.ts: errors say what is wrong; 503 is tried once more': [
      'the client waits that long and retries once',
    ],
    'clients/python_package.test.ts: a wheel is built and imported': ['`pip install ./clients/python`'],
    'tables/answers.test.ts: at full each column of each catalog is a column': [
      'each column of each catalog is a column of the table',
    ],
    'astrotables/formats.test.ts: units, descriptions and what the answer says beside its rows': [
      'Units, UCDs and descriptions are in the metadata',
    ],
    'tables/readers.test.ts: a bare pandas.read_parquet keeps every digit': ['so 64-bit ids keep every digit'],
  },
  'docs/archive.md': {
    'hats_export/hats_export.test.ts: the rows are the lines of an export, value by value': [
      'hold the same values as the lines of `nearsky export`',
      'at the position of its object, so both catalogs divide the sky in the same way',
      'A small export may have no row near an edge; then there is no margin',
    ],
    'hats_export/hats_export.test.ts: our own reader opens it; properties, list, schema and map are there': [
      'Partitions** have at most',
      'Units, UCDs and descriptions are in the metadata of each field',
    ],
    'hats_export/hats_export.test.ts: --since takes what changed; a directory that is there is not touched': [
      'The target directory must be missing or empty, and gets its name only when the export is complete',
      '`--since` that entry exports only objects that changed later, each with all its data',
    ],
    'hats_export/hats_export.test.ts: hats finds it valid': ['opens both catalogs in LSDB'],
    'commands/survey_table.test.ts: the archive of another service gives the same objects': [
      'stores the objects in another service, which crossmatches them',
    ],
  },
  'docs/catalogs.md': {
    'catalogs/definition.test.ts: without a description': [
      'Without a description, every numeric, string or boolean column is stored with each match',
      'The title is `obs_title`, or `obs_collection`',
    ],
    'catalogs/definition.test.ts: a description goes before the catalog': ['Missing keys are filled from the catalog'],
    'catalogs/definition.test.ts: what does not fit is refused': [
      'The name has up to 48 lower-case letters, digits and underscores',
      'Keywords of the API are not allowed',
    ],
    'catalogs/definition.test.ts: units, UCDs and meanings come from the VOTable': [
      'Units, UCDs and descriptions come from the VOTable',
    ],
    'catalogs/definition.test.ts: the four descriptions of the project are valid by the schema': [
      'The file is validated against the schema',
    ],
    'catalogs/definition.test.ts: the order is that of the project': ['and stored with the registration'],
    'http/added_catalog.test.ts: a service that runs learns of it': [
      'A running service notices the catalog within a second',
    ],
    'http/added_catalog.test.ts: tables, the Virtual Observatory, sources': [
      'The new catalog is then used like the four others',
    ],
    'crossmatch/again.test.ts: a new catalog: a second version, once': [
      'run `nearsky crossmatch --again` to crossmatch them again',
    ],
    'crossmatch/types.test.ts: ids with all their digits': ['Ids are 64-bit integers or strings'],
    'crossmatch/text_ids.test.ts: a column of texts has text ids': [
      'a column of texts (UTF-8 strings in Parquet, with or without a dictionary) has text ids',
      'A row can be no source where its id is null, blank, longer, not UTF-8, or has a control character',
      '`catalog add` and `catalog check` count these rows, and show one id that was refused',
    ],
    'crossmatch/text_ids.test.ts: each object has the nearest source that has an id': [
      'Texts are compared by their bytes in UTF-8',
      'A text id has up to 80 bytes in UTF-8 and is kept as it is',
    ],
    'crossmatch/text_ids.test.ts: texts without a dictionary': ['and so are bytes that are not declared as text'],
    'crossmatch/text_ids.test.ts: a column in which no row has an id': [
      'A column in which no row has an id is refused',
    ],
    'crossmatch/text_ids.test.ts: a description may say that texts are integers': [
      'says that the texts are the decimal digits of 64-bit integers',
    ],
    'http/text_ids.test.ts: tables of objects in each format': ['Tables have a text column instead of the integers'],
    'http/text_ids.test.ts: tables that are crossmatched with the catalog': [
      'FITS holds only ASCII, and drops blanks at the end of a text',
    ],
    'http/text_ids.test.ts: the archive': ['In archives and in `nearsky.matches` of TAP the texts are in'],
    'tap/text_ids.test.ts: the table of the catalog': ['`nearsky.milliquas` has the texts as `catalog_source_id`'],
    'http/text_ids.test.ts: answers in JSON': ['percent-encode the id, slashes too'],
    'store/changes.test.ts: text ids are written to a log of level 3': [
      'Nodes that share a log take a catalog with text ids once the log has level 3',
    ],
    'store/store.test.ts: a catalog is registered under its name': [
      'Adding a catalog again under the same name replaces its registration',
    ],
  },
  'docs/stream.md': {
    'stream/publication.test.ts: every match once, in the order of the journal': [
      'A later one continues where the last one stopped',
      'Each match of each crossmatch of each object is one message, in the order of recording',
      'An object without a match has no message',
    ],
    'stream/publication.test.ts: two never publish at once': [
      'The others wait, and one of them takes over when it stops',
    ],
    'stream/publication.test.ts: from now, from the beginning, from an entry': [
      'skips existing matches, `--from beginning` sends all of them again',
    ],
    'stream/publication.test.ts: what an import brought is published only when asked for': [
      'Objects from `nearsky import` are not published',
    ],
    'stream/publication.test.ts: a broker that fails gets all of it in the end': [
      'It retries after half a second, then at growing intervals of up to 30 seconds',
    ],
    'e2e/kill_publish.test.ts: publish and Kafka, killed': [
      'the next one sends up to 10,000 messages again, with the same `_id`',
      'messages of one object are always in one partition',
    ],
    'stream/kafka_sink.test.ts: hop-client reads every message and its metadata': [
      "The headers follow SCiMMA's hop-client",
      'reads the existing messages, drops duplicates',
    ],
    'stream/message.test.ts: the id is that of version 5 which Python makes of the same name': [
      'The UUID has version 5 (RFC 9562)',
    ],
    'stream/message.test.ts: a message a match': ['as compact JSON with 64-bit ids as exact integers'],
    'stream/message.test.ts: each crossmatch says what it could not read': ['true if a catalog was skipped'],
    'http/stream_matches.test.ts: from the beginning: each message of the journal once': [
      'sends the same messages as server-sent events',
    ],
    'http/stream_matches.test.ts: a client that comes again after any event gets the others': [
      'nothing is left out, nothing comes twice',
    ],
    'http/stream_matches.test.ts: what is recorded while it reads; now leaves out what was there': [
      'Without either, the stream starts with the next recorded match',
    ],
    'http/stream_matches.test.ts: filters that nothing meets': ['A quiet stream sends a comment every 15 s'],
    'http/stream_matches.test.ts: too many clients, or more than half of the streams for one: 503': [
      'accepts up to `NEARSKY_MAX_STREAMS` clients, half of them for one client address',
    ],
    'http/stream_matches.test.ts: a client that does not read is sent one page': [
      'A slow client holds one page of events',
    ],
    'server/stream_matches.test.ts: a client that does not read is ended': [
      'A client that reads nothing for 20 s is disconnected',
    ],
    'http/stream_area.test.ts: the objects of a stream are those of /api/area': [
      'To follow a part of the sky, send it with POST',
    ],
    'http/stream_area.test.ts: more areas than the process may follow': [
      'follows up to `NEARSKY_MAX_STREAM_AREAS` areas at once',
    ],
  },
  'docs/settings.md': {
    'commands/config.test.ts: an option beats the environment': [
      'A command-line option overrides the environment variable',
    ],
    'docs/settings.test.ts: connections are those of the setting': ['fewer if the process may open fewer files'],
    'docs/settings.test.ts: how matches are published': ['Compression of each batch of published messages'],
    'docs/settings.test.ts: what may be read of remote catalogs and kept of them': ['0 disables the cache'],
    'docs/settings.test.ts: RECENT_CROSSMATCH_MAX_WINDOW_HOURS': ['Maximum time window of recent crossmatches'],
    'docs/settings.test.ts: VO_MAX_RADIUS_DEG': ['Maximum radius of a Virtual Observatory cone search'],
    'docs/settings.test.ts: ANTARES_OBJECT_URL_TEMPLATE': [
      "The address of ANTARES's page about an object, shown in answers",
    ],
    'docs/settings.test.ts: the address to listen on': ['The address to listen on'],
    'docs/settings.test.ts: an error that ends a command': ['an error that ends a command is shown with its stack'],
    'commands/config.test.ts: where each value comes from': ['and where each value comes from'],
    'commands/config.test.ts: an impossible value stops the start': ['An invalid value'],
    'commands/config.test.ts: a file with an unknown setting': ['an unknown key of the file'],
    'commands/config.test.ts: a variable that only looks like a setting': [
      "differs by one typing error from a setting's is logged",
    ],
    'commands/config.test.ts: settings that contradict each other stop the start': [
      'So do settings that contradict each other',
    ],
    'commands/ingest.test.ts: a wrong command line is status 2': ['stops the start with exit status 2'],
    'docs/operations.test.ts: settings.md is what `node docs/settings.ts` prints': ['This page is generated by'],
  },
  'docs/tap.md': {
    'tap/job.test.ts: an error in a late row is told, with its reason': [
      'A query can fail after its first rows',
      'breaks off, and a job has the phase `ERROR`',
    ],
    'tap/tap.test.ts: a query that takes more memory than all may is ended': ['nothing is spilled to disk'],
  },
  'docs/operations.md': {
    'pages/browser.test.ts: a survey image under it comes on a click': [
      'The page sends no request to the other host before a reader clicks.',
    ],
    'neighbour/attacks.test.ts: an idle service': ['The suite fails above 1 GiB'],
    'base/client_admission.test.ts: one client has half of the slots; the others are for others': [
      'One client has at most half of the slots and of the disk space',
    ],
    'base/client_admission.test.ts: of one slot, too, a client has one, and then it is the turn of whoever has used least':
      ['the client that used the least processor time in the last minute is next'],
    'transfer/damaged_pages.test.ts: of lines and of HATS: no page can hold another one of its database': [
      'fewer objects than are stored, the command exits with status 1 and makes no file',
    ],
    'clients/typescript.test.ts: an answer that breaks off is asked for once more': [
      'both clients send such a request once more',
    ],
    'clients/python.test.ts: an answer that breaks off is asked for once more': [
      'both clients send such a request once more',
    ],
    'cluster/level.test.ts: a record is written in the level of the log': [
      'an upgraded node writes at the level of the log',
    ],
    'cluster/level.test.ts: the level is not raised while a node that reported lately': [
      'The command is refused, and names the nodes, if a node that reported within the last five minutes cannot read that level.',
    ],
    'cluster/level.test.ts: a node stops in front of a level that it cannot read': [
      'A node of an older release stops before the new level and answers 503.',
      'Once upgraded, such a node continues where it stopped.',
    ],
    'cluster/level.test.ts: an archive of a higher level is not opened by an older release': [
      'An older release cannot open a backup with the new level.',
    ],
    'cluster/level.test.ts: a new log begins at the level of the release': [
      'A new log starts at the level of the release that starts it.',
    ],
    'e2e/nodes.test.ts: a node stops where a newer release has raised the level': [
      '`/readyz` is 503 and names the level; commands end with status 1',
    ],
    'server/answer_memory.test.ts: clients that pipeline requests for long answers and do not read hold a bounded memory':
      ['The memory of answers is released when clients have read them or have disconnected.'],
    'binary/unpack.test.ts: the directory: what was set': ['the first of these directories that it can use'],
    'binary/unpack.test.ts: a directory that others could have filled is refused': ['nobody else may write there'],
    'binary/unpack.test.ts: a directory of another user is refused': ["another user's directory"],
    'binary/unpack.test.ts: all files, for nobody else': [
      'it compares every file with the executable and replaces a damaged file',
    ],
    'e2e/config.test.ts: the settings in force and their origins': [
      'shows every setting in force, and where its value comes from',
    ],
    'mcp/limits.test.ts: who the client is, only this machine and the proxies of the settings may say': [
      'A proxy on another machine is trusted only if `TRUSTED_PROXIES` contains its network',
    ],
    'contract/docs.test.ts: PUBLIC_BASE_URL is where the documents send their readers': [
      'and it appears in documents and links',
    ],
    'commands/catalog.test.ts: rows that can be no source': ['counts the rows that can be no source'],
    'commands/catalog.test.ts: add looks at every file': [
      'opens every file; with `--quick` it only checks that the files exist',
    ],
    'hats/range_cache.test.ts: a range is found by its address and version': [
      'Parts of a remote catalog are kept in `DATA/catalog-cache`',
    ],
    'crossmatch/crossmatcher.test.ts: a catalog that cannot be read is skipped': [
      'repeats the crossmatch by itself only if one of them could not be read',
    ],
    'crossmatch/again.test.ts: another radius, another release': [
      'A catalog has another release.',
      'The radius is another one.',
    ],
    'crossmatch/again.test.ts: an object keeps its last crossmatch while a catalog of that cannot be read': [
      'If a catalog of the last crossmatch cannot be read now, the object keeps that crossmatch, and the exit status is 1.',
    ],
    'e2e/kill_again.test.ts: crossmatch --again, killed': ['The command may be killed and started again'],
    'commands/ingest.test.ts: counts what it stores, keeps what it rejects, and does nothing twice': [
      'repeating it is safe',
    ],
    'tns/background.test.ts: at once, then some minutes after each hour': ['some minutes after each hour'],
    'tns/names.test.ts: a snapshot is current up to its greatest age': [
      'Names are resolved while the registry is at most',
    ],
    'crossmatch/crossmatcher.test.ts: of several crossmatches at once each does objects of its own': [
      'If several run at once, they share the work.',
    ],
    'http/routing.test.ts: health and readiness': [
      '`GET /healthz` is 200 while the process runs.',
      '`GET /readyz` is 200 while the service can answer',
    ],
    'server/stalled_writer.test.ts: a service that runs goes on answering, says that its writes wait': [
      'names the processes that have the database open',
    ],
    'faults/full_disk.test.ts: a full disk loses nothing, is told of, and ends no process': [
      '`disk_full`: less than 4 MiB are free on the disk of the data directory',
      'A write starts only if all of it fits. Reads continue.',
    ],
    'metrics/log.test.ts: a request keeps the id': ['Each answer has an `X-Request-Id`, which the log repeats.'],
    'metrics/log.test.ts: slow requests are logged with what was asked': [
      'slow requests (`NEARSKY_SLOW_REQUEST_MS`) with their parameters',
    ],
    'commands/stats.test.ts: the registry, the index, the claims and the disk': [
      'counts stored data and shows its size on disk',
    ],
    'store/backup.test.ts: a copy is all that there was, private, and can be worked with': ['The index is not copied'],
    'store/backup.test.ts: it overwrites nothing, and leaves nothing where it fails': [
      'So a backup with a name is complete.',
    ],
    'store/check.test.ts: a byte or a page that is damaged': [
      'every page in use, the lists of free pages, the checksum of every value',
    ],
    'transfer/roundtrip.test.ts: an export imported elsewhere gives equal answers': [
      'writes the same data as lines of JSON',
    ],
    'store/read_only.test.ts: it is not read while a process that can write it has it open': [
      'If a process of this machine has the directory open for writing, reading is refused.',
    ],
    'store/upgrade.test.ts: for writing upgrades it': [
      'the release upgrades the directory when it first opens it for writing',
    ],
    'store/store.test.ts: a newer format is refused': ['A release refuses the directory of a newer release'],
    'e2e/upgrade.test.ts: once a command has upgraded it': [
      'Every release can upgrade the directories of all earlier releases.',
    ],
    'e2e/kill.test.ts: ingest, killed': ['All acknowledged data is on disk, however a process ends'],
    'faults/power.test.ts: each batch that was acknowledged is there': ['a power cut'],
    'generations/save_plan.test.ts: an index that was built anew is saved within seconds': [
      'it is written when it has grown by 5%, or after 15 minutes',
    ],
    'generations/indexer.test.ts: a damaged file is not believed': ['the index is rebuilt at the start'],
    'store/check.test.ts: a whole database has no faults': ['`nearsky check` ends with status 1 and names the damage'],
    'store/identity.test.ts: a lock file that is removed': ['`its lock file was removed` in errors and in the log'],
    'store/identity.test.ts: no other process makes a second lock file': [
      'A new process is refused; the message has the id of the running process.',
    ],
    'store/process_ids.test.ts: two containers with one process id': [
      'because a process of another container (another PID namespace) has it open',
    ],
    'server/database_gone.test.ts: the file is renamed and comes back': [
      'Within a second, requests that need the database are 503.',
    ],
    'commands/config.test.ts: an impossible value stops the start': [
      'one line that names the setting, the value and its bound',
    ],
    'server/serve.test.ts: a port that is taken': ['`serve` ends with status 1'],
    'binary/unpack.test.ts: the next directory where one cannot be used; an error with all reasons': [
      '`Cannot unpack the program`',
    ],
    'crossmatch/background.test.ts: what cannot be read for as long as the setting says': [
      'If no catalog could be read, objects stay pending for 10 minutes',
    ],
    'crossmatch/deferred.test.ts: an object is put off twice as long each time, up to ten minutes': [
      'at growing intervals of up to 10 minutes',
    ],
    'crossmatch/crossmatcher.test.ts: a file of another schema holds nothing back': [
      'The catalog counts as skipped for the objects there.',
    ],
    'consume/command.test.ts: a broker that fails holds up no other': ['unacknowledged messages come again'],
    'ingest/rejects.test.ts: a file that is full is followed by the next': ['files per broker are kept'],
    'http/tns.test.ts: a snapshot that is absent or stale': ['names are answered 200 with `resolver_unavailable`'],
    'answers/admission.test.ts: takes what will wait for a fifth of its budget': [
      '503 with `Retry-After`; `nearsky_queries_refused_total` grows',
    ],
    'server/threads.test.ts: ends its own connections only, and is replaced': [
      '`server_thread_replaced`; its connections end',
    ],
    'server/threads.test.ts: a thread that hangs, and that Deno cannot end': ['Deno cannot end a thread that hangs'],
    'e2e/stop.test.ts: SIGTERM while a client reads nothing': ['it exits within 10 s of SIGTERM'],
  },
  'src/pages/content.ts': {
    'pages/pages.test.ts: what the pages say is the live configuration': [
      'Alert objects of the Rubin Observatory, and the catalog sources within',
      'Of each, the nearest source within',
    ],
    'pages/pages.test.ts: the pages say with how many catalogs objects are compared': [
      'Each object is compared with',
      'catalogs is registered here yet: objects wait until one is.',
    ],
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      'the database could not be read to say which',
    ],
    'http/recent.test.ts: objects with matches, whatever their state: the newest first, then by id': [
      'Objects that have a catalog source within',
      'Objects without one are not listed.',
    ],
    'contract/describe.test.ts: the order of a coverage map is the one in force': [
      '“Searched” means that the position lay inside at this resolution',
    ],
    'vo/moc.test.ts: the map of a catalog is its footprint': ['<a href="/vo">the VO page</a> has it as MOC'],
    'sky_map/sky_map.test.ts: the share of each cell that a catalog covers': ['is a layer of the map'],
    'http/filters.test.ts: there are 42, each taken on each operation': [' filters</summary>'],
    'contract/catalogs.test.ts: every column that is named is stored, once': ['columns are stored with each source'],
    'ingest/normalise.test.ts: pittgoogle: the cut is inclusive': [
      'Alerts of low reliability may be dropped before they are stored',
    ],
    'pages/browser.test.ts: the status page has what each broker delivered, and sums that agree': [
      'The <a href="/status">status page</a> shows how fast alerts arrive.',
    ],
    'contract/suite/objects.ts: every envelope has the block of the service': ['The same is in every answer, under'],
    'http/routing.test.ts: every response has the headers of security and CORS': [
      'It needs no key, and a page of any origin may call it',
    ],
    'tables/answers.test.ts: the formats, by name and by Accept, say the same ids': [
      'Objects come as JSON, or as a table: CSV, NDJSON, VOTable, Parquet, Arrow.',
    ],
    'tables/readers.test.ts: a bare pandas.read_parquet keeps every digit': [
      'Parquet keeps every digit; pandas makes floats of the ids of CSV where some are missing',
    ],
    'tables/readers.test.ts: pandas reads ${format} with the ids unchanged': [
      'pandas, astropy, TOPCAT and DuckDB read the addresses as they are',
    ],
    'clients/python.test.ts: lookups, walks and errors, while the service is busy at times': [
      'It splits lists of any length, follows the pages and waits where the service asks it to.',
    ],
    'http/values.test.ts: ids: digits of a 64-bit integer': ['An id is a 64-bit integer'],
    'pages/pages.test.ts: where there is nothing: a page for a browser': ['This service has no page'],
  },
  'src/documents/prose.ts': {
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      'A coincident source is not a host association.',
      'at most one coincident source per catalog',
    ],
    'crossmatch/conventions.test.ts: matches and separations are those of LSDB, the payload as published': [
      "the source's `ra` is brought there and the payload has it as published",
    ],
    'crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event': [
      'with no proper motion applied and no epoch propagated',
    ],
    'ingest/normalise.test.ts: lasair: declination is decl': ['is converted to UTC with the leap seconds'],
    'contract/suite/objects.ts: an object without a position is found by its id, and by no position': [
      'is not reachable by position. It is found by ',
    ],
    'http/walk.test.ts: walks while objects arrive whose ingest time is not after as_of': [
      'A paging cursor pins the set of objects of a walk, not their state',
    ],
    'http/object.test.ts: the crossmatch block where nothing was recorded, and its best guess': [
      'the current settings stand in as a best guess',
    ],
    'http/filters.test.ts: filters drop and reorder nothing': ['Filters never drop or reorder anything'],
    'contract/suite/filters.ts: one source must meet every match filter, bounds inclusive': [
      'a null or non-numeric value never qualifies',
    ],
    'http/filters.test.ts: filters of several catalogs: all that name one, grouped by catalog': [
      'Match filters may name one catalog only',
    ],
    'commands/config.test.ts: a cut is declared only with both its value and its date': [
      'enforced by the broker; no value is declared',
    ],
    'contract/docs.test.ts: llms.txt names operations, paths, limits': ['Identifiers per lookup'],
    'http/counts.test.ts: a position: every object, whenever ingested, whatever the limits': [
      'Counts (\\`response=count\\`) are not bound by these',
    ],
    'mcp/protocol.test.ts: the limits in the tools are those of the service': ['The tools are read-only'],
    'mcp/lookup.test.ts: at most 20 objects; the rest is a command away': [
      'a larger result comes with the API request for all of it',
    ],
  },
  'src/pages/vo_page.ts': {
    'vo/cone.test.ts: objects: those within the radius, the nearest first': ['Simple Cone Search over the objects'],
    'vo/cone.test.ts: sources of ${catalog}': ['over the sources of each catalog that coincide with one'],
    'vo/cone.test.ts: MAXREC lists the nearest and says that there are more': ['rows, the nearest ones'],
    'vo/cone.test.ts: the columns: one main id that is text': ['1 to 3 for more columns'],
    'vo/cone.test.ts: formats: a media type comes back as it was asked for': ['packs the rows'],
    'vo/clients.test.ts: coneskymatch': ['VO → Multicone does the same for each row of a table that is open'],
    'vo/moc.test.ts: the map of the objects has the cells with an object': ['the objects to order'],
    'vo/moc.test.ts: of one that is not registered there is none': ['A catalog has a map once it is registered.'],
    'tap/tap.test.ts: objects and matches are what was stored, with every digit of their ids': [
      'Query the objects, their matches and the columns of the catalogs by TAP',
    ],
  },
  'src/pages/area_page.ts': {
    'http/area.test.ts: a circle as a body in each spelling, and as a parameter': [
      'A circle or a polygon, drawn or typed',
    ],
    'http/area.test.ts: a map of probability: the densest pixels up to the level': ['best places first'],
    'vo/flat_maps.test.ts: a map in each order and spelling holds': [
      'or a sky map (FITS), multi-order or of one NSIDE',
    ],
    'vo/areas.test.ts: what is too large is refused with the bound': ['multi-order or of one NSIDE; at most'],
    'pages/browser.test.ts: an area, drawn or from a file': [
      'Click the middle of a circle and then its edge, or the corners of a polygon.',
    ],
  },
  'src/pages/crossmatch_page.ts': {
    'table_match/crossmatch_table.test.ts: the status of each row, and every column as it was sent': [
      'Your rows in, the same rows out, with what lies at each of them.',
    ],
    'astrotables/tools.test.ts: every cell of every format, and the positions': [
      'CSV, VOTable, FITS, Parquet, Arrow or NDJSON',
    ],
    'table_match/crossmatch_table.test.ts: tables that cannot be used, and parameters': [
      'CSV, VOTable, FITS, Parquet, Arrow or NDJSON; at most',
    ],
    'pages/browser.test.ts: a table of mine: its first rows, the columns of its position': [
      'Position columns, if their names are not recognised',
    ],
  },
  'src/pages/query_page.ts': {
    'pages/pages.test.ts: the page of queries has every table, and says where queries cannot be answered': [
      'Queries are switched off here (TAP_MAX_QUERIES is 0).',
      'because the package @duckdb/node-api is not installed',
    ],
    'tap/tap.test.ts: each format has its media type, and the rows': [
      'Without JavaScript the answer is a file, as CSV.',
    ],
  },
  'src/pages/browser/object_page.js': {
    'http/object.test.ts: an unknown id is an answer': ['No broker delivered an alert of this object to this service'],
    'contract/texts.test.ts: each text of the contract is at its place in the document': [
      'The object may exist all the same.',
    ],
    'ingest/normalise.test.ts: a position that cannot be is null': ['There is no valid position to draw.'],
    'http/object.test.ts: the registry block, and the association on each match at full': [
      'was not consulted for this object',
      'No entry within reach in the registry snapshot of',
    ],
    'http/object.test.ts: the crossmatch block where nothing was recorded, and its best guess': [
      'it was made before records were kept, or was imported without one',
    ],
  },
  'src/pages/browser/search_page.js': {
    'pages/search_text.test.ts: lists: ids, names and positions, mixed': ['or paste a list of them'],
    'http/lookup.test.ts: how many inputs: by the kinds that occur': ['A list has at most'],
    'clients/typescript.test.ts: a lookup of any size': ['The client takes longer ones.'],
    'http/cone.test.ts: parameters: what is missing, bad or out of range is named': ['A radius is above 0 and at most'],
  },
  'src/pages/browser/recent_page.js': {
    'pages/browser.test.ts: recent crossmatches page by page, none twice': ['there are older ones'],
    'http/recent.test.ts: page_size: default 1000, clamped to 10000': ['Download the first'],
  },
  'src/pages/browser/status_page.js': {
    'http/trouble.test.ts: without a database all is 503 but status and health': [
      'Cannot be read: searches return 503',
    ],
    'http/tns.test.ts: a snapshot that is absent or stale': [
      'Names cannot be resolved now: the snapshot is missing, outdated or unreadable',
    ],
    'contract/suite/objects.ts: an object without a position is found by its id, and by no position': [
      'They may have any status. Not on the map: only their id finds them.',
    ],
  },
};

const test = suite('docs/statements');

const words = (text: string) => text.replaceAll(/\s+/g, ' ');

/** @param name a test's file, and a part of its name */
function assertIsThere(name: string): void {
  const [file, part] = [name.slice(0, name.indexOf(': ')), name.slice(name.indexOf(': ') + 2)];
  const path = join(root, 'test', file);
  assert.ok(existsSync(path), `there is no test/${file}`);
  assert.ok(readFileSync(path, 'utf8').includes(part), `test/${file} has no test ${part}`);
}

for (const [document, byTest] of Object.entries(HELD)) {
  const statements = Object.values(byTest).flat();
  test(`${document}: ${statements.length} statements stand there, and the tests that hold them are there`, () => {
    const text = words(readFileSync(join(root, document), 'utf8'));
    for (const statement of statements) assert.ok(text.includes(statement), `${document} does not say: ${statement}`);
    for (const name of Object.keys(byTest)) assertIsThere(name);
  });
}

/** The sentences of a page by its sections. A table is one. */
function sentences(page: string): Map<string, string[]> {
  return new Map(
    page.split(/^#+ /m).map(section => {
      const [title = '', ...lines] = section.split('\n');
      const blocks = lines
        .join('\n')
        .split(/\n(?:\s*\n|- )/)
        .map(block => words(block.replace(/^- /, '')).trim());
      return [
        title,
        blocks.flatMap(block => (block.startsWith('|') ? block : block.split(/(?<=\.\)?) (?=[A-Z`"(*])/))),
      ];
    }),
  );
}

test('docs/contract.md: a test holds each sentence', () => {
  for (const [section, of] of sentences(readFileSync(join(root, 'docs/contract.md'), 'utf8'))) {
    const held = Object.values(CONTRACT[section] ?? {}).flat();
    const isHeld = (sentence: string) => sentence === '' || held.some(statement => sentence.startsWith(statement));
    assert.equal(
      of.filter(sentence => !isHeld(sentence)),
      [],
      section,
    );
    for (const statement of held)
      assert.ok(
        of.some(sentence => sentence.startsWith(statement)),
        `${section} does not say: ${statement}`,
      );
  }
  const tests = Object.values(CONTRACT).flatMap(byTest => Object.keys(byTest));
  for (const name of tests) if (name !== NO_BEHAVIOUR) assertIsThere(name);
});

test.run();
