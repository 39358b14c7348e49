/** Sentences that the OpenAPI document, `/llms.txt` and the documentation pages share, in Markdown. */

import type { Config } from '../config/config.ts';
import { limitsOf } from '../config/described_limits.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { MAX_TNS_NAME_CHARACTERS } from '../contract/limits.ts';
import { MCP_ARCHIVE_PATH, MCP_PATH } from '../contract/mcp_tools.ts';
import { PROVENANCE_RECORDING_RELEASE, provenanceSetOf } from '../crossmatch/provenance.ts';
import { epochs } from './catalogs.ts';

export const TITLE = 'nearsky: Rubin Crossmatch Service API';

export const SUMMARY =
  'Information about Rubin Observatory alert objects (by diaObjectId, sky position, TNS name or time window), ' +
  'and the catalog sources at their positions. Read-only, public, JSON.';

/** A number in the format that the contract uses for radii: `1.0`, `60.0`, `2.5`. */
export function decimal(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : `${value}`;
}

// test contract/texts.test.ts: each text of the contract is at its place in the document
// test crossmatch/conventions.test.ts: matches and separations are those of LSDB, the payload as published
// test ingest/normalise.test.ts: lasair: declination is decl
/** The meanings of positions, radii, ids and times, and the rule of the nearest source. */
export function conventions(config: Config, catalogs: Catalogs): string[] {
  const radius = decimal(config.CROSSMATCH_RADIUS_ARCSEC);
  return [
    'Positions (`ra`, `dec`) are ICRS right ascension and declination in degrees. Radii and separations are in arcsec.',
    `The crossmatch radius is ${radius} arcsec. For each object and each catalog only the nearest catalog source within ` +
      'that radius is kept: at most one coincident source per catalog. Other sources inside the radius are not reported.',
    `A source's position is the catalog's own, in degrees (${positionColumns(catalogs)}). ${howCompared(config, catalogs)}${epochs(catalogs, 'those of', 'are')}. ` +
      "Where a catalog writes right ascensions outside 0 to 360, the source's `ra` is brought there and the payload has it as published.",
    '`diaObjectId` is a 64-bit integer. `diaObjectId_str` carries the same value as a decimal string, for clients that lose ' +
      'precision above 2^53.',
    'Times are UTC, ISO 8601, with microseconds as six digits or none. Where a broker gives an event time as an MJD in TAI, it ' +
      'is converted to UTC with the leap seconds.',
    'Clients ignore response keys that they do not know.',
  ];
}

// test crossmatch/motion.test.ts: off: the place in the catalog; on: the place at the event
/** States which positions are compared, as a sentence without its full stop. */
export function howCompared({ CROSSMATCH_PROPER_MOTION }: Config, { all }: Catalogs): string {
  const moving = all.filter(({ motion }) => motion).map(({ name }) => name);
  if (!CROSSMATCH_PROPER_MOTION || moving.length === 0)
    return 'Positions are compared as stored, with no proper motion applied and no epoch propagated';
  return (
    `Sources of ${moving.join(', ')} with a proper motion are compared where they are at the time of the object's event ` +
    '(`separation_at_epoch_arcsec`); all others, and `separation_arcsec`, as stored, with no epoch propagated'
  );
}

function positionColumns({ all }: Catalogs): string {
  return all.map(({ name, raColumn, decColumn }) => `${name} \`${raColumn}\`,\`${decColumn}\``).join('; ');
}

// test contract/texts.test.ts: each text of the contract is at its place in the document
// test contract/suite/objects.ts: an object without a position is found by its id, and by no position
// test http/walk.test.ts: walks while objects arrive whose ingest time is not after as_of
// test http/object.test.ts: the crossmatch block where nothing was recorded, and its best guess
/** Conclusions that an answer does not support. */
export function caveats(): string[] {
  return [
    'A coincident source is not a host association. The host of an offset supernova is generally not a coincident source, and ' +
      'the absence of a coincident source is not evidence of a hostless transient.',
    '`not_in_service` (for a position: `no_rubin_object`) is not evidence that an object failed a reliability cut or does not ' +
      'exist in the survey. Reliability filtering happens before an alert is stored, and the service holds only alerts that its ' +
      'brokers delivered.',
    'An object without a HEALPix index, because its position could not be indexed at ingest, is not reachable by position. It is found by ' +
      '`diaObjectId`.',
    'A paging cursor pins the set of objects of a walk, not their state: status and coincident sources can advance between ' +
      'pages. `as_of` bounds the ingest time and is not a snapshot.',
    `Provenance is recorded per object from service release ${PROVENANCE_RECORDING_RELEASE}. Objects crossmatched before have ` +
      'the outcome `not_recorded`, and the current settings stand in as a best guess.',
  ];
}

