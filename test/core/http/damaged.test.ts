/**
 * Database bytes that change on disk under a running service: the affected values give 503, are counted, and are never
 * served.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeObject, encodePlain } from '../../../src/core/store/records.ts';
import { damage } from '../store/support.ts';
import { crossmatched, delivery, loadRegistry, match, searched, type TestApp, type World, withApp } from './support.ts';

const test = suite('http/damaged');

const DAMAGED = 5n;
const WHOLE = 6n;
/** A string that occurs only in the payload of one source. */
const MARK = Buffer.from('a mark of its own');

async function fill(world: World): Promise<void> {
  const nowUs = 1000 * Date.now();
  await loadRegistry(world, nowUs, [{ name: '2026abc', classification: 'SN Ia-pec' }, { name: '2026xyz' }]);
  await world.writer.ingest(
    [DAMAGED, WHOLE].map(id => delivery(id)),
    nowUs,
  );
  const marked = match('gaia_dr3', '9', { payload: { text: MARK.toString() } });
  await crossmatched(world, DAMAGED, searched('gaia_dr3'), [marked]);
  await crossmatched(world, WHOLE, searched('gaia_dr3'), [match('gaia_dr3', '8')]);
}

async function assertNotServed(app: TestApp, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { status, body, headers } = await app.get(path);
    assert.equal([status, body.code, headers.get('Retry-After')], [503, 'service_unavailable', '30'], path);
  }
}

const statusesOf = async (app: TestApp, paths: readonly string[]) =>
  Promise.all(paths.map(async path => (await app.get(path)).status));

async function damagedTotal(app: TestApp): Promise<number> {
  const { text } = await app.get('/metrics');
  return Number(/^nearsky_damaged_values_total (\d+)$/m.exec(text)?.[1]);
}

const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';
const RECENT = '/api/recent-crossmatches';

test('every byte of an object', () =>
  withApp(fill, async (app, { directory, store }) => {
    const { diaObjectId: _, ...fields } = store.getObject(DAMAGED)!;
    const bytes = encodeObject(fields);
    const paths = [`/api/objects/${DAMAGED}`, `${CONE}&detail=matches`, RECENT];
    let met = 0;
    for (let at = 0; at < bytes.length; at += 7) {
      const restore = damage(directory, bytes, at);
      await assertNotServed(app, paths);
      met += paths.length;
      assert.is((await app.get(`/api/objects/${WHOLE}`)).status, 200);
      restore();
    }
    assert.is(await damagedTotal(app), met);
    assert.ok(app.logged.some(([event]) => event === 'database_damaged'));
    assert.equal(await statusesOf(app, paths), [200, 200, 200]);
  }));

test('the sources, the names of their columns, and the registry', () =>
  withApp(fill, async (app, { directory }) => {
    const restoreKeys = damage(directory, encodePlain(['ra', 'ruwe']), 2);
    await assertNotServed(app, [`/api/objects/${WHOLE}?detail=full`]);
    restoreKeys();
    const full = `/api/objects/${DAMAGED}?detail=full`;
    for (const [bytes, path, others] of [
      [MARK, full, [`/api/objects/${DAMAGED}`, `/api/objects/${WHOLE}?detail=full`]],
      [Buffer.from('SN Ia-pec'), '/api/tns/2026abc', ['/api/tns/2026xyz', full]],
    ] as const) {
      const restore = damage(directory, bytes, 3);
      await assertNotServed(app, [path]);
      assert.equal(await statusesOf(app, others), [200, 200]);
      restore();
      assert.is((await app.get(path)).status, 200);
    }
  }));

test.run();
