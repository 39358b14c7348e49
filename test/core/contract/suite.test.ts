/** The contract suite, over HTTP, against this service in the process of the test. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { API } from '../../capabilities.ts';
import { withDirectory } from '../../directory.ts';
import { TestApp } from '../http/support.ts';
import { withServer } from '../server/support.ts';
import { storeLines } from '../store/store_lines.ts';
import { hold, snapshotOf } from './hold.ts';
import type { Check } from './suite/check.ts';
import { WORLD_FILE, worldText } from './suite/make_world.ts';
import { CHECKS, CHECKS_WITHOUT_REGISTRY } from './suite/suite.ts';
import { worldLines } from './suite/world.ts';

const test = suite('contract/suite');

function held(checks: readonly Check[], registryAgeSeconds: number): Promise<void> {
  return withDirectory(async directory => {
    const data = join(directory, 'data');
    await storeLines(data, [...worldLines(), snapshotOf(registryAgeSeconds)]);
    // The limits that the contract names.
    const testApp = await new TestApp(data, { API_REQUEST_BUDGET_SECONDS: '5' }).ready();
    const { app, config } = testApp;
    try {
      const answer: typeof app.answer = (request, peer) => app.answer(request, peer);
      await withServer(
        answer,
        ({ port }) => hold(`http://127.0.0.1:${port}`, checks),
        {},
        { bodies: API.bodies(config) },
      );
    } finally {
      await app.close();
    }
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

test('the service holds every check [Status and descriptions]', () => held(CHECKS, 0));

test('with a registry that is too old, it holds those for that', () => held(CHECKS_WITHOUT_REGISTRY, 3 * 3600));

test.run();
