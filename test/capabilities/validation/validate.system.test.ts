/** `nearsky validate`, and a service that makes the validation by itself. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, nearsky, sample, start, startServer, withDirectory } from '../../e2e/support.ts';

const test = suite('validation/validate');

// biome-ignore lint/suspicious/noExplicitAny: any key of an answer
type Json = any;

const get = async (url: string): Promise<Json> => (await fetch(`${url}/api/validation`)).json();

test('by the command, by the service, and after a restart', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    await nearsky('catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'), '--data', data);
    await nearsky('tns', 'load', join(sample, 'tns/tns_public_objects.csv'), '--data', data);
    const serve = ['serve', '--data', data, '--port', '0', '--no-crossmatch', '--no-refresh'];
    const asks = await startServer(serve);
    assert.equal(await get(asks.url), { status: 'not_made', refresh_hours: null, validation: null });
    const remote = await start(['validate', '--url', asks.url]).finished;
    assert.equal([remote.code, remote.stdout], [0, 'The service has no validation yet.\n'], remote.stderr);
    const made: Json = await nearsky('validate', '--data', data);
    assert.is(made.registry.groups[0].group, 'supernova');
    const [ia] = made.registry.groups[0].classes;
    assert.equal([ia.classification, ia.catalogs.gaia_dr3.searched > 0], ['SN Ia', true]);
    // The running service answers with it.
    assert.equal((await get(asks.url)).validation, made);
    const shown = await start(['validate', '--url', asks.url]).finished;
    assert.match(shown.stdout, /\nsupernova +\d+\n +gaia_dr3 +\d+ of \d+ searched have a source/);
    await asks.stop();
    const makes = await startServer(serve, { NEARSKY_VALIDATION_HOURS: '1' });
    // It is younger than an hour, so it is kept.
    assert.equal(await get(makes.url), { status: 'made', refresh_hours: 1, validation: made });
    await makes.stop();
    const other = join(directory, 'other');
    await nearsky('ingest', '--broker', 'lasair', '--data', other, join(sample, 'alerts/lasair.ndjson'));
    const empty = await startServer(
      serve.map(argument => (argument === data ? other : argument)),
      { NEARSKY_VALIDATION_HOURS: '1' },
    );
    const { validation } = await eventually('the validation is made', async () => {
      const answer = await get(empty.url);
      return answer.status === 'made' ? answer : undefined;
    });
    assert.equal([validation.registry.epoch, validation.calibration.catalogs], [null, {}]);
    await empty.stop();
    const { code } = await start(['validate', 'more', '--data', data]).finished;
    assert.is(code, 2);
  }));

test.run();
