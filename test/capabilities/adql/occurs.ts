import * as assert from 'uvu/assert';
import { everyResource, expectStatus, inWorld, send, test } from '../../core/contract/occurring.ts';
import { eventually } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

/** More rows than the answer may have. */
const CUT = { QUERY: 'SELECT ra FROM objects', MAXREC: '1' };

needs(test, duckdbObstacle())('queries, at once and as jobs [Status and descriptions]', () =>
  inWorld(60, {}, async app => {
    const query = { LANG: 'ADQL', QUERY: 'SELECT TOP 1 diaObjectId, ra FROM objects', FORMAT: 'json' };
    const sync = '/vo/tap/sync';
    await eventually('the tables are made', async () => (await send(app, sync, query)).status === 200 || undefined);
    for (const top of ['TOP 1', ''])
      await expectStatus(
        app,
        200,
        `${sync}?${new URLSearchParams({ ...query, QUERY: `SELECT ${top} ra FROM objects`, MAXREC: '1' })}`,
      );
    for (const format of ['votable', 'csv', 'tsv', 'fits', 'parquet', 'arrow', 'ndjson'])
      await expectStatus(app, 200, `${sync}?${new URLSearchParams({ ...query, FORMAT: format })}`);
    await expectStatus(app, 400, `${sync}?LANG=x`);
    assert.is((await send(app, sync, { ...query, ...CUT })).status, 200);
    assert.is((await send(app, sync, { LANG: 'x' })).status, 400);
    assert.is((await app.get(sync, { method: 'PUT' })).status, 405);
    const documents = ['capabilities', 'availability', 'tables', 'tables/nearsky.objects', 'examples'];
    for (const name of documents) {
      await expectStatus(app, 200, `/vo/tap/${name}`);
      await expectStatus(app, 404, '/vo/tap/tables/none');
      assert.is((await app.get(`/vo/tap/${name}`, { method: 'PUT' })).status, 405);
    }
    const make = async (more = {}) => {
      const made = await send(app, '/vo/tap/async', { ...query, ...more });
      assert.is(made.status, 303, made.text);
      return new URL(made.headers.get('Location')!).pathname;
    };
    const job = await make({ PHASE: 'RUN' });
    await everyResource(app, job);
    await everyResource(app, await make({ PHASE: 'RUN', ...CUT }));
    const [waiting, wrong] = [await make(), await make({ QUERY: 'x', PHASE: 'RUN' })];
    assert.is((await send(app, `${waiting}/parameters`, { MAXREC: '7' })).status, 303);
    assert.is((await send(app, `${waiting}/executionduration`, { EXECUTIONDURATION: '60' })).status, 303);
    assert.is((await send(app, `${await make()}/phase`, { PHASE: 'ABORT' })).status, 303);
    await expectStatus(app, 200, '/vo/tap');
    assert.is((await app.get('/vo/tap', { method: 'PUT' })).status, 405);
    assert.is((await app.get(`${waiting}/parameters`, { method: 'POST' })).status, 400);
    assert.is((await send(app, '/vo/tap/async/none/parameters', {})).status, 404);
    await eventually('it fails', async () => (await app.get(`${wrong}/phase`)).text === 'ERROR' || undefined);
    await expectStatus(app, 200, `${wrong}/error`, '/vo/tap/async');
    await expectStatus(app, 400, '/vo/tap/async?LAST=0');
    assert.is((await send(app, '/vo/tap/async', { ...query, PHASE: 'STOP' })).status, 400);
    assert.is((await app.get('/vo/tap/async', { method: 'PUT' })).status, 405);
    assert.is((await send(app, job, { ACTION: 'DELETE' })).status, 303);
    assert.is((await app.get(waiting, { method: 'DELETE' })).status, 303);
  }),
);
