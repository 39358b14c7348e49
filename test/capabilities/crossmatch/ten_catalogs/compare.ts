/**
 * Adds the ten catalogs that make.py writes, crossmatches the same objects with all of them, and compares every match with
 * LSDB's nearest: compare.ts DIRECTORY OBJECTS, with TEST_PYTHON naming a Python with lsdb and hats-import. A catalog that
 * is there already is not made again.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { registerCatalog } from '../../../../src/capabilities/catalogs/register.ts';
import type { Delivery } from '../../../../src/core/store/types.ts';
import { pythonWith, runPython } from '../../../python.ts';
import { PROVENANCE, pool, World } from '../world.ts';

const [directory, count] = [resolve(process.argv[2] ?? '/tmp/ten_catalogs'), process.argv[3] ?? '100000'];
const ID_COLUMNS: Readonly<Record<string, string>> = { upper_case: 'ObjID' };
const NAMES =
  'imported upper_case folders short_ending text_ids narrow collection nested index_last no_index_no_map'.split(' ');
const TOLERANCE_ARCSEC = 1e-6;

function rowsOf(name: string): string[][] {
  const [, ...lines] = readFileSync(join(directory, `${name}.csv`), 'utf8')
    .trim()
    .split('\n');
  return lines.map(line => line.trim().split(','));
}

mkdirSync(directory, { recursive: true });
if (!NAMES.every(name => existsSync(join(directory, `${name}.csv`)))) {
  const make = new URL('make.py', import.meta.url).pathname;
  await runPython(pythonWith('lsdb,hats_import')!, [make, directory, count], { timeout: 3_600_000 });
}
rmSync(join(directory, 'data'), { recursive: true, force: true });
const world = new World(directory);
const { store, writer } = world;
const deliveries = rowsOf('objects').map(
  ([id, ra, dec]): Delivery => ({
    diaObjectId: BigInt(id!),
    position: { ra: Number(ra), dec: Number(dec) },
    reliability: null,
    eventTimeUs: 0,
    broker: 'lasair',
  }),
);
await writer.ingest(deliveries, 0);
let different = 0;
for (const name of NAMES) {
  const catalog = { name, idColumn: ID_COLUMNS[name] ?? 'id', description: {} };
  await writer.commit({
    kind: 'register_catalog',
    registration: await registerCatalog(catalog, join(directory, name), { addedAtUs: 0 }),
  });
  const cpu = process.cpuUsage();
  const summary = await world.crossmatch(name === NAMES[0] ? {} : { again: { catalog: name } });
  const { user, system } = process.cpuUsage(cpu);
  const expected = new Map(
    rowsOf(name).map(([object, id, arcsec]) => [BigInt(object!), { id, arcsec: Number(arcsec) }]),
  );
  let matches = 0;
  for (const { diaObjectId } of deliveries) {
    const { records, matches: all } = store.getObject(diaObjectId)!;
    const version = records.at(-1)!.matchVersion;
    const found = all.find(match => match.matchVersion === version && match.catalogName === name);
    const wanted = expected.get(diaObjectId);
    if (found) matches++;
    const isSame =
      found?.catalogSourceId === wanted?.id &&
      Math.abs((found?.separationArcsec ?? 0) - (wanted?.arcsec ?? 0)) < TOLERANCE_ARCSEC;
    if (isSame) continue;
    if (different++ < 20) console.log(`${name}, object ${diaObjectId}: ${JSON.stringify({ found, wanted })}`);
  }
  const seconds = ((user + system) / 1e6).toFixed(1);
  console.log(
    `${name}: ${summary.recorded} objects, ${matches} matches, ${expected.size} by LSDB; ${seconds} s of CPU with all before it`,
  );
}
console.log(`${different} matches differ; radius ${PROVENANCE.crossmatch_radius_arcsec} arcsec`);
await store.close();
await pool.close();
process.exitCode = different > 0 ? 1 : 0;
