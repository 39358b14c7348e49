/** Statements of docs/contract.md that no other test covers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { columnNames } from '../../src/core/contract/catalog.ts';
import { CATALOGS } from '../../src/core/contract/catalogs.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { jobDocument } from '../../src/core/jobs/uws.ts';
import { EventReader } from '../core/http/event_reader.ts';
import {
  crossmatched,
  delivery,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
  type World,
} from '../core/http/support.ts';
import { root } from '../directory.ts';

const test = suite<{ running: Running }>('docs/contract');

const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');

/** A cross whose arms and centre lie in the parts of a polygon that crosses itself. */
const CROSS = [
  { id: 11n, ra: 99.7, dec: 0 },
  { id: 12n, ra: 100.3, dec: 0 },
  { id: 13n, ra: 100, dec: 0.3 },
  { id: 14n, ra: 100, dec: -0.3 },
];

async function fill(world: World): Promise<void> {
  await world.writer.ingest(
    [1n, 2n, 3n].map(id => delivery(id)),
    NOW_US,
  );
  for (const id of [1n, 2n]) await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id}`)]);
  await world.writer.ingest(
    CROSS.map(({ id, ra, dec }) => delivery(id, { position: { ra, dec } })),
    NOW_US + 1,
  );
}

test.before(async context => {
  context.running = await startApp(fill);
});

test.after(({ running }) => running.close());

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('every route of the table is there, under its methods [Routes]', async ({ running: { app } }) => {
  const rows = [...contract.matchAll(/^\| ([A-Z, ]+) \| (`\/.*?) \|.*\|$/gm)];
  const routes = rows.flatMap(([, methods, paths]) =>
    [...paths!.matchAll(/`([^`]+)`/g)].flatMap(([, path]) =>
      methods!.split(', ').map(method => [method, path!] as const),
    ),
  );
  assert.ok(routes.length > 0);
  for (const [method, path] of routes) {
    const address = path
      .replace('{diaObjectId}', '1')
      .replace('{catalog}', 'gaia_dr3')
      .replace('VERSION', version)
      .replace(/\{\w+\}/, '2026abc');
    const response = await app.app.fetch(new Request(`http://nearsky.test${address}`, { method }));
    await response.body?.cancel();
    assert.ok(![404, 405].includes(response.status), `${method} ${path} is ${response.status}`);
  }
});

const TABLE = 'ra,dec\n150,2\n';

test('a table that is no JSON answers whatever is accepted [P15; Crossmatch of a table]', async ({
  running: { app },
}) => {
  const asked = [
    ['/api/crossmatch', TABLE],
    ['/api/area?response=table', 'CIRCLE 150 2 1'],
  ] as const;
  for (const [path, body] of asked)
    for (const Accept of ['application/xml', 'application/json']) {
      const { status, headers } = await app.get(path, { method: 'POST', body, headers: { Accept } });
      assert.equal([status, headers.get('Vary')], [200, 'Accept, Accept-Encoding']);
      assert.match(headers.get('Content-Type')!, 'text/csv');
    }
});

test('the descriptions ignore every name [Query strings]', async ({ running: { app } }) => {
  for (const path of ['/openapi.json?', '/api/status?', '/api/describe?']) {
    const { status, headers } = await app.get(`${path}x.y=1&zz_min=1&response=count`);
    assert.equal([status, headers.get('X-Unknown-Parameters')], [200, 'x.y, zz_min, response'], path);
  }
});

test('the payload of each catalog has the keys of the contract [Catalogs]', () => {
  // As the specification lists them.
  const said: Readonly<Record<string, string>> = {
    gaia_dr3:
      'phot_g_mean_mag, phot_bp_mean_mag, phot_rp_mean_mag, phot_g_mean_flux_over_error, phot_bp_mean_flux_over_error, phot_rp_mean_flux_over_error, ra, dec, ra_error, dec_error, parallax, parallax_error, pmra, pmra_error, pmdec, pmdec_error, ref_epoch, classprob_dsc_combmod_star, classprob_dsc_combmod_galaxy, classprob_dsc_combmod_quasar, ruwe, astrometric_excess_noise, astrometric_excess_noise_sig',
    des_y6_gold:
      'wavg_mag_psf_ and wavg_magerr_psf_ for g, r, i, z, y; ra, dec, bdf_t, bdf_g_1, bdf_g_2, bdf_fracdev, dnf_z, dnf_zsigma, ext_mash, flags_gold, flags_foreground, flags_footprint, bdf_flags',
    delve_dr3_gold: 'as DES without the two columns of Y',
    skymapper_dr4:
      'u_psf, v_psf, g_psf, r_psf, i_psf, z_psf, the same with e_ before, raj2000, dej2000, e_raj2000, e_dej2000, class_star, flags, nimaflags, ngood',
  };
  const keysOf = (name: string) =>
    columnNames(CATALOGS.find(catalog => catalog.name === name)!).map(column => column.toLowerCase());
  assert.equal(keysOf('gaia_dr3'), said.gaia_dr3!.split(', '));
  const [des, others] = said.des_y6_gold!.split('; ') as [string, string];
  assert.is(des, 'wavg_mag_psf_ and wavg_magerr_psf_ for g, r, i, z, y');
  const bands = (list: string) =>
    ['wavg_mag_psf_', 'wavg_magerr_psf_'].flatMap(key => [...list].map(band => `${key}${band}`));
  assert.equal(keysOf('des_y6_gold').sort(), [...bands('grizy'), ...others.split(', ')].sort());
  assert.is(said.delve_dr3_gold!, 'as DES without the two columns of Y');
  assert.equal(keysOf('delve_dr3_gold').sort(), [...bands('griz'), ...others.split(', ')].sort());
  const [psf, rest] = said.skymapper_dr4!.split(', the same with e_ before, ') as [string, string];
  const magnitudes = psf.split(', ');
  assert.equal(
    keysOf('skymapper_dr4').sort(),
    [...magnitudes, ...magnitudes.map(key => `e_${key}`), ...rest.split(', ')].sort(),
  );
});

