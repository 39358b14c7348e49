/**
 * `nearsky lookup` and `nearsky cone`, over a data directory and over a service: both give the API's answers. Some run
 * as processes, most in this one.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/core/store/store.ts';
import { damage } from '../core/store/support.ts';
import { checkout, environment, root, sample, start, startServer, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { nearsky, start as startHere } from './in_process.ts';

const test = suite('commands/ask');
const IDS = ['313637935709683761', '169579900785655908', '9223372036854775807'];
const PLACE = ['61.62227592104076', '-49.29512529953388', '60'];

const run = (...args: readonly string[]) => startHere(args).finished;

test('ids, names and files, in the formats of answers; the directory and the service say the same', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch', '--no-refresh']);
    const file = join(directory, 'ids.txt');
    writeFileSync(file, `${IDS.slice(1).join('\n\n')}\r\n`);
    for (const name of ['json', 'csv', 'parquet']) {
      const answers = [];
      for (const where of [
        ['--data', data],
        ['--url', server.url],
      ]) {
        const asked = ['lookup', ...where, '--format', name, '--detail', 'ids', IDS[0]!, file];
        const found = await start(asked).finished;
        assert.equal([found.code, found.stderr], [0, ''], name);
        const cone = await run('cone', ...where, '--format', name, '--detail', 'ids', ...PLACE);
        assert.equal([cone.code, cone.stderr], [0, ''], name);
        // The time of the answer differs.
        answers.push(
          [found.stdout, cone.stdout].map(text => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?/g, '')),
        );
      }
      if (name !== 'parquet') {
        assert.equal(answers[0], answers[1], name);
        for (const id of IDS) assert.ok(answers[0]![0]!.includes(id), `${id} as ${name}`);
        assert.ok(answers[0]![1]!.includes(IDS[0]!), name);
      }
      assert.ok(
        answers.flat().every(text => text.length > 20),
        name,
      );
    }
    const near = async (...place: string[]) => {
      const { stdout } = await run('cone', '--data', data, '--format', 'csv', '--detail', 'ids', ...place);
      return stdout.split('\n').map(line => line.split(',')[0]);
    };
    const found = await near(...PLACE);
    assert.equal(found, ['diaObjectId', IDS[0], '']);
    for (const place of [
      ['04:06:29.35', '-49:17:42.5', '60'],
      ['04h06m29.35s', '−49°17′42.5″', '60'],
      ['--', ...PLACE],
    ])
      assert.equal(await near(...place), found, place.join(' '));
    const parts = await start(['lookup', '--data', data, '--format', 'csv', ...IDS], { API_MAX_IDS: '1' }).finished;
    const lines = parts.stdout.trimEnd().split('\n');
    assert.is(lines.length, 1 + IDS.length, 'one line of names, whatever the number of requests');
    const both = ['SN 2099zzz', IDS[0]!, '2099zzy', IDS[1]!];
    const ofBoth = await start(['lookup', '--data', data, '--format', 'ndjson', ...both], { API_MAX_POSITIONS: '1' })
      .finished;
    assert.equal([ofBoth.code, ofBoth.stderr, ofBoth.stdout.trimEnd().split('\n').length], [0, '', both.length]);
    const names = ['SN 2099zzz', 'FRB 20990101A', ' at  2099zzz'];
    const named = JSON.parse((await run('lookup', '--data', data, ...names)).stdout).results;
    for (const { kind, status } of named) assert.equal([kind, status], ['tns', 'resolver_unavailable']);
    assert.is(named.length, names.length, 'a name is asked for as one');
    const tooMany = await start(['lookup', '--data', data, ...IDS], { API_MAX_IDS: '1' }).finished;
    assert.equal(
      [
        tooMany.code,
        /3 inputs exceed the limit of one answer \(1 ids, API_MAX_IDS, and 200 names/.test(tooMany.stderr),
      ],
      [2, true],
    );
    await server.stop();
  }));

test('a table for people: an object in a line, its sources nearest first, names, and what is not there', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    await nearsky('catalog', 'add', '--data', data, 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
    await nearsky('catalog', 'add', '--data', data, 'des_y6_gold', join(sample, 'catalogs/des_y6_gold'));
    await nearsky('crossmatch', '--data', data);
    const json = JSON.parse(
      (await run('lookup', '--data', data, ...IDS)).stdout.replace(/"(diaObjectId|input)": \d+/g, '"$1": 0'),
    );
    const [known] = json.results[0].objects;
    const found = await run('lookup', '--data', data, '--format', 'table', ...IDS, 'SN 2099zzz');
    assert.equal([found.code, found.stderr], [0, '']);
    for (const line of found.stdout.split('\n')) assert.ok(line.length <= 100, line);
    const lines = found.stdout.trimEnd().split('\n');
    assert.match(lines[0]!, /^diaObjectId +RA +Dec +status +source in +arcsec$/);
    const nearest = known.matches.toSorted(
      (a: { separation_arcsec: number }, b: { separation_arcsec: number }) => a.separation_arcsec - b.separation_arcsec,
    );
    assert.ok(nearest.length > 1, 'several sources');
    const words = lines.map(line => line.trim().split(/ {2,}/));
    assert.equal(words[1], [
      IDS[0],
      known.ra.toFixed(6),
      known.dec.toFixed(6),
      'coincident_sources',
      nearest[0].catalog_name,
      nearest[0].separation_arcsec.toFixed(2),
    ]);
    assert.equal(words[2], [nearest[1].catalog_name, nearest[1].separation_arcsec.toFixed(2)]);
    assert.equal(words.at(-2), [IDS[2], 'not_in_service']);
    assert.equal(words.at(-1), ['SN 2099zzz', 'resolver_unavailable']);
    const cone = await start(['cone', '--data', data, '--format', 'table', '221.596', '-40.0', '60'], {
      API_MAX_OBJECTS_PER_REQUEST: '2',
    }).finished;
    assert.equal([cone.code, cone.stderr], [0, '']);
    const csv = await run('cone', '--data', data, '--format', 'csv', '--detail', 'ids', '221.596', '-40.0', '60');
    const ids = csv.stdout
      .trim()
      .split('\n')
      .slice(1)
      .map(line => line.split(',')[0]);
    assert.equal(
      [...cone.stdout.matchAll(/^\d{15,}/gm)].map(([id]) => id),
      ids,
    );
    assert.match(cone.stdout, new RegExp(`\n${ids.length} objects\n`));
  }));

const script = needs(test, existsSync('/usr/bin/script') ? undefined : 'there is no script(1), which makes a terminal');

script('at a terminal it is the table, unless --json or a format is given', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const { file, args } = checkout;
    const atTerminal = (...more: string[]) => {
      const line = [file, ...args, 'lookup', '--data', data, IDS[0]!, ...more].map(each => `'${each}'`).join(' ');
      const options = { encoding: 'utf8' as const, env: environment, cwd: root };
      return spawnSync('/usr/bin/script', ['-qec', line, '/dev/null'], options).stdout.replaceAll('\r', '');
    };
    assert.match(
      atTerminal(),
      /^diaObjectId +RA +Dec .*\n313637935709683761 +61\.622276 +-49\.295125 +crossmatch_pending\n$/,
    );
    assert.match(atTerminal('--json'), /^\{"provenance"/);
    assert.match(atTerminal('--format', 'csv'), /^input_index,/);
  }),
);

test('what is wrong is said in the words of the API, or of the system', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const none = await run('cone', '--data', data, '1', '1', '1');
    assert.equal([none.code, /nothing is stored there yet/.test(none.stderr)], [1, true]);
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const wrong: [string[], number, RegExp][] = [
      [['cone', '--data', data, '400', '0', '1'], 2, /ra.* must be at most 360 \(400 was given\)/],
      [['cone', '--data', data, '1:2:3', 'b', '1'], 2, /ra must be .* \(1:2:3 was given\)/],
      [['cone', '--data', data, '1', '2'], 2, /cone takes RA, DEC and RADIUS/],
      [['cone', '--data', data, '--format', 'xls', '1', '2', '1'], 2, /xls/],
      [['lookup', '--data', data], 2, /no id, name, position or file given/],
      [
        ['lookup', '--data', data, 'no-such-file.txt'],
        2,
        /no-such-file\.txt is not a diaObjectId, a TNS name, a position or an existing file/,
      ],
      [['lookup', '--data', data, 'SNX2026abc'], 2, /SNX2026abc is not a diaObjectId/],
      [['lookup', '--url', 'ftp://x', '1'], 2, /--url must be an http or https address/],
      [
        ['lookup', '--url', 'http://127.0.0.1:9', '1'],
        1,
        /Cannot reach http:\/\/127\.0\.0\.1:9 because .*: is a service running there\?/,
      ],
    ];
    for (const [args, code, text] of wrong) {
      const finished = await run(...args);
      assert.equal([finished.code, finished.stdout], [code, ''], args.join(' '));
      assert.match(finished.stderr, text);
    }
  }));

test('a line of a file that is neither an id nor a name has its own status, and the others are answered', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const lines = ['SNX2026abc', IDS[0]!, '9'.repeat(23)];
    const file = join(directory, 'mixed.txt');
    writeFileSync(file, lines.join('\n'));
    const words = async (format: string) => {
      const found = await run('lookup', '--data', data, '--format', format, '--detail', 'ids', file);
      assert.equal([found.code, found.stderr], [0, ''], format);
      return found.stdout;
    };
    const { results } = JSON.parse(await words('json'));
    const statuses = ['invalid_input', 'crossmatch_pending', 'invalid_input'];
    assert.equal(
      results.map(({ status }: { status: string }) => status),
      statuses,
    );
    const rows = (await words('table')).trimEnd().split('\n').slice(1);
    assert.equal(
      rows.map(row => row.trim().split(/ {2,}/)),
      lines.map((line, i) => [line, statuses[i]]),
    );
  }));

test('a pasted list: names with their positions, in one request, with their sources', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    await nearsky('catalog', 'add', '--data', data, 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
    const file = join(directory, 'list.txt');
    writeFileSync(file, `# mine\nSN 2026ubc 04:06:29.35 -49:17:42.5 5"\nhello\n${IDS[0]} ${IDS[1]}\n`);
    const json = JSON.parse((await run('lookup', '--data', data, '--detail', 'ids', file)).stdout);
    assert.equal(
      json.results.map(({ kind, status }: Record<string, unknown>) => [kind, status]),
      [
        ['position', 'objects_found'],
        ['tns', 'invalid_input'],
        ['id', 'crossmatch_pending'],
        ['id', 'crossmatch_pending'],
      ],
    );
    assert.is(json.results[0].normalized.radius_arcsec, 5);
    const { stdout } = await run(
      'lookup',
      '--data',
      data,
      '--format',
      'table',
      '--radius',
      '2',
      '61.62059851718 -49.29666528056',
    );
    assert.match(stdout, /^61\.62059851718 -49\.29666528056 +no_rubin_object$/m);
    assert.match(stdout, /: 1 catalog source within 2 arcsec\nsearched: gaia_dr3\n/);
  }));

test('positions that are damaged: an error, not an endless wait for the index', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const store = openStore(data, 'read');
    const [positions] = store.databases.positions.getRange({ limit: 1 });
    const bytes = Buffer.from(positions!.value);
    await store.close();
    damage(data, bytes, 0);
    const { code, stdout, stderr } = await start(['cone', '--data', data, ...PLACE]).finished;
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, /nearsky cone: Cannot read .* of positions because its bytes have changed/);
  }));

test.run();
