/** The rows of a report (docs/contract.md, Sample). */
import { GALACTIC, ICRS, rotated, rotationBetween } from '@nearsky/astrotables/frames';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import type { Verdict } from '../../core/contract/verdict.js';
import { roundedChance, roundedDensity } from '../../core/store/match_statistics.ts';
import type { SkyPosition } from '../../core/store/types.ts';
import type { BrightStar, PositionRead } from './read_catalog.ts';
import type { RegistryEntry, Resolved } from './resolve.ts';

export const SAMPLE_OUTCOMES = [
  { name: 'coincident_source', meaning: 'a source lies within the radius' },
  { name: 'no_coincident_source', meaning: 'the catalog was searched, and has no source within the radius' },
  { name: 'outside_footprint', meaning: 'the position is outside the catalog footprint' },
  { name: 'skipped_read_failure', meaning: 'the catalog could not be read' },
  { name: 'no_position', meaning: 'there is no position to search at' },
  { name: 'not_registered', meaning: 'the catalog is not registered here' },
] as const;
export type SampleOutcome = (typeof SAMPLE_OUTCOMES)[number]['name'];

/** The answer of one catalog for one row; keys as on the wire. */
export interface SampleCell {
  readonly outcome: SampleOutcome;
  /** The archive's record of the object, or the catalog's files at the position; null if neither was asked. */
  readonly from: 'archive' | 'catalog' | null;
  readonly catalog_source_id: string | null;
  readonly separation_arcsec: number | null;
  readonly chance_probability: number | null;
  readonly source_density: number | null;
  readonly verdict: Verdict | null;
  readonly verdict_reason: string | null;
  readonly depth_mag: number | null;
  readonly depth_rows: number | null;
}

export interface SampleRow {
  readonly label: string | null;
  readonly status: Resolved['status'];
  readonly diaObjectId_str: string | null;
  readonly ra: number | null;
  readonly dec: number | null;
  readonly galactic_latitude: number | null;
  readonly separation_arcsec: number | null;
  readonly same_place: readonly string[];
  readonly tns: RegistryEntry | null;
  readonly catalogs: Readonly<Record<string, SampleCell>>;
  readonly bright_stars: readonly BrightStar[];
  readonly flags: readonly string[];
}

/** @param readOf what a catalog's files have at the position; undefined for a catalog that is not registered */
export function reportRow(
  resolved: Resolved,
  catalogs: readonly CatalogDefinition[],
  readOf: (catalog: string) => PositionRead | 'no_position' | undefined,
): SampleRow {
  const { position } = resolved;
  const cells = catalogs.map(({ name }) => [name, cellOf(resolved.recorded[name], readOf(name))] as const);
  const bright_stars = catalogs
    .flatMap(({ name }) => {
      const read = readOf(name);
      return typeof read === 'object' ? read.bright : [];
    })
    .sort((a, b) => a.separation_arcsec - b.separation_arcsec);
  return {
    label: resolved.label,
    status: resolved.status,
    diaObjectId_str: resolved.id,
    ra: position?.ra ?? null,
    dec: position?.dec ?? null,
    galactic_latitude: position && galacticLatitude(position),
    separation_arcsec: resolved.separationArcsec,
    same_place: resolved.samePlace,
    tns: resolved.tns,
    catalogs: Object.fromEntries(cells),
    bright_stars,
    flags: flagsOf(resolved, cells, bright_stars),
  };
}

const TO_GALACTIC = rotationBetween(ICRS, GALACTIC);

/** Degrees, to four digits. */
function galacticLatitude({ ra, dec }: SkyPosition): number {
  const [, latitude] = rotated(TO_GALACTIC, ra, dec);
  return Math.round(latitude * 1e4) / 1e4;
}

