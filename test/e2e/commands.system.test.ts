/** All steps, as a user runs them: ingest, catalog add, crossmatch, serve; every status and outcome of the sample. */
import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needs } from '../needs.ts';
import { isDeno } from '../runtime.ts';
import { type Expected, type SampleObject, Sky, sampleObjects } from './expected.ts';
import { CATALOGS, checkout, eventually, get, nearsky, sample, start, startServer, withDirectory } from './support.ts';

const FILES = [
  ['lasair', 'lasair.ndjson'],
  ['antares', 'antares.ndjson'],
  ['pittgoogle', 'pittgoogle.ndjson'],
] as const;

const ingest = (data: string, broker: string, file: string) =>
  nearsky('ingest', '--broker', broker, '--data', data, join(sample, 'alerts', file));

const addCatalog = (data: string, name: string, directory = join(sample, 'catalogs')) =>
  nearsky('catalog', 'add', name, join(directory, name), '--data', data);

const summary = (object: { diaObjectId_str: string; status: string }) => `${object.diaObjectId_str} ${object.status}`;

// biome-ignore lint/suspicious/noExplicitAny: the object entry of an answer
function assertAnswer(found: any, { id, position, brokers }: SampleObject, expected: Expected): void {
  assert.is(found.diaObjectId_str, id);
  assert.is(found.status, expected.status, id);
  assert.equal([found.ra, found.dec], [position?.ra ?? null, position?.dec ?? null]);
  assert.equal(found.brokers, brokers, id);
  assert.equal(found.crossmatch.catalog_outcomes, expected.outcomes, id);
  assert.is(found.matches.length, expected.matches.length, id);
  expected.matches.forEach((match, i) => {
    const { separation_arcsec, ...named } = found.matches[i];
    assert.is(named.catalog_name, match.catalog_name);
    assert.is(named.catalog_source_id, match.catalog_source_id);
    assert.ok(Math.abs(separation_arcsec - match.separation_arcsec) < 1e-9, `${id}: ${separation_arcsec}`);
    assert.is(named.provenance_set, found.crossmatch.provenance_set);
  });
}

/** All pages of a cone; each object must occur once. */
async function walkCone(url: string, ra: number, dec: number, radius: number, pageSize: number): Promise<string[]> {
  const ids: string[] = [];
  const query = `ra=${ra}&dec=${dec}&radius_arcsec=${radius}&page_size=${pageSize}`;
  for (let next = query; ; ) {
    const page = await get(`${url}/api/cone?${next}`);
    const [result] = page.results;
    // biome-ignore lint/suspicious/noExplicitAny: the object entries of an answer
    ids.push(...result.objects.map((object: any) => object.diaObjectId_str));
    if (page.next_cursor === null) {
      assert.is(result.total, ids.length);
      assert.is(new Set(ids).size, ids.length);
      return ids;
    }
    assert.is(result.objects.length, pageSize);
    next = `cursor=${encodeURIComponent(page.next_cursor)}&page_size=${pageSize}`;
  }
}

const test = suite('e2e/commands');

test('ingest, catalog add, crossmatch, serve: the sample gives what scans of its files give', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const counts: Record<string, unknown>[] = [];
    for (const [broker, file] of FILES) counts.push(await ingest(data, broker, file));
    const shown = counts.map(({ rejects_file: _, ...rest }) => Object.values(rest));
    // read, new, by a further broker, duplicate, below the cut, skipped, rejected, without a position, without a time, blank lines
    assert.equal(shown, [
      [85, 83, 0, 1, 0, 0, 1, 1, 0, 0],
      [13, 7, 5, 0, 0, 1, 0, 0, 0, 0],
      [10, 1, 4, 0, 3, 2, 0, 0, 0, 0],
    ]);
    assert.is((await ingest(data, 'lasair', 'lasair.ndjson')).duplicate, 84, 'again: nothing new');

    for (const name of CATALOGS) await addCatalog(data, name);
    const listed = (await nearsky('catalog', 'list', '--data', data)) as unknown as Record<string, unknown>[];
    assert.equal(
      listed.map(({ name }) => name),
      [...CATALOGS],
    );
    const sky = await Sky.read();
    const objects = sampleObjects(FILES);
    const expected = objects.map(object => sky.crossmatch(object.position));
    const crossmatched = await nearsky('crossmatch', '--data', data);
    assert.is(crossmatched.recorded, objects.length);
    const count = (status: string) => expected.filter(one => one.status === status).length;
    assert.equal(crossmatched.statuses, {
      coincident_sources: count('coincident_sources'),
      no_coincident_source: count('no_coincident_source'),
      not_searched: count('not_searched'),
    });

    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    for (const [i, object] of objects.entries()) {
      const answer = await get(`${server.url}/api/objects/${object.id}`);
      assertAnswer(answer.results[0].objects[0], object, expected[i]!);
    }
    for (const refused of ['170028513894596704', '9000000000000000002', '9000000000000000007']) {
      const answer = await get(`${server.url}/api/objects/${refused}`);
      assert.is(summary(answer.results[0].objects[0]), `${refused} not_in_service`);
    }
    await assertCones(server.url, objects);
    await assertLateAlerts(server.url, data);
    assert.is((await server.stop()).code, 0);
  }));

