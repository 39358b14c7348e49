/** The contract suite, over HTTP, against this service as a process that has the suite's world. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startServer, withDirectory } from '../../e2e/support.ts';
import { storeLines } from '../store/store_lines.ts';
import { hold, snapshotOf } from './hold.ts';
import { CHECKS, runChecks } from './suite/suite.ts';
import { worldLines } from './suite/world.ts';

const test = suite('contract/suite');

test('the service holds every check [Status and descriptions]', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await storeLines(data, [...worldLines(), snapshotOf(0)]);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch', '--workers', '1']);
    await hold(server.url, CHECKS);
    assert.is((await server.stop()).code, 0);
  }));

test('a service without the world fails', () =>
  withDirectory(async data => {
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    let failed = 0;
    for await (const { failure } of runChecks(server.url, CHECKS)) if (failure !== undefined) failed++;
    assert.ok(failed > CHECKS.length / 3, `${failed} of ${CHECKS.length}`);
    await server.stop();
  }));

test.run();
