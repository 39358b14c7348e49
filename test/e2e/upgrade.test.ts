/** Data directories that the first release wrote (test/fixtures/formats/make.sh) are read by this one: export, crossmatch, serve. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Sky, sampleObjects } from './expected.ts';
import { CATALOGS, get, nearsky, root, sample, start, startServer, withDirectory } from './support.ts';

const fixture = (name: string) => gunzipSync(readFileSync(join(root, 'test/fixtures/formats', `${name}.gz`)));
/** The export that the first release wrote; in format 1 there was no registry. */
const written = fixture('export.ndjson').toString();
const EXPORTED = { 1: written.replace(/^\{"type":"tns_[so].*\n/gm, ''), 2: written };
const lines = written
  .trim()
  .split('\n')
  .map(line => JSON.parse(line));
const ids: readonly string[] = lines.filter(({ type }) => type === 'object').map(({ diaObjectId }) => diaObjectId);
/** The objects of the fixtures that were ingested after their crossmatch. */
const late = sampleObjects([['lasair', 'lasair-late.ndjson']]);

function writeDirectory(directory: string, format: 1 | 2): string {
  mkdirSync(directory);
  writeFileSync(join(directory, 'nearsky.mdb'), fixture(`format-${format}.mdb`));
  return directory;
}

const exported = async (data: string) => (await start(['export', '--data', data]).finished).stdout;
const serve = (data: string) => startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);

/** Requests for the days until this time of which something was matched. */
function windows(field: 'ingest_time' | 'event_time'): string[] {
  const matched = new Set(lines.filter(({ type }) => type === 'match').map(({ diaObjectId }) => diaObjectId));
  const objects = lines.filter(({ type, diaObjectId }) => type === 'object' && matched.has(diaObjectId));
  return [...new Set(objects.map(object => object[field].slice(0, 10)))].map(day => {
    const window = `start=${day}T00:00:00Z&end=${day}T23:59:59.999999Z`;
    return `/api/recent-crossmatches?${window}&time_field=${field}&detail=full`;
  });
}

/** All requests about the objects: by id, by position, by time. */
async function answers(url: string): Promise<string[]> {
  const positions = lines.filter(({ type, ra }) => type === 'object' && ra !== null);
  const paths = [
    ...ids.map(id => `/api/objects/${id}?detail=full`),
    ...positions.map(({ ra, dec }) => `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=60`),
    ...windows('ingest_time'),
    ...windows('event_time'),
  ];
  const bodies: string[] = [];
  for (const path of paths) {
    const answer = await request(url + path);
    const body = await answer.body.text();
    bodies.push(`${path} ${answer.statusCode} ${body.replace(/("(as_of|next_cursor)": )"[^"]*"/g, '$1""')}`);
  }
  return bodies;
}

const test = suite('e2e/upgrade');

for (const format of [1, 2] as const) {
  test(`format ${format} exports what the first release exported of it, once a command has upgraded it`, () =>
    withDirectory(async directory => {
      const data = writeDirectory(join(directory, 'data'), format);
      const refused = await start(['export', '--data', data]).finished;
      assert.is(refused.code, 1);
      const command = /run `nearsky (.*)` once\n$/.exec(refused.stderr)![1]!.split(' ');
      assert.is(command[0], 'upgrade');
      const upgraded = await start(command).finished;
      assert.equal([upgraded.code, upgraded.stderr], [0, '']);
      assert.match(upgraded.stdout, new RegExp(`data was upgraded from format ${format} to \\d+\n$`));
      assert.is(await exported(data), EXPORTED[format]);
      const again = await start([...command, '--json']).finished;
      const { format_before: before, format: after } = JSON.parse(again.stdout);
      assert.equal([again.code, before], [0, after]);
      const none = await start(['upgrade', '--data', join(directory, 'none')]).finished;
      assert.equal([none.code, /nothing is stored there yet/.test(none.stderr)], [1, true]);
    }));
}

test('served, the old directories answer as one that was filled anew with the export', () =>
  withDirectory(async directory => {
    const lineFile = join(directory, 'export.ndjson');
    writeFileSync(lineFile, written);
    const anew = join(directory, 'anew');
    await nearsky('import', lineFile, '--data', anew);
    const reference = await serve(anew);
    const expected = await answers(reference.url);
    await reference.stop();
    assert.ok(expected.every(answer => / 200 \{/.test(answer)));
    for (const format of [1, 2] as const) {
      const data = writeDirectory(join(directory, `format-${format}`), format);
      const old = await serve(data);
      assert.equal(await answers(old.url), expected);
      await assertCrossmatches(old.url, data);
      assert.is((await old.stop()).code, 0);
    }
  }));

/** The pending objects of the directory are crossmatched beside the server, with the sample's catalogs where they lie now. */
async function assertCrossmatches(url: string, data: string): Promise<void> {
  for (const name of CATALOGS) await nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', data);
  assert.is((await nearsky('crossmatch', '--data', data)).recorded, late.length);
  const sky = await Sky.read();
  for (const { id, position } of late) {
    const [object] = (await get(`${url}/api/objects/${id}`)).results[0].objects;
    const { status, outcomes } = sky.crossmatch(position);
    assert.equal([object.status, object.crossmatch.catalog_outcomes], [status, outcomes], id);
  }
}

test.run();
