/** Reads one catalog's own files at the positions of a sample. */
import { setImmediate } from 'node:timers/promises';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { compareIds, type SourceId } from '../../core/contract/source_ids.ts';
import { ruleKeys, type Verdict, verdictOf } from '../../core/contract/verdict.js';
import { payloadColumns } from '../catalogs/payload_columns.ts';
import { type ColumnMatches, runMatchColumns } from '../crossmatch/match_file.ts';
import { type OwnRadius, sourceRadius } from '../crossmatch/own_radius.ts';
import { type PlannedCatalog, planCatalog } from '../crossmatch/plan.ts';
import type { SampleOptions } from './options.ts';

/** While a host sends one file, another is searched. */
const FILES_AT_ONCE = 8;

export interface BrightStar {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly magnitude: number;
  readonly band: string;
  readonly separation_arcsec: number;
}

interface NearestSource {
  readonly id: SourceId;
  readonly separationArcsec: number;
  readonly verdict: Verdict;
  readonly reason: string;
}

/** What a catalog has at one position. */
export interface PositionRead {
  outcome: 'searched' | 'outside_footprint' | 'skipped_read_failure';
  nearest: NearestSource | undefined;
  /** Sources per square arcmin around the position; NaN if it is unknown. */
  density: number;
  distance: number;
  /** NaN if it is unknown. */
  depthMag: number;
  depthRows: number;
  readonly bright: BrightStar[];
}

/** @returns parallel to the positions, and why files could not be read */
export async function readCatalog(
  planned: PlannedCatalog,
  definition: CatalogDefinition,
  ra: Float64Array,
  dec: Float64Array,
  { radiusColumn, ...options }: OwnRadius & Pick<SampleOptions, 'brightArcsec' | 'brightMag'>,
): Promise<{ readonly read: readonly PositionRead[]; readonly problems: readonly string[] }> {
  const { location, columns } = planned.registration;
  const main = definition.photometry.bands.find(({ letter }) => letter === definition.photometry.main);
  const magnitude = main?.magnitude.toLowerCase();
  const keys = new Set((definition.verdicts ?? []).flatMap(ruleKeys).map(key => key.toLowerCase()));
  if (magnitude !== undefined) keys.add(magnitude);
  const radiusKey = columns.payload.find(({ column }) => radiusColumn && column === radiusColumn.column)?.key;
  if (radiusKey !== undefined) keys.add(radiusKey);
  const payload = payloadColumns(definition).filter(({ name }) => keys.has(name));
  const own = { ...columns, payload: payload.map(({ name }) => columns.payload.find(({ key }) => key === name)!) };
  const magnitudeColumn = own.payload.find(({ key }) => key === magnitude)?.column ?? null;
  const radiusArcsec = Math.max(options.radiusArcsec, options.brightArcsec);
  const { covered, searches } = planCatalog(planned, ra, dec, radiusArcsec);
  const read = covered.map(
    (isCovered): PositionRead => ({
      outcome: isCovered ? 'searched' : 'outside_footprint',
      nearest: undefined,
      density: Number.NaN,
      distance: Number.POSITIVE_INFINITY,
      depthMag: Number.NaN,
      depthRows: 0,
      bright: [],
    }),
  );
  const problems: string[] = [];
  const unread = new Set<number>();
  await eachConcurrently(searches, FILES_AT_ONCE, async ({ file, hasAllRows, objects }) => {
    // Reading a local file does not yield to the event loop.
    await setImmediate();
    const answer = await runMatchColumns({
      module: 'src/capabilities/crossmatch/match_file',
      kind: 'matchColumns',
      location,
      file,
      columns: own,
      payload,
      radiusArcsec,
      find: 'all',
      hasAllRows,
      ra: Float64Array.from(objects, object => ra[object]!),
      dec: Float64Array.from(objects, object => dec[object]!),
      around: { magnitude: magnitudeColumn, withinArcsec: options.radiusArcsec, brighterThan: options.brightMag },
    });
    if (answer.outcome !== 'searched') {
      problems.push(answer.reason);
      for (const object of objects) unread.add(object);
      return;
    }
    take(answer.matches, objects);
  });
  for (const object of unread) Object.assign(read[object]!, { outcome: 'skipped_read_failure', nearest: undefined });
  for (const { bright } of read) bright.sort((a, b) => a.separation_arcsec - b.separation_arcsec);
  return { read, problems };

  function take(matches: ColumnMatches, objects: readonly number[]): void {
    const { around } = matches;
    objects.forEach((object, i) => {
      const cell = read[object]!;
      if (around!.distance[i]! >= cell.distance) return;
      cell.distance = around!.distance[i]!;
      cell.density = around!.density[i]!;
      cell.depthMag = around!.depthMag[i]!;
      cell.depthRows = around!.depthRows[i]!;
    });
    matches.object.forEach((place, pair) => {
      const cell = read[objects[place]!]!;
      const separationArcsec = matches.separationArcsec[pair]!;
      const id = matches.id[pair]!;
      const payloadOf = () =>
        Object.fromEntries(
          payload.map(({ name }, column) => {
            const { values, isNull } = matches.payload[column]!;
            return [name, isNull?.[pair] ? null : values[pair]];
          }),
        );
      const radiusArcsec = radiusColumn
        ? sourceRadius(radiusColumn, radiusKey === undefined ? null : payloadOf()[radiusKey], options.radiusArcsec)
        : options.radiusArcsec;
      if (separationArcsec <= radiusArcsec) {
        // A source beyond the footprint proves that the position was searched.
        cell.outcome = 'searched';
        const best = cell.nearest;
        const farther = best ? separationArcsec - best.separationArcsec || compareIds(id, best.id) : -1;
        if (farther < 0) cell.nearest = { id, separationArcsec, ...verdictOf(definition, payloadOf()) };
      }
      if (separationArcsec > options.brightArcsec || magnitude === undefined) return;
      const values = payloadOf();
      const mag = Number(values[magnitude] ?? Number.NaN);
      // Sentinels for missing magnitudes are far below any star's.
      if (!(mag < options.brightMag && mag > -10)) return;
      const { verdict } = verdictOf(definition, values);
      if (verdict === 'galaxy' || verdict === 'quasar') return;
      cell.bright.push({
        catalog_name: definition.name,
        catalog_source_id: `${id}`,
        magnitude: mag,
        band: main!.letter,
        separation_arcsec: separationArcsec,
      });
    });
  }
}
