/**
 * Makes the sample: alerts/, catalogs/ and tns/ in this directory. The same input gives the same bytes. Who only uses nearsky never needs it.
 *
 *   npm run sample -- [OUT [DATA]]     OUT: here unless given; DATA: the recorded messages and catalog rows, test/fixtures/published unless given
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pixelOf } from '../index/healpix.ts';
import { CATALOGS } from '../src/core/contract/catalogs.ts';
import { besideStars, makeAlerts, type Target } from './make/alerts.ts';
import { makeCatalogs, readGaia } from './make/catalogs.ts';
import { releaseColumns } from './make/columns.ts';
import type { Row } from './make/hats.ts';
import { makeRegistry } from './make/registry.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = process.argv[2] ?? here;
const data = process.argv[3] ?? join(here, '../test/fixtures/published');

/** The real rows that the sample keeps: those in the base pixels where its alerts lie. */
function nearAlerts(rows: readonly Row[], targets: readonly Target[]): Row[] {
  const kept = new Set(targets.map(({ ra, dec }) => pixelOf(0, ra, dec)));
  return rows.filter(row => kept.has(pixelOf(0, row.ra as number, row.dec as number)));
}

/** Three real sources: the best parallax, the likeliest quasar, and the faintest. */
function chooseStars(rows: readonly Row[]): { ra: number; dec: number }[] {
  const most = (rows: readonly Row[], value: (row: Row) => unknown) =>
    rows.reduce((a, b) => (Number(value(b) ?? 0) > Number(value(a) ?? 0) ? b : a)) as unknown as Target;
  return [
    most(rows, row => row.parallax_over_error),
    most(rows, row => row.classprob_dsc_combmod_quasar),
    most(rows, row => row.phot_g_mean_mag),
  ];
}

// Read before the files that they stand in are written anew.
const columns = Object.fromEntries(
  await Promise.all(CATALOGS.map(async ({ name }) => [name, await releaseColumns(name)])),
);
const gaia = nearAlerts(await readGaia(data), makeAlerts(data, []).targets);
const { files, targets } = makeAlerts(data, besideStars(chooseStars(gaia)));
for (const part of ['alerts', 'catalogs', 'tns']) rmSync(join(out, part), { recursive: true, force: true });
mkdirSync(join(out, 'alerts'), { recursive: true });
for (const [name, lines] of Object.entries(files))
  writeFileSync(join(out, 'alerts', `${name}.ndjson`), `${lines.join('\n')}\n`);
makeCatalogs(columns, join(out, 'catalogs'), gaia, targets);
mkdirSync(join(out, 'tns'));
writeFileSync(join(out, 'tns', 'tns_public_objects.csv'), `${makeRegistry(targets).join('\n')}\n`);