const NO_SOURCE = {
  catalog_source_id: null,
  separation_arcsec: null,
  chance_probability: null,
  verdict: null,
  verdict_reason: null,
} as const;
const UNSEARCHED = { ...NO_SOURCE, source_density: null, depth_mag: null, depth_rows: null } as const;
const NO_DEPTH = { depth_mag: null, depth_rows: null } as const;

/** What the archive records decides; the catalog's files answer for objects without a record, and for bare positions. */
function cellOf(
  recorded: Resolved['recorded'][string] | undefined,
  read: PositionRead | 'no_position' | undefined,
): SampleCell {
  const files = typeof read === 'object' ? read : undefined;
  const density = files && !Number.isNaN(files.density) ? roundedDensity(files.density) : null;
  if (recorded?.outcome === 'outside_footprint')
    return { outcome: 'outside_footprint', from: 'archive', ...UNSEARCHED };
  if (recorded?.outcome === 'searched') {
    const source = recorded.source && { ...recorded.source, density: recorded.source.density ?? density };
    return searched('archive', source, density, files);
  }
  if (read === undefined) return { outcome: 'not_registered', from: null, ...UNSEARCHED };
  if (read === 'no_position') return { outcome: 'no_position', from: null, ...UNSEARCHED };
  if (read.outcome !== 'searched') return { outcome: read.outcome, from: 'catalog', ...UNSEARCHED };
  return searched('catalog', read.nearest && { ...read.nearest, density }, density, read);
}

function searched(
  from: 'archive' | 'catalog',
  source:
    | (Omit<NonNullable<PositionRead['nearest']>, 'id'> & { readonly id: unknown; readonly density: number | null })
    | undefined,
  density: number | null,
  files: PositionRead | undefined,
): SampleCell {
  if (!source) {
    const depth = files && !Number.isNaN(files.depthMag) ? Math.round(files.depthMag * 100) / 100 : null;
    const depth_rows = depth === null ? null : files!.depthRows;
    return {
      outcome: 'no_coincident_source',
      from,
      ...NO_SOURCE,
      source_density: density,
      depth_mag: depth,
      depth_rows,
    };
  }
  const { separationArcsec } = source;
  return {
    outcome: 'coincident_source',
    from,
    catalog_source_id: `${source.id}`,
    separation_arcsec: separationArcsec,
    chance_probability: source.density === null ? null : roundedChance(source.density, separationArcsec),
    source_density: source.density,
    verdict: source.verdict,
    verdict_reason: source.reason,
    ...NO_DEPTH,
  };
}

function flagsOf(
  { error, samePlace, status }: Resolved,
  cells: readonly (readonly [name: string, cell: SampleCell])[],
  bright: readonly BrightStar[],
): string[] {
  const flags: string[] = [];
  if (error !== null) flags.push(error);
  if (status === 'crossmatch_pending') flags.push('not crossmatched yet: the catalogs were read at its position');
  if (samePlace.length > 0) flags.push(`further objects at the same place: ${samePlace.join(', ')}`);
  const said = cells.flatMap(([name, { verdict }]) => (verdict && verdict !== 'unclear' ? [{ name, verdict }] : []));
  if (new Set(said.map(({ verdict }) => verdict)).size > 1)
    flags.push(
      `catalogs contradict each other: ${said.map(({ name, verdict }) => `${name} says ${verdict}`).join(', ')}`,
    );
  const [star] = bright;
  if (star)
    flags.push(
      `bright star: ${star.band} = ${star.magnitude.toFixed(2)} at ${star.separation_arcsec.toFixed(1)} arcsec (${star.catalog_name})`,
    );
  const of = (outcome: SampleOutcome) => cells.filter(([, cell]) => cell.outcome === outcome).map(([name]) => name);
  const unread = of('skipped_read_failure');
  if (unread.length > 0) flags.push(`could not be read: ${unread.join(', ')}`);
  if (cells.length > 0 && of('outside_footprint').length === cells.length)
    flags.push('outside the footprint of every catalog');
  return flags;
}