// test http/filters.test.ts: filters drop and reorder nothing
// test contract/suite/filters.ts: one source must meet every match filter, bounds inclusive
// test http/filters.test.ts: filters of several catalogs: all that name one, grouped by catalog
/** The rules for combining filters. */
export function filterRules(): string[] {
  return [
    'An object qualifies if it meets every object filter (reliability) and at least one single current source meets every match ' +
      'filter. Filters never drop or reorder anything: they mark with `qualifies` and `qualifies_reason`.',
    'Bounds are inclusive and apply to the value stored with the match; a null or non-numeric value never qualifies.',
    'Match filters may name one catalog only, else the answer is 400 `filters_span_catalogs`; `catalog` counts as naming one.',
  ];
}

// test commands/config.test.ts: a cut is declared only with both its value and its date
/** The minimum reliabilities, one sentence per broker. */
export function reliabilityCuts(config: Config): string[] {
  return provenanceSetOf(config).reliability_cuts.map(({ broker, min_reliability, enforced_by, as_of }) => {
    if (min_reliability === null) return `${broker}: enforced by the broker; no value is declared.`;
    const when = as_of === null ? '' : `, declared as of ${as_of}`;
    return `${broker}: minimum reliability ${min_reliability}, enforced by the ${enforced_by}${when}.`;
  });
}

// test contract/docs.test.ts: llms.txt names operations, paths, limits
// test http/counts.test.ts: a position: every object, whenever ingested, whatever the limits
/** The limits of a request, one sentence per limit. */
export function limitSentences(config: Config): string[] {
  const limits = limitsOf(config);
  const { default_page_size, max_page_size, max_window_hours } = limits.recent_crossmatches;
  return [
    `Time budget of a request: ${decimal(limits.request_budget_seconds)} s; over it the answer is 400 \`query_too_expensive\`, or 503 where the ` +
      'request waited for more than half of it.',
    `Identifiers per lookup: ${limits.max_ids}. Positions and registry names per lookup, together: ${limits.max_positions}.`,
    `Search radius: at most ${decimal(limits.max_cone_radius_arcsec)} arcsec; around registry names ` +
      `${decimal(config.TNS_MATCH_RADIUS_ARCSEC)} arcsec unless asked. Registry names: at most ${MAX_TNS_NAME_CHARACTERS} characters.`,
    `Objects listed per position or registry name: ${limits.max_objects_per_position}. Objects per request and largest cone page: ` +
      `${limits.max_objects_per_request}. Counts (\`response=count\`) are not bound by these.`,
    `Recent crossmatches: ${default_page_size} objects a page unless asked, at most ${max_page_size}; a window of at most ` +
      `${max_window_hours} hours.`,
  ];
}

// test mcp/protocol.test.ts: the limits in the tools are those of the service
// test mcp/lookup.test.ts: at most 20 objects; the rest is a command away
/**
 * Instructions for the chat connector.
 * @param base scheme and host, without a slash at the end
 */
export function connectorSetup(config: Config, base: string): string[] {
  return [
    `Add \`${base}${MCP_PATH}\` as a remote MCP server (streamable HTTP, POST) to a chat assistant. No authentication is needed.`,
    `The tools are read-only and answer from the same lookups as the API: up to ${config.MCP_MAX_IDENTIFIERS} identifiers a lookup, ` +
      `a radius of at most ${decimal(config.API_MAX_CONE_RADIUS_ARCSEC)} arcsec, and a summary of at most ${config.MCP_MAX_OBJECTS} ` +
      'objects an answer; a larger result comes with the API request for all of it.',
    `\`${base}${MCP_ARCHIVE_PATH}\` has these tools and those of the archive: the objects of an area, the latest objects, queries in ADQL.`,
  ];
}
