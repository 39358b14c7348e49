/** ADQL queries as jobs: the resources of UWS, how jobs end, and that an ended job stops running. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TAP_FORMATS } from '../../../src/capabilities/adql/tap_formats.ts';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { eventually, type Running, startApp } from '../../core/http/support.ts';
import { rowsOf } from '../../core/tables/read_votable.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite<{ running: Running }>('tap/async');
const check = needs(test, duckdbObstacle());

const OBJECTS = trueObjects(300);
const JOBS = '/vo/tap/async';
const ENDLESS = 'SELECT SUM(a.ra * b.ra * c.ra * d.ra) FROM objects a, objects b, objects c, objects d, objects e';

test.before(async context => {
  // One query at a time: another one is answered only where no other runs.
  context.running = await startApp(world => storeObjects(world, OBJECTS), { TAP_MAX_QUERIES: '1' });
});

test.after(({ running }) => running.close());

function form({ app }: Running, path: string, fields: Readonly<Record<string, string>>) {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return app.get(path, { method: 'POST', headers, body: new URLSearchParams(fields).toString() });
}

/** The path of a new job. */
async function make(running: Running, query: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { status, text, headers } = await form(running, JOBS, { LANG: 'ADQL', QUERY: query, ...more });
  assert.is(status, 303, text);
  return new URL(headers.get('Location')!).pathname;
}

const textOf = async ({ app }: Running, path: string) => (await app.get(path)).text;

const reaches = (running: Running, job: string, phase: string) =>
  eventually(`${job} is ${phase}`, async () => (await textOf(running, `${job}/phase`)) === phase || undefined);

async function sync(running: Running, query: string): Promise<string> {
  for (;;) {
    const { status, text } = await form(running, '/vo/tap/sync', { LANG: 'ADQL', QUERY: query, FORMAT: 'csv' });
    if (status === 200) return text;
    assert.is(status, 503, text);
    await sleep(100);
  }
}

check('the result of a job names the state of the tables, in every format', async ({ running }) => {
  for (const { name, mediaType } of TAP_FORMATS) {
    const job = await make(running, 'SELECT TOP 1 ra FROM objects', { PHASE: 'RUN', FORMAT: name });
    await reaches(running, job, 'COMPLETED');
    const { headers } = await running.app.get(`${job}/results/result`);
    assert.is(headers.get('Content-Type'), mediaType);
    assert.match(headers.get('X-Journal-Entry')!, /^\d+$/, name);
    assert.match(headers.get('X-As-Of')!, /^20.*Z$/, name);
  }
});

check('a job is made, changed, run and removed, and has the answer', async ({ running }) => {
  const query = 'SELECT diaObjectId, ra FROM objects ORDER BY diaObjectId';
  const job = await make(running, query, { RESPONSEFORMAT: 'csv', X: 'y', RUNID: 'my run', EXECUTIONDURATION: '700' });
  assert.match(job, /^\/vo\/tap\/async\/[0-9a-f]{40}$/);
  const of = (part: string) => textOf(running, `${job}${part}`);
  assert.is(await of('/phase'), 'PENDING');
  assert.is(await of('/executionduration'), '700');
  assert.match(await of(''), '<uws:runId>my run</uws:runId>');
  assert.is((await form(running, `${job}/parameters`, { maxrec: '7' })).status, 303);
  assert.is((await form(running, `${job}/executionduration`, { EXECUTIONDURATION: '600' })).status, 303);
  assert.is(await of('/executionduration'), '600');
  const parameters = await of('/parameters');
  assert.match(parameters, '<uws:parameter id="MAXREC">7</uws:parameter>');
  assert.match(parameters, `<uws:parameter id="QUERY">${query}</uws:parameter>`);
  assert.not.match(parameters, 'id="X"');
  assert.is((await form(running, `${job}/phase`, { PHASE: 'RUN' })).status, 303);
  await reaches(running, job, 'COMPLETED');
  const result = await running.app.get(`${job}/results/result`);
  assert.is(result.headers.get('Content-Type'), 'text/csv; charset=utf-8; header=present');
  const lines = result.text.trimEnd().split('\n');
  assert.equal(lines, ['diaObjectId,ra', ...OBJECTS.slice(0, 7).map(({ id, position }) => `${id},${position.ra}`)]);
  assert.match(
    await of(''),
    `/results/result" mime-type="text/csv; charset=utf-8; header=present" size="${result.text.length}"`,
  );
  for (const [part, fields] of [
    ['parameters', { MAXREC: '9' }],
    ['executionduration', { EXECUTIONDURATION: '9' }],
    ['phase', { PHASE: 'RUN' }],
    ['phase', { PHASE: 'ABORT' }],
  ] as const) {
    const { status, text } = await form(running, `${job}/${part}`, fields);
    assert.equal([status, text.includes('of a job that is COMPLETED')], [400, true], text);
  }
  assert.match(await of('/parameters'), 'id="MAXREC">7<', 'what has begun is not changed');
  assert.not.match(await textOf(running, JOBS), job.slice(-40));
  assert.is((await running.app.get(`/vo/jobs/${job.slice(-40)}`)).status, 404, 'a job of another kind');
  assert.is((await running.app.get(job, { method: 'DELETE' })).status, 303);
  assert.is((await running.app.get(job)).status, 404);
});