async function assertCones(url: string, objects: readonly SampleObject[]): Promise<void> {
  const centres = objects.filter((object, i) => object.position && i % 3 === 0);
  for (const { position } of centres) {
    for (const radius of [0.1, 60]) {
      const { ra, dec } = position!;
      const within = objects.filter(
        ({ position: other }) => other && separationArcsec(ra, dec, other.ra, other.dec) <= radius,
      );
      const found = await walkCone(url, ra, dec, radius, 2);
      assert.equal(found.sort(), within.map(({ id }) => id).sort());
    }
  }
}

/** Alerts that another process ingests while this one serves: found by id and by position, pending, then crossmatched. */
async function assertLateAlerts(url: string, data: string): Promise<void> {
  const late = sampleObjects([['lasair', 'lasair-late.ndjson']]);
  const sky = await Sky.read();
  assert.is((await ingest(data, 'lasair', 'lasair-late.ndjson')).stored, late.length);
  for (const object of late) {
    const { ra, dec } = object.position!;
    const pending = await eventually(`${object.id} is found by position`, async () => {
      const cone = await get(`${url}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=0.01`);
      return cone.results[0].objects[0];
    });
    assert.is(summary(pending), `${object.id} crossmatch_pending`);
    assert.is(pending.crossmatch, null);
  }
  await nearsky('crossmatch', '--data', data);
  for (const object of late) {
    const answer = await get(`${url}/api/objects/${object.id}`);
    assertAnswer(answer.results[0].objects[0], object, sky.crossmatch(object.position));
  }
}

test('a catalog that cannot be read is skipped; one that comes later was not in service', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const copy = join(directory, 'catalogs');
    cpSync(join(sample, 'catalogs/des_y6_gold'), join(copy, 'des_y6_gold'), { recursive: true });
    await ingest(data, 'lasair', 'lasair.ndjson');
    await addCatalog(data, 'gaia_dr3');
    await addCatalog(data, 'des_y6_gold', copy);
    rmSync(join(copy, 'des_y6_gold/dataset'), { recursive: true });
    const { code, stderr } = await start(['crossmatch', '--data', data]).finished;
    assert.is(code, 1);
    assert.match(stderr, /des_y6_gold, needed for \d+ objects: Cannot read .*\n.*not all of des_y6_gold could be read/);
    await addCatalog(data, 'delve_dr3_gold');
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    const answer = await get(`${server.url}/api/objects/313637935709683761`);
    assert.equal(answer.results[0].objects[0].crossmatch.catalog_outcomes, {
      gaia_dr3: 'searched',
      des_y6_gold: 'skipped_read_failure',
      delve_dr3_gold: 'not_in_service_at_crossmatch',
      skymapper_dr4: 'not_in_service_at_crossmatch',
    });
    assert.is((await server.stop()).code, 0);
  }));

test('serve crossmatches in the background what comes in', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await addCatalog(data, 'gaia_dr3');
    const server = await startServer(['serve', '--data', data, '--port', '0']);
    await ingest(data, 'antares', 'antares.ndjson');
    const found = await eventually('the object is crossmatched', async () => {
      const answer = await get(`${server.url}/api/objects/9000000000000000004`);
      const object = answer.results[0].objects[0];
      return object.status === 'coincident_sources' ? object : undefined;
    });
    assert.is(found.matches[0].catalog_source_id, '3586362911238437248');
    assert.is((await server.stop()).code, 0);
  }));

test('a wrong command line exits with 2, a failure with 1, each with one line on standard error', async () => {
  for (const [code, ...args] of [
    [2, 'ingest', '--broker', 'nobody', 'x'],
    [2, 'serve', '--no-such-option'],
    [1, 'ingest', '--broker', 'lasair', '--data', '/dev/null', 'x'],
  ] as const) {
    const ended = await start(args).finished;
    assert.is(ended.code, code, args.join(' '));
    assert.is(ended.stdout, '');
    assert.is(ended.stderr.trim().split('\n').length, 1);
  }
});

const fullObstacle = process.platform === 'linux' ? undefined : 'only Linux has /dev/full';
const full = needs(test, isDeno ? 'Deno throws such an error where nothing can catch it' : fullObstacle);

full('a standard output that takes nothing is a failure with one line', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const { file, args, cwd, env } = checkout;
    for (const command of [
      ['lookup', '--format', 'csv', '313637935709683761'],
      ['stats', '--json'],
    ]) {
      const stdout = openSync('/dev/full', 'w');
      const ended = spawnSync(file, [...args, ...command, '--data', data], {
        cwd,
        env,
        encoding: 'utf8',
        stdio: ['ignore', stdout, 'pipe'],
      });
      closeSync(stdout);
      assert.equal(
        [ended.status, ended.stderr],
        [1, 'nearsky: cannot write to standard output: the disk is full (ENOSPC)\n'],
        command.join(' '),
      );
    }
  }),
);

test.run();
