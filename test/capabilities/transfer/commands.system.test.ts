/** `nearsky import` and `nearsky export` as processes: beside each other, beside a server, and killed. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findByName, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { eventually, get, nearsky, root, send, start, startServer, withDirectory } from '../../e2e/support.ts';
import { runtimeArgs } from '../../runtime.ts';
import { associationLine, matchLine, objectLine, recordLine, registryLine, snapshotLine } from './lines.ts';
import { exportLines, importFiles, readersSee, writeLines } from './support.ts';

const test = suite('import and export commands');

const OBJECTS = 6000;
const RECORD = recordLine('0');

/** The lines of one object: one in three is pending, and half have matches. */
function groupOf(i: number): string[] {
  const id = `${313_761_043_604_045_880n + BigInt(i)}`;
  const microseconds = String(i % 997).padStart(6, '0');
  const fields = {
    ra: (i * 0.61) % 360,
    dec: ((i * 0.37) % 180) - 90,
    ingest_time: `2026-10-07T09:15:00.${microseconds}+00:00`,
  };
  if (i % 3 === 0) return [objectLine(id, { ...fields, state: 'pending' })];
  const group = [objectLine(id, fields), RECORD.replace('"diaObjectId":"0"', `"diaObjectId":"${id}"`)];
  return i % 2 === 0 ? group : [...group, matchLine(id), associationLine(id)];
}

const groups = Array.from({ length: OBJECTS }, (_, i) => groupOf(i));
const registry = [snapshotLine(), ...Array.from({ length: 3000 }, (_, i) => registryLine(i, `2026x${i}`))];

test('import prints its counts and exits with 1 when a line is rejected; export writes to standard output', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const good = writeLines(directory, registry.slice(0, 3).concat(groups.slice(0, 6).flat()));
    const counts = await nearsky('import', '--data', data, good);
    assert.equal([counts.read, counts.rejected, counts.rejects_file], [3 + groups.slice(0, 6).flat().length, 0, null]);
    assert.equal((counts.types as Record<string, unknown>).tns_object, { imported: 2, unchanged: 0 });

    const bad = writeLines(directory, ['{"type":"object"}', ...groups[7]!]);
    const { code, stdout, stderr } = await start(['import', '--data', data, bad]).finished;
    assert.is(code, 1);
    assert.match(stderr, `${bad}:1: diaObjectId must be`);
    assert.match(stdout, /^object +1 imported$/m);
    assert.match(stdout, /^rejected +1, see .*\/rejected\/import-\d{4}-\d\d-\d\d\.ndjson$/m);

    const exported = await start(['export', '--data', data]).finished;
    assert.is(exported.code, 0, exported.stderr);
    assert.equal(exported.stdout.split('\n').slice(0, -1), await exportLines(data));
    const file = join(directory, 'all.ndjson.gz');
    assert.is((await nearsky('export', '--data', data, file)).object, 7);
    assert.is((await nearsky('import', '--data', join(directory, 'copy'), file)).rejected, 0);
    assert.equal(await exportLines(join(directory, 'copy')), await exportLines(data));
  }));

test('a command line that is wrong exits with 2, a file that is not there with 1', () =>
  withDirectory(async directory => {
    const codes: (number | null)[] = [];
    for (const args of [
      ['import'],
      ['export', 'a', 'b'],
      ['export', '--json'],
      ['import', join(directory, 'missing')],
    ]) {
      codes.push((await start([...args, '--data', join(directory, 'data')]).finished).code);
    }
    assert.equal(codes, [2, 2, 2, 1]);
  }));

test('import reads standard input', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const child = spawn(process.execPath, [...runtimeArgs, join(root, 'src/main.ts'), 'import', '--data', data, '-'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const ended = new Promise(resolve => child.on('close', resolve));
    for (const line of groups.slice(0, 20).flat()) child.stdin.write(`${line}\n`);
    child.stdin.end();
    assert.is(await ended, 0);
    assert.equal(await exportLines(data), groups.slice(0, 20).flat());
  }));

/** Killed before its first commit, an import leaves no data directory. */
function noDataYet(error: Error): string[] {
  if (/nothing is stored there yet|its creation was interrupted/.test(error.message)) return [];
  throw error;
}

