/** Sentences that the OpenAPI document, `/llms.txt` and the documentation pages share, in Markdown. */

import type { Config } from '../config/config.ts';
import { type CatalogRadius, radiusColumnText } from '../contract/catalog.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { PROVENANCE_RECORDING_RELEASE, provenanceSetOf } from '../store/provenance.ts';

/** A number in the format that the contract uses for radii: `1.0`, `60.0`, `2.5`. */
export function decimal(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : `${value}`;
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

/** The minimum reliabilities, one sentence per broker. */
export function reliabilityCuts(config: Config): string[] {
  return provenanceSetOf(config).reliability_cuts.map(({ broker, min_reliability, enforced_by, as_of }) => {
    if (min_reliability === null) return `${broker}: enforced by the broker; no value is declared.`;
    const when = as_of === null ? '' : `, declared as of ${as_of}`;
    return `${broker}: minimum reliability ${min_reliability}, enforced by the ${enforced_by}${when}.`;
  });
}
