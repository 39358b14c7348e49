/** The contract suite, over HTTP, against this service: a process of its own that has imported the suite's world. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky, startServer, withDirectory } from '../e2e/support.ts';
import type { Check } from './suite/check.ts';
import { WORLD_FILE, worldText } from './suite/make_world.ts';
import { CHECKS, CHECKS_WITHOUT_REGISTRY, runChecks } from './suite/suite.ts';
import { snapshotLine } from './suite/world.ts';
import { assertDocumented } from './validate.ts';

const test = suite('contract/suite');

/** The status, headers and body of every answer are as documented. */
const DOCUMENTED: Check = {
  name: 'every answer is documented',
  run: async ({ seen }) => {
    assert.ok(seen.length > 0);
    for (const { method, path, status, headers, text } of seen)
      assertDocumented({ method, url: `http://nearsky.test${path}` }, { status, headers }, text);
  },
};

/** Checks a service that has the world against the contract, and against its document. */
function hold(ofContract: readonly Check[], registryAgeSeconds: number): Promise<void> {
  const checks = [...ofContract, DOCUMENTED];
  return withDirectory(async directory => {
    const data = join(directory, 'data');
    const snapshot = join(directory, 'snapshot.ndjson');
    writeFileSync(snapshot, snapshotLine((Date.now() - registryAgeSeconds * 1000) * 1000));
    await nearsky('import', '--data', data, WORLD_FILE, snapshot);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch', '--workers', '1']);
    const failures: string[] = [];
    let run = 0;
    for await (const { name, failure } of runChecks(server.url, checks)) {
      run++;
      if (failure !== undefined) failures.push(`${name}\n${failure}`);
    }
    assert.is(failures.join('\n\n'), '', `${failures.length} of ${run} checks failed`);
    assert.is(run, checks.length);
    assert.is((await server.stop()).code, 0);
  });
}

test('the world is as its script writes it, and small', () => {
  assert.is(readFileSync(WORLD_FILE, 'utf8'), worldText());
  assert.ok(statSync(WORLD_FILE).size < 300_000);
});

test('every check has a name of its own', () => {
  const names = [...CHECKS, ...CHECKS_WITHOUT_REGISTRY].map(({ name }) => name);
  assert.is(
    new Set(names).size,
    CHECKS.length + CHECKS_WITHOUT_REGISTRY.filter(check => !CHECKS.includes(check)).length,
  );
});

test('the service holds every check', () => hold(CHECKS, 0));

test('with a registry that is too old, it holds those for that', () => hold(CHECKS_WITHOUT_REGISTRY, 3 * 3600));

test('a service without the world fails', () =>
  withDirectory(async data => {
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    let failed = 0;
    for await (const { failure } of runChecks(server.url, CHECKS)) if (failure !== undefined) failed++;
    assert.ok(failed > CHECKS.length / 3, `${failed} of ${CHECKS.length}`);
    await server.stop();
  }));

test.run();
