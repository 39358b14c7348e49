/** `nearsky tns load` beside a server. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky } from '../../commands/in_process.ts';
import { get, startServer, withDirectory } from '../../e2e/support.ts';
import { csvOf, someRecords } from './support.ts';

const test = suite('tns/load beside a server');

test('a server resolves names by the new registry at once, bare or prefixed, while it is current', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const server = await startServer(['serve', '--data', data, '--port', '0']);
    const file = join(directory, 'a.csv');
    const statusOf = async (name: string) => (await get(`${server.url}/api/tns/${name}`)).results[0].status;
    writeFileSync(file, csvOf(undefined, someRecords(3)));
    assert.is(await statusOf('2026xyz'), 'resolver_unavailable');
    const { name } = someRecords(1)[0]!;
    const load = (epochMs: number) =>
      nearsky('tns', 'load', file, '--data', data, '--epoch', new Date(epochMs).toISOString());
    assert.is((await load(Date.now() - 3_600_000)).current, true);
    assert.equal(
      await Promise.all([name, `SN${name}`, `at%20${name}`].map(statusOf)),
      Array(3).fill('no_rubin_object'),
    );
    assert.is(await statusOf('2026xyz'), 'tns_name_not_found');
    assert.is((await get(`${server.url}/api/status`)).tns_resolution, 'available');
    assert.is((await load(Date.now() - 3 * 3_600_000)).current, false);
    assert.is(await statusOf(name), 'resolver_unavailable');
    assert.is((await server.stop()).code, 0);
  }));

test.run();