test('an empty Last-Event-ID is none [Stream of matches]', async ({ running: { app } }) => {
  const headers = { 'Last-Event-ID': '' };
  const stop = new AbortController();
  const request = new Request('http://nearsky.test/api/stream/matches?from=beginning', {
    headers,
    signal: stop.signal,
  });
  const response = await app.app.fetch(request);
  assert.is(response.status, 200);
  const reader = response.body!.getReader();
  const events = new EventReader();
  while (events.events.length < 2) events.take((await reader.read()).value!);
  await reader.cancel();
  assert.match(events.texts.join(), '"diaObjectId":1,');
});

test('the order of checks of the objects by time, and of a table [Crossmatch of a table; Objects by time]', async ({
  running: { app },
}) => {
  /** Each request is wrong in the first of the names that are left. */
  const check = async (path: string, body: string | undefined, wrong: readonly (readonly [string, string])[]) => {
    for (let from = 0; from < wrong.length; from++) {
      const left = wrong.slice(from);
      const query = left.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).reverse();
      const address = `${path}?${query.join('&')}`;
      const { status, body: said } = body === undefined ? await app.get(address) : await app.post(address, body, null);
      assert.equal([status, said.param], [400, left[0]![0]], address);
    }
  };
  await check('/api/objects', undefined, [
    ['zz_min', '1'],
    ['start', 'x'],
    ['end', 'x'],
    ['time_field', 'x'],
    ['detail', 'x'],
    ['page_size', 'x'],
    ['status', 'not_in_service'],
    ['response', 'x'],
    ['cursor', 'x'],
    ['format', 'x'],
  ]);
  const window = 'start=2026-02-01&end=2026-01-01';
  assert.equal((await app.get(`/api/objects?cursor=x&${window}`)).body.params, ['start', 'end']);
  assert.equal((await app.get(`/api/objects?page_size=x&${window}`)).body.param, 'page_size');
  await check('/api/crossmatch', 'id,dec\n1,2\n', [
    ['against', 'x'],
    ['radius_arcsec', 'x'],
    ['find', 'x'],
    ['rows', 'x'],
    ['format', 'x'],
    ['frame', 'x'],
    ['ra', 'x'],
  ]);
});

test('any finite right ascension is taken modulo 360 [Crossmatch of a table]', async ({ running: { app } }) => {
  const values = [150, -210, -570, 510, 36_150];
  const { text } = await app.post('/api/crossmatch', `ra,dec\n${values.map(ra => `${ra},2\n`).join('')}`, null);
  assert.is([...text.matchAll(/,matched,1,150,2,/g)].length, values.length, text);
  const none = await app.post('/api/crossmatch', 'ra,dec\nnan,2\ninf,2\n150,91\n', null);
  assert.is([...none.text.matchAll(/,invalid_position,/g)].length, 3, none.text);
});

test('where the edges of a polygon cross, inside and outside change [Areas]', async ({ running: { app } }) => {
  const bow = 'POLYGON 99.5 -0.5 100.5 0.5 100.5 -0.5 99.5 0.5';
  const { body } = await app.post('/api/area?detail=ids', bow, null);
  assert.equal(body.objects.map(({ diaObjectId_str }: { diaObjectId_str: string }) => diaObjectId_str).sort(), [
    '11',
    '12',
  ]);
});

test('a job under way says how many rows are searched and written [Crossmatch of a table]', () => {
  const job: Job = {
    id: 'a',
    kind: 'table',
    phase: 'EXECUTING',
    createdMs: 0,
    destructionMs: 1,
  } as unknown as Job;
  assert.match(
    jobDocument(job, new Map(), 'http://h/a', 9, { done: 3, of: 10, searched: 7 }),
    '<uws:jobInfo><progress done="3" of="10" searched="7"/>',
  );
  assert.not.match(jobDocument(job, new Map(), 'http://h/a', 9, undefined), 'jobInfo');
});

test.run();