test('killed at any moment, an import leaves whole objects, and running it again completes it', () =>
  withDirectory(async directory => {
    const file = writeLines(directory, [...registry, ...groups.flat()]);
    const whole = join(directory, 'whole');
    await importFiles(whole, file);
    const expected = await exportLines(whole);
    const groupsById = new Map(groups.map(group => [JSON.parse(group[0]!).diaObjectId as string, group]));

    const begun = performance.now();
    assert.is((await start(['import', '--data', join(directory, 'timed'), file]).finished).code, 0);
    const tookMs = performance.now() - begun;
    const data = join(directory, 'data');
    let killed = 0;
    for (let round = 0; round < 6; round++) {
      const { child, finished } = start(['import', '--data', data, file]);
      await sleep(tookMs * (0.4 + 0.1 * round));
      send(child, 'SIGKILL');
      if ((await finished).signal === 'SIGKILL') killed++;
      const lines = await exportLines(data).catch(noDataYet);
      const found = lines.filter(
        line => !line.includes('"type":"tns_snapshot"') && !line.includes('"type":"tns_object"'),
      );
      const ids = new Set(found.map(line => JSON.parse(line).diaObjectId as string));
      assert.equal(
        found,
        [...ids].flatMap(id => groupsById.get(id)!),
        'each object has all its lines or is absent',
      );
      if (lines.length > found.length)
        assert.equal(lines.slice(0, registry.length), registry, 'the registry is whole or absent');
    }
    assert.ok(killed > 0, 'a process was killed before it had ended');
    assert.is((await start(['import', '--data', data, file]).finished).code, 0);
    assert.equal(await exportLines(data), expected);
    assert.is(await readersSee(data, ['2026x1']), await readersSee(whole, ['2026x1']));
  }));

test('two imports at once, each with a part of the other, come to the same as one', () =>
  withDirectory(async directory => {
    const parts = [0, 1].map(part =>
      writeLines(
        directory,
        groups
          .slice(part * 2000, part * 2000 + 4000)
          .toReversed()
          .flat(),
      ),
    );
    const data = join(directory, 'data');
    const ended = await Promise.all(parts.map(file => start(['import', '--data', data, file]).finished));
    // Progress shows where it takes long.
    for (const { code, stderr } of ended) assert.match(`${code} ${stderr}`, /^0 (?:\d+ lines read, 0 rejected.*\n)*$/);
    assert.equal(await exportLines(data), groups.flat());
    const store = openStore(data, 'read');
    const stored = store.journalAfter(0).flatMap(entry => entry.stored.map(String));
    await store.close();
    assert.is(stored.length, OBJECTS, 'the journal names each object once');
    assert.is(new Set(stored).size, OBJECTS);
  }));

test('a reader sees the registry before or after a load of another process, never a mix', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const loadOf = (n: number) => [
      snapshotLine(`2026-10-07T0${n}:00:00.000000+00:00`),
      ...Array.from({ length: 3000 }, (_, i) => registryLine(i, `2026x${i}`, { ra: n })),
    ];
    await importFiles(data, writeLines(directory, loadOf(0)));
    const running = start(['import', '--data', data, writeLines(directory, loadOf(1))]);
    let done = false;
    void running.finished.then(() => {
      done = true;
    });
    const store = openStore(data, 'read');
    const seen = new Set<string>();
    for (let last = false; !last; ) {
      last = done;
      store.resetRead();
      const epochUs = readRegistryEpochUs(store.databases)!;
      const hour = (epochUs - Date.UTC(2026, 9, 7) * 1000) / 3_600_000_000;
      const found = ['2026x0', '2026x1500', '2026x2999'].map(name => findByName(store.databases, name)?.ra);
      seen.add(JSON.stringify([hour, ...found]));
      await sleep(1);
    }
    await store.close();
    assert.is((await running.finished).code, 0);
    assert.equal([...seen], ['[0,0,0,0]', '[1,1,1,1]']);
  }));

test('a running server finds what is imported beside it', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    const file = writeLines(directory, [...groups[1]!, ...groups[3]!]);
    assert.is((await nearsky('import', '--data', data, file)).rejected, 0);
    const { ra, dec, diaObjectId } = JSON.parse(groups[1]![0]!);
    const { results } = await get(`${server.url}/api/objects/${diaObjectId}?detail=full`);
    const [object] = results[0].objects;
    assert.equal(
      [object.diaObjectId_str, object.status, object.crossmatch.provenance],
      [diaObjectId, 'coincident_sources', 'recorded'],
    );
    assert.equal([object.matches[0].catalog_payload.parallax, object.tns.name], [1.5, '2026abc']);
    const found = await eventually('the cone finds it', async () => {
      const page = await get(`${server.url}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1`);
      return page.results[0].objects[0];
    });
    assert.is(found.diaObjectId_str, diaObjectId);
    await server.stop();
  }));

test('an empty export is an empty file, and importing it is no error', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const empty = join(directory, 'empty');
    writeFileSync(empty, '');
    await importFiles(data, empty);
    const file = join(directory, 'out');
    await nearsky('export', '--data', data, file);
    assert.is(readFileSync(file, 'utf8'), '');
  }));

test.run();
