/** Tables as jobs. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JobStore } from '../../../src/capabilities/jobs/job_store.ts';
import { eventually, startApp, TestApp } from '../../core/http/support.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/jobs');

test('a table as a job, from the request to its end [Crossmatch of a table]', () =>
  inWorld(async world => {
    await world.ingest([{ ra: 10, dec: -30 }]);
    const app = new TestApp(join(world.directory, 'data'), { JOBS_MAX: '3' });
    try {
      await app.ready();
      const table = 'name,ra,dec\na,10,-30\nb,10,-31\n';
      const begin = async (body: string, search = '') => {
        const headers = { Prefer: 'wait=5, respond-async' };
        const answer = await app.get(`/api/crossmatch${search}`, { method: 'POST', body, headers });
        assert.is(answer.status, 202, answer.text);
        return new URL(answer.headers.get('Location')!).pathname;
      };
      const text = async (path: string) => (await app.get(path)).text;
      const over = (job: string) =>
        eventually('the job is over', async () => {
          const phase = await text(`${job}/phase`);
          return ['QUEUED', 'EXECUTING', 'PENDING'].includes(phase) ? undefined : phase;
        });
      const form = (path: string, body: string) => app.get(path, { method: 'POST', body });
      const job = await begin(table, '?radius_arcsec=2');
      assert.match(job, /^\/vo\/jobs\/[0-9a-f]{40}$/);
      assert.match(await text(`${job}?WAIT=45&PHASE=QUEUED`), /<uws:phase>(?:EXECUTING|COMPLETED)</);
      assert.is(await over(job), 'COMPLETED');
      const document = await text(job);
      assert.match(document, `xlink:href="http://nearsky.test${job}/results/result" mime-type="text/csv"`);
      assert.match(document, '<uws:parameter id="radius_arcsec">2</uws:parameter>');
      assert.match(await text(`${job}/results`), '<uws:result id="result"');
      const result = await app.get(`${job}/results/result`);
      const direct = await app.post('/api/crossmatch?radius_arcsec=2', table, null);
      assert.is(result.text, direct.text);
      for (const name of ['Content-Type', 'X-Row-Count', 'X-Match-Count', 'X-Position-Columns'])
        assert.is(result.headers.get(name), direct.headers.get(name), name);
      assert.not.match(await text('/vo/jobs'), job.slice(-40));
      const refused = await begin('x,y\n1,2\n');
      assert.is(await over(refused), 'ERROR');
      assert.match(await text(`${refused}/error`), /its columns are x, y/);
      assert.match(await text(refused), /<uws:errorSummary type="fatal"/);
      const past = await form(`${refused}/phase`, 'PHASE=ABORT');
      assert.is(past.status, 400);
      assert.match(past.text, 'Cannot change this part of a job that is ERROR: send a new job');
      assert.is((await form(`${job}/executionduration`, 'EXECUTIONDURATION=60')).status, 400);
      assert.is((await form(`${refused}/phase`, 'PHASE=SLEEP')).status, 400);
      assert.is((await form(`${job}/destruction`, 'DESTRUCTION=2020-01-01T00:00:00Z')).status, 303);
      assert.match(await text(`${job}/destruction`), /^2020-01-01/);
      assert.is((await form(refused, 'ACTION=DELETE')).status, 303);
      assert.is((await app.get(refused)).status, 404);
      for (const path of ['results/other', 'nothing', 'results/result/x'])
        assert.is((await app.get(`${job}/${path}`)).status, 404, path);
      const headers = { Prefer: 'respond-async' };
      assert.is((await app.get('/api/crossmatch', { method: 'POST', body: '', headers })).status, 400);
      const kept = await begin(table);
      await over(kept);
      assert.is((await app.get(kept, { method: 'DELETE' })).status, 303);
      assert.is((await app.get(`/vo/jobs/${'0'.repeat(40)}`)).status, 404);
      assert.is((await app.get('/vo/jobs', { method: 'POST', body: '' })).status, 405);
    } finally {
      await app.app.close();
    }
  }));

test('a table that does not arrive takes no place of a job', () =>
  inWorld(async world => {
    await world.ingest([{ ra: 10, dec: -30 }]);
    const app = new TestApp(join(world.directory, 'data'), { JOBS_MAX: '1', JOBS_MAX_PER_CLIENT: '1' });
    try {
      await app.ready();
      const headers = { Prefer: 'respond-async' };
      const begin = (body: RequestInit['body'] & {}, options = {}) =>
        app.get('/api/crossmatch', { method: 'POST', body, headers, ...options });
      let end = () => {};
      const stalled = new ReadableStream({
        start(controller) {
          // A few bytes would stay in memory.
          controller.enqueue(new TextEncoder().encode('ra,dec\n10,'.padEnd(70_000, '0')));
          end = () => controller.close();
        },
      });
      const slow = begin(stalled, { duplex: 'half' });
      const spool = join(world.directory, 'data/spool');
      const files = () => (existsSync(spool) ? readdirSync(spool) : []);
      await eventually('its first bytes are here', async () => files()[0]);
      assert.is((await begin('ra,dec\n10,-30\n')).status, 202);
      end();
      assert.is((await slow).status, 503, 'the other one has the place');
      assert.equal(files(), []);
    } finally {
      await app.app.close();
    }
  }));

test('a session sees its own jobs, and those of this kind alone [Crossmatch of a table]', async () => {
  const { app, world, close } = await startApp(async () => {});
  try {
    const send = async (headers = {}) => {
      const body = 'ra,dec\n150,2\n';
      const all = { 'Content-Type': 'text/csv', Prefer: 'respond-async', ...headers };
      const answer = await app.get('/api/crossmatch', { method: 'POST', headers: all, body });
      assert.is(answer.status, 202, answer.text);
      const session = answer.headers.get('Set-Cookie')?.split(';')[0];
      return { id: answer.headers.get('Location')!.split('/').at(-1)!, session };
    };
    const listed = async (headers = {}) => {
      const { status, text } = await app.get('/vo/jobs', { headers });
      assert.is(status, 200, text);
      return [...text.matchAll(/<uws:jobref id="(\w+)"/g)].map(([, id]) => id!);
    };
    const { id, session } = await send();
    const mine = { Cookie: `other=1; ${session}` };
    const second = await send(mine);
    assert.is(second.session, undefined, 'the session goes on');
    const store = new JobStore(world.directory);
    const { id: _, ...job } = store.read(second.id)!;
    store.create({ ...job, kind: 'another' }, { request: {}, parameters: {} });
    assert.equal(await listed(mine), [second.id, id]);
    assert.equal(await listed(), []);
  } finally {
    await close();
  }
});

test.run();
