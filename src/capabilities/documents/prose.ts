/** Sentences that the OpenAPI document, `/llms.txt` and the pages share, in Markdown. */

import type { Config } from '../../core/config/config.ts';
import { requestLimits } from '../../core/config/described_limits.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { MAX_TNS_NAME_CHARACTERS } from '../../core/contract/limits.ts';
import { epochs } from '../../core/documents/catalogs.ts';
import { decimal, howCompared, ownRadii } from '../../core/documents/prose.ts';

export const TITLE = 'nearsky: Rubin Crossmatch Service API';

export const SUMMARY =
  'Information about Rubin Observatory alert objects (by diaObjectId, sky position, TNS name or time window), ' +
  'and the catalog sources at their positions. Read-only, public, JSON.';

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

function positionColumns({ all }: Catalogs): string {
  return all.map(({ name, raColumn, decColumn }) => `${name} \`${raColumn}\`,\`${decColumn}\``).join('; ');
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
