/** Sentences that the OpenAPI document, `/llms.txt` and the documentation pages share, in Markdown. */

import type { Config } from '../config/config.ts';
import { requestLimits } from '../config/described_limits.ts';
import { type CatalogRadius, radiusColumnText } from '../contract/catalog.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { MAX_TNS_NAME_CHARACTERS } from '../contract/limits.ts';
import { PROVENANCE_RECORDING_RELEASE, provenanceSetOf } from '../store/provenance.ts';
import { epochs } from './catalogs.ts';

export const TITLE = 'nearsky: Rubin Crossmatch Service API';

export const SUMMARY =
  'Information about Rubin Observatory alert objects (by diaObjectId, sky position, TNS name or time window), ' +
  'and the catalog sources at their positions. Read-only, public, JSON.';

/** A number in the format that the contract uses for radii: `1.0`, `60.0`, `2.5`. */
export function decimal(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : `${value}`;
}

/** The meanings of positions, radii, ids and times, and the rule of the nearest source. */
export function conventions(config: Config, catalogs: Catalogs): string[] {
  const radius = decimal(config.CROSSMATCH_RADIUS_ARCSEC);
  return [
    'Positions (`ra`, `dec`) are ICRS right ascension and declination in degrees. Radii and separations are in arcsec.',
    `The crossmatch radius is ${radius} arcsec. For each object and each catalog only the nearest catalog source within ` +
      'that radius is kept: at most one coincident source per catalog. Other sources inside the radius are not reported.' +
      ownRadii(catalogs),
    `A source's position is the catalog's own, in degrees (${positionColumns(catalogs)}). ${howCompared(config, catalogs)}${epochs(catalogs, 'those of', 'are')}. ` +
      "If a catalog has right ascensions outside 0 to 360, the source's `ra` is converted to that range, and the payload has it as published.",
    '`diaObjectId` is a 64-bit integer. `diaObjectId_str` carries the same value as a decimal string, for clients that lose ' +
      'precision above 2^53.',
    'Times are UTC, ISO 8601, with microseconds as six digits or none. If a broker gives an event time as an MJD in TAI, it ' +
      'is converted to UTC with the leap seconds.',
    'Clients ignore response keys that they do not know.',
  ];
}

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

/** The catalogs with a radius of their own, as a sentence after others; empty if there are none. */
export function ownRadii({ all }: Catalogs): string {
  const own = all.flatMap(({ name, radius }) => (radius ? `\`${name}\` ${radiusText(radius)}` : []));
  return own.length === 0 ? '' : ` Catalogs with a radius of their own: ${own.join('; ')}.`;
}

/** A catalog's own radius after its name. @param mark around the name of a column */
export function radiusText(radius: CatalogRadius, mark = '`'): string {
  const [column, arcsec] = [radiusColumnText(radius), `${decimal(radius.arcsec)} arcsec`];
  return column === undefined ? `within ${arcsec}` : `within ${mark}${column}${mark} of each source, at most ${arcsec}`;
}

function positionColumns({ all }: Catalogs): string {
  return all.map(({ name, raColumn, decColumn }) => `${name} \`${raColumn}\`,\`${decColumn}\``).join('; ');
}

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

/** The rules for combining filters. */
export function filterRules(): string[] {
  return [
    'An object qualifies if it meets every object filter (reliability) and at least one single current source meets every match ' +
      'filter. Filters never drop or reorder anything: they mark with `qualifies` and `qualifies_reason`.',
    'Bounds are inclusive and apply to the value stored with the match; a null or non-numeric value never qualifies.',
    'Match filters may name one catalog only, else the answer is 400 `filters_span_catalogs`; `catalog` counts as naming one.',
  ];
}

/** The minimum reliabilities, one sentence per broker. */
export function reliabilityCuts(config: Config): string[] {
  return provenanceSetOf(config).reliability_cuts.map(({ broker, min_reliability, enforced_by, as_of }) => {
    if (min_reliability === null) return `${broker}: enforced by the broker; no value is declared.`;
    const when = as_of === null ? '' : `, declared as of ${as_of}`;
    return `${broker}: minimum reliability ${min_reliability}, enforced by the ${enforced_by}${when}.`;
  });
}

/** The limits of a request, one sentence per limit. */
export function limitSentences(config: Config): string[] {
  const limits = requestLimits(config);
  const { default_page_size, max_page_size, max_window_hours } = limits.recent_crossmatches;
  return [
    `Time budget of a request: ${decimal(limits.request_budget_seconds)} s; beyond it the answer is 400 \`query_too_expensive\`, or 503 if the ` +
      'request waited for more than half of it.',
    `Identifiers per lookup: ${limits.max_ids}. Positions and registry names per lookup, together: ${limits.max_positions}.`,
    `Search radius: at most ${decimal(limits.max_cone_radius_arcsec)} arcsec; around registry names ` +
      `${decimal(config.TNS_MATCH_RADIUS_ARCSEC)} arcsec by default. Registry names: at most ${MAX_TNS_NAME_CHARACTERS} characters.`,
    `Objects listed per position or registry name: ${limits.max_objects_per_position}. Objects per request and largest cone page: ` +
      `${limits.max_objects_per_request}. Counts (\`response=count\`) are not bound by these.`,
    `Recent crossmatches: ${default_page_size} objects per page by default, at most ${max_page_size}; a window of at most ` +
      `${max_window_hours} hours.`,
  ];
}
