/** Compares the archive's matches with known classes and with random positions. */
import { pixel24 } from '@nearsky/sky-index';
import { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { formatTime, nowUs } from '../../core/base/times.ts';
import type { Config } from '../../core/config/config.ts';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { answerSettings } from '../../core/store/provenance.ts';
import { readRegistryEpochUs } from '../../core/store/registry.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import type { SkyPosition } from '../../core/store/types.ts';
import { type PlannedCatalog, planCatalog } from '../crossmatch/plan.ts';
import { readCatalog } from '../sample/read_catalog.ts';
import { type Resolved, stored } from '../sample/resolve.ts';
import { registered, reportRows } from '../sample/sample_task.ts';
import { calibrationOf } from './calibration.ts';
import { Classes } from './classes.ts';
import { choose, displaced, seededRandom, surveyObjects } from './positions.ts';

/** The validation as it is answered; keys as on the wire. */
export type Validation = Awaited<ReturnType<typeof makeValidation>>['validation'];

/** The maximum numbers of transients and of displaced positions. */
const MAX_TRANSIENTS = 5000;
export const MAX_POSITIONS = 2000;
const SEED = 1;
/** Besides the radius of the crossmatch: chance finds a hundred times more sources within this one, arcsec. */
const LARGER_RADIUS = 10;
/** The least displacement, arcsec; the largest is twice as long. */
const DISPLACEMENT = 30;
const CHUNK = 1000;

/** @throws StoreError */
export async function makeValidation(config: Config) {
  const store = currentStore();
  const entry = store.lastSequence();
  const { all, opened } = registered.of(store);
  const catalogs = all.all.filter(({ name }) => opened.has(name));
  const { provenance, ...settings } = answerSettings(config, all);
  const context = { store, stored: store, fragments: new SharedFragments({ provenance, ...settings }) };
  const random = seededRandom(SEED);
  const radiusArcsec = config.TNS_MATCH_RADIUS_ARCSEC;
  const snapshotUs = readRegistryEpochUs(store.databases);
  const { rows } = store.tableAt(entry) ?? { rows: 0 };
  const objects = surveyObjects(store, rows, { radiusArcsec, objects: MAX_POSITIONS, random });
  const object = new ObjectView();
  const transients = choose(objects.found, MAX_TRANSIENTS, random).map(
    ({ record: { namePrefix, name, classification, redshift }, diaObjectId, separationArcsec }): Resolved => {
      store.readObject(diaObjectId, object);
      const tns = { name: `${namePrefix ?? ''} ${name}`.trim(), classification, redshift };
      return { label: name, samePlace: [], error: null, ...stored(object, context), separationArcsec, tns };
    },
  );
  const problems = new Set<string>();
  // The database is not read from here on: it may have changed meanwhile.
  const classes = await classify(transients, catalogs, opened, config.CROSSMATCH_RADIUS_ARCSEC, problems);
  const radiiOf = ({ radius }: Partial<CatalogDefinition>) =>
    [...new Set([radius?.arcsec ?? config.CROSSMATCH_RADIUS_ARCSEC, LARGER_RADIUS])].sort((a, b) => a - b);
  const largest = Math.max(...[{}, ...catalogs].flatMap(radiiOf));
  const [from, to] = [1, 2].map(factor => factor * Math.max(DISPLACEMENT, 2 * largest)) as [number, number];
  const places = objects.random.map(place => displaced(place, from + (to - from) * random(), 2 * Math.PI * random()));
  const calibrations: Record<string, ReturnType<typeof calibrationOf>> = {};
  for (const definition of catalogs)
    calibrations[definition.name] = await calibrate(
      opened.get(definition.name)!,
      definition,
      places,
      radiiOf(definition),
      problems,
    );
  const validation = {
    made: formatTime(nowUs()),
    journal_entry: entry,
    provenance,
    seed: SEED,
    registry: {
      epoch: snapshotUs === null ? null : formatTime(snapshotUs),
      classified: objects.classified,
      stored: objects.found.length,
      transients: transients.length,
      object_radius_arcsec: radiusArcsec,
      radius_arcsec: config.CROSSMATCH_RADIUS_ARCSEC,
      groups: classes.described(),
    },
    calibration: {
      positions: places.length,
      displacement_arcsec: [from, to],
      catalogs: calibrations,
    },
  };
  return { validation, problems: [...problems] };
}

async function classify(
  transients: readonly Resolved[],
  catalogs: readonly CatalogDefinition[],
  opened: ReadonlyMap<string, PlannedCatalog>,
  radiusArcsec: number,
  problems: Set<string>,
): Promise<Classes> {
  const classes = new Classes(catalogs);
  const options = { ...NO_BRIGHT_STARS, catalogs: catalogs.map(({ name }) => name), radiusArcsec };
  const place = ({ position }: Resolved) => (position ? pixel24(position.ra, position.dec) : -1);
  // In the order of the sky, each file of a catalog is read for few chunks.
  const sorted = transients.map(each => ({ each, place: place(each) })).sort((a, b) => a.place - b.place);
  for (let from = 0; from < sorted.length; from += CHUNK) {
    const chunk = sorted.slice(from, from + CHUNK).map(({ each }) => each);
    const found: string[] = [];
    const rows = await reportRows(chunk, catalogs, opened, options, found);
    for (const problem of found) problems.add(problem);
    for (const [i, row] of rows.entries()) classes.add(chunk[i]!.tns!.classification!, row, radiusArcsec);
  }
  return classes;
}

const NO_BRIGHT_STARS = { brightArcsec: 0, brightMag: Number.NEGATIVE_INFINITY } as const;

async function calibrate(
  planned: PlannedCatalog,
  definition: CatalogDefinition,
  places: readonly SkyPosition[],
  radii: readonly number[],
  problems: Set<string>,
) {
  const radiusArcsec = radii.at(-1)!;
  const columns = (of: readonly SkyPosition[]) =>
    [Float64Array.from(of, ({ ra }) => ra), Float64Array.from(of, ({ dec }) => dec)] as const;
  // A source beyond the footprint would count, and a position without one would not.
  const { covered } = planCatalog(planned, ...columns(places), radiusArcsec);
  const inside = places.filter((_, place) => covered[place]);
  const options = { ...NO_BRIGHT_STARS, radiusArcsec };
  const { read, problems: found } = await readCatalog(planned, definition, ...columns(inside), options);
  for (const problem of found) problems.add(problem);
  return calibrationOf(read, radii, places.length - inside.length);
}