check('whatever is wrong with a query is an error of its job, as a VOTable', async ({ running }) => {
  const wrong = [
    [await make(running, 'SELECT x FROM objects', { PHASE: 'RUN' }), 'Line 1, column 8: x is not a column of'],
    [await make(running, 'SELECT ra FROM objects', { PHASE: 'RUN', MAXREC: '-1' }), 'MAXREC must be'],
    [await make(running, ' ', { PHASE: 'RUN' }), 'Cannot answer without QUERY'],
  ] as const;
  for (const [job, message] of wrong) {
    await reaches(running, job, 'ERROR');
    const { text, headers } = await running.app.get(`${job}/error`);
    assert.is(headers.get('Content-Type'), 'application/x-votable+xml');
    assert.match(text, '<INFO name="QUERY_STATUS" value="ERROR">');
    assert.ok(text.includes(message), text);
    const result = await running.app.get(`${job}/results/result`);
    assert.is(result.status, 404);
    assert.match(result.text, `Cannot find the result of a job that is ERROR: ${message}`);
  }
  for (const [path, fields] of [
    [JOBS, { PHASE: 'ABORT' }],
    [`${wrong[0][0]}/executionduration`, { EXECUTIONDURATION: 'x' }],
    ...['x', '1.5', '0x10', '-1'].map(EXECUTIONDURATION => [JOBS, { EXECUTIONDURATION }] as const),
    // `Date.parse` reads the last two as days of 2001, and the job would be removed.
    ...['', '2026-13-01', '12', 'job 12'].map(DESTRUCTION => [`${wrong[0][0]}/destruction`, { DESTRUCTION }] as const),
  ] as const)
    assert.is((await form(running, path, fields)).status, 400, `${path} ${JSON.stringify(fields)}`);
  assert.is((await running.app.get(`${JOBS}?AFTER=12`)).status, 400);
  assert.is((await running.app.get(JOBS, { method: 'PUT' })).status, 405);
});

check(
  'the parameters of a job have a bound together, when it is made and when it is changed [Crossmatch of a table]',
  async ({ running }) => {
    const most = 262_144;
    for (const [more, status] of [
      [0, 303],
      [1, 400],
    ] as const) {
      const QUERY = 'x'.repeat(most + more);
      const made = await form(running, JOBS, { QUERY });
      assert.is(made.status, status, made.text);
      if (status === 400) assert.match(made.text, `they have ${most + 1} characters together: send at most ${most}`);
    }
    const job = await make(running, 'SELECT ra FROM objects');
    const changed = await form(running, `${job}/parameters`, { MAXREC: '1', QUERY: 'x'.repeat(most) });
    assert.is(changed.status, 400);
    assert.match(changed.text, 'characters together');
  },
);

check('parameters that arrive after the start of their job are refused', async ({ running }) => {
  const job = await make(running, 'SELECT TOP 1 ra FROM objects', { RESPONSEFORMAT: 'csv' });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const late = running.app.get(`${job}/parameters`, {
    method: 'POST',
    headers,
    body: readable,
    duplex: 'half',
  } as object);
  assert.is((await form(running, `${job}/phase`, { PHASE: 'RUN' })).status, 303);
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode('RESPONSEFORMAT=json'));
  await writer.close();
  const { status, text } = await late;
  assert.is(status, 400, text);
  assert.match(text, 'Cannot change this part of a job that is');
  await reaches(running, job, 'COMPLETED');
  assert.match(await textOf(running, `${job}/parameters`), 'id="RESPONSEFORMAT">csv<');
});

check('a job that is aborted, removed or late runs no longer', async ({ running }) => {
  const ends: readonly ((job: string) => Promise<unknown>)[] = [
    job => form(running, `${job}/phase`, { PHASE: 'ABORT' }),
    job => running.app.get(job, { method: 'DELETE' }),
  ];
  for (const end of ends) {
    const job = await make(running, ENDLESS, { PHASE: 'RUN' });
    await reaches(running, job, 'EXECUTING');
    const waiting = await make(running, 'SELECT TOP 1 ra FROM objects', { PHASE: 'RUN' });
    assert.is(await textOf(running, `${waiting}/phase`), 'QUEUED');
    await end(job);
    await reaches(running, waiting, 'COMPLETED');
    assert.is(rowsOf(await textOf(running, `${waiting}/results/result`)).length, 1);
    assert.is(await sync(running, 'SELECT COUNT(*) AS n FROM objects'), `n\n${OBJECTS.length}\n`);
  }
  const late = await make(running, ENDLESS);
  await form(running, `${late}/executionduration`, { EXECUTIONDURATION: '1' });
  await form(running, `${late}/phase`, { PHASE: 'RUN' });
  await reaches(running, late, 'ERROR');
  assert.match(await textOf(running, `${late}/error`), 'takes longer than 1 s');
  assert.is(await sync(running, 'SELECT COUNT(*) AS n FROM objects'), `n\n${OBJECTS.length}\n`);
});

test.run();
