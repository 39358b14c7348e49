/** Requests whose answers must be documented, for `occurs.system.test.ts` and its parts in the folders of capabilities. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld as inCatalogs } from '../../capabilities/crossmatch/world.ts';
import { eventually, type Settings, TestApp } from '../http/support.ts';
import { storeLines } from '../store/store_lines.ts';
import { IDS, NAMES, worldLines } from './world.ts';

export const test = suite('contract/occurs');

export const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';
export const RECENT = '/api/recent-crossmatches';
export const LEVELS = ['ids', 'position', 'matches', 'full'];

/** Runs a test with an app over the world. */
export async function inWorld(
  registryAgeSeconds: number | undefined,
  settings: Settings,
  body: (app: TestApp) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-occurs-'));
  try {
    await storeLines(join(directory, 'data'), worldLines(registryAgeSeconds));
    const app = await new TestApp(join(directory, 'data'), settings).ready();
    try {
      await body(app);
    } finally {
      await app.app.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function expectStatus(app: TestApp, status: number, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await app.get(path);
    assert.is(answer.status, status, `${path}: ${answer.text.slice(0, 300)}`);
  }
}

export async function lookup(app: TestApp, body: object, status = 200) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await app.get('/api/lookup', { method: 'POST', headers, body: JSON.stringify(body) });
  assert.is(answer.status, status, answer.text.slice(0, 300));
  return answer.body;
}

export const ids = Object.values(IDS).map(diaObjectId => ({ kind: 'id', diaObjectId }));
export const position = { kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 };
export const nowhere = { ...position, dec: -80 };
export const names = Object.values(NAMES).map(name => ({ kind: 'tns', name, radius_arcsec: 5 }));
export const EVERYTHING = [...ids, position, nowhere, ...names, { kind: 'unheard of' }, 17];

/**
 * Runs a test over three catalogs and two objects at one place, which are crossmatched. One catalog cannot be read any
 * more.
 * @param body gets the journal entry before the crossmatch
 * @param before runs while all catalogs can be read
 */
export const inSources = (
  body: (app: TestApp, since: number) => Promise<void>,
  before?: (app: TestApp) => Promise<void>,
) =>
  inCatalogs(async catalogs => {
    const place = { ra: 150, dec: 2 };
    const further = Array.from({ length: 8 }, (_, i) => ({ ra: 150, dec: 2.1 + i / 60 }));
    await catalogs.addCatalog(
      'gaia_dr3',
      [place, { ra: 150, dec: 2.0001 }, ...further],
      {},
      Array.from({ length: 10 }, (_, i) => BigInt(5 + i)),
    );
    await catalogs.addCatalog('des_y6_gold', [{ ra: 10, dec: -60 }]);
    const { location } = await catalogs.addCatalog('delve_dr3_gold', [place]);
    await catalogs.writer.keepHistory(true);
    await catalogs.ingest([place, place]);
    const since = catalogs.store.lastSequence();
    await catalogs.crossmatch({ properMotion: true });
    const open = () => new TestApp(join(catalogs.directory, 'data')).ready();
    if (before) {
      const whole = await open();
      await before(whole);
      await whole.app.close();
    }
    rmSync(location, { recursive: true });
    const app = await open();
    await body(app, since);
    await app.app.close();
  });

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

export function send(app: TestApp, path: string, fields: Readonly<Record<string, string>>) {
  return app.get(path, { method: 'POST', headers: FORM, body: new URLSearchParams(fields).toString() });
}

/** Every resource of a job, read and changed: for a finished job, and for a missing one. */
export async function everyResource(app: TestApp, job: string): Promise<void> {
  await eventually('the job is done', async () => (await app.get(`${job}/phase`)).text === 'COMPLETED' || undefined);
  const parts = [
    '',
    ...['phase', 'executionduration', 'destruction', 'quote', 'owner', 'error'].map(part => `/${part}`),
  ];
  const reads = [...parts, '/parameters', '/results', '/results/result'];
  for (const part of reads) {
    await expectStatus(app, 200, `${job}${part}`);
    assert.is((await app.get(`${job}${part}`, { method: 'HEAD' })).status, 200);
    const { status, headers } = await app.get(`${job}${part}`, { method: 'PUT' });
    assert.is(status, 405);
    assert.match(headers.get('Allow') ?? '', /^GET, HEAD/);
  }
  const none = job.replace(/[^/]+$/, 'none');
  await expectStatus(app, 404, ...reads.map(part => `${none}${part}`));
  for (const [part, good, bad] of [
    ['phase', 'ABORT', 'STOP'],
    ['destruction', '2030-01-01T00:00:00Z', 'never'],
    ['executionduration', '60', 'x'],
  ] as const) {
    for (const [at, value, status] of [
      // Only the removal time of a finished job can be changed.
      [job, good, part !== 'destruction' ? 400 : 303],
      [job, bad, 400],
      [none, good, 404],
    ] as const)
      assert.is((await send(app, `${at}/${part}`, { [part]: value })).status, status, `${part}=${value}`);
  }
  assert.is((await send(app, job, { ACTION: 'KEEP' })).status, 400);
  assert.is((await send(app, none, { ACTION: 'DELETE' })).status, 404);
  assert.is((await app.get(none, { method: 'DELETE' })).status, 404);
}

/**
 * Jobs of sent tables, each begun by one of the addresses, read, changed and removed, and their list.
 * @param list the path of the list
 */
export async function everyJob(app: TestApp, list: string, addresses: readonly [string, string]): Promise<void> {
  const make = async (address: string) => {
    const headers = { Prefer: 'respond-async', 'Content-Type': 'text/csv' };
    const made = await app.get(address, { method: 'POST', headers, body: 'ra,dec\n150,2\n' });
    assert.is(made.status, 202, made.text);
    return new URL(made.headers.get('Location')!).pathname;
  };
  const [job, other] = [await make(addresses[0]), await make(addresses[1])];
  await everyResource(app, job);
  assert.is((await app.get(job, { method: 'DELETE' })).status, 303);
  assert.is((await send(app, other, { ACTION: 'DELETE' })).status, 303);
  await expectStatus(app, 200, list);
  await expectStatus(app, 400, `${list}?LAST=0`);
  assert.is((await app.get(list, { method: 'PUT' })).status, 405);
}
