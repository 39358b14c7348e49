/** Lists of jobs: a client sees the jobs of its session, and no other client sees them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { eventually, type Running, startApp } from '../../core/http/support.ts';
import { withServer } from '../../core/server/support.ts';
import { hasStilts, python, runBeside, withFolder } from '../../core/tables/clients.ts';
import { needs } from '../../needs.ts';

const test = suite<{ running: Running }>('jobs/job_list');
const OBJECTS = trueObjects(50);
const TAP_JOBS = '/vo/tap/async';

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, OBJECTS));
});

test.after(({ running }) => running.close());

type Headers = Readonly<Record<string, string>>;

async function made(running: Running, headers: Headers, fields: Headers = {}) {
  const answer = await running.app.get(TAP_JOBS, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
  assert.is(answer.status, 303, answer.text);
  const cookie = answer.headers.get('Set-Cookie');
  return { id: answer.headers.get('Location')!.split('/').at(-1)!, cookie, session: cookie?.split(';')[0] };
}

async function listed({ app }: Running, headers: Headers, query = '') {
  const answer = await app.get(`${TAP_JOBS}${query}`, { headers });
  assert.equal([answer.status, answer.headers.get('Cache-Control')], [200, 'no-store'], answer.text);
  return [...answer.text.matchAll(/<uws:jobref id="(\w+)"/g)].map(([, id]) => id!);
}

test('a session sees its own jobs, the newest first; others see none of them [Crossmatch of a table]', async ({
  running,
}) => {
  const first = await made(running, {});
  assert.match(first.cookie!, /^nearsky_jobs=[0-9a-f]{40}; Path=\/; HttpOnly; SameSite=Lax$/);
  const mine = { Cookie: `other=1; ${first.session}` };
  const second = await made(running, mine, { RUNID: 'a <run>' });
  assert.is(second.cookie, null, 'the session goes on');
  const stranger = await made(running, {});
  assert.is.not(stranger.session, first.session);
  assert.equal(await listed(running, mine), [second.id, first.id]);
  assert.equal(await listed(running, { Cookie: stranger.session! }), [stranger.id]);
  for (const headers of [{}, { Cookie: 'nearsky_jobs=' }, { Cookie: `nearsky_jobs=${'0'.repeat(40)}` }])
    assert.equal(await listed(running, headers as Headers), []);
  const { text } = await running.app.get(TAP_JOBS, { headers: mine });
  assert.match(text, '<uws:runId>a &lt;run&gt;</uws:runId>');
  assert.match(text, `/vo/tap/async/${first.id}"`);
  assert.is((await running.app.get(`${TAP_JOBS}/${first.id}`, { method: 'DELETE' })).status, 303);
  assert.equal(await listed(running, mine), [second.id]);
});

test('the cookie is limited to the address of the service, and to https', async () => {
  const running = await startApp(() => Promise.resolve(), { PUBLIC_BASE_URL: 'https://sky.example/alerts' });
  try {
    const { cookie } = await made(running, {});
    assert.match(cookie!, /; Path=\/alerts; HttpOnly; SameSite=Lax; Secure$/);
  } finally {
    await running.close();
  }
});

test('lists are filtered by phase, time and number [Crossmatch of a table]', async ({ running }) => {
  const { id: oldest, session } = await made(running, {});
  const mine = { Cookie: session! };
  const { app } = running;
  const createdMs = Date.parse(/<uws:creationTime>([^<]*)</.exec((await app.get(`${TAP_JOBS}/${oldest}`)).text)![1]!);
  await eventually('the clock goes on', async () => Date.now() > createdMs || undefined);
  const { id: aborted } = await made(running, mine);
  await app.get(`${TAP_JOBS}/${aborted}/phase`, { method: 'POST', body: 'PHASE=ABORT' });
  const { id: newest } = await made(running, mine);
  const filtered = (query: string) => listed(running, mine, query);
  assert.equal(await filtered('?PHASE=ABORTED'), [aborted]);
  assert.equal(await filtered('?phase=ABORTED&PHASE=COMPLETED'), [aborted]);
  assert.equal(await filtered('?PHASE=PENDING&PHASE=ABORTED'), [newest, aborted, oldest]);
  assert.equal(await filtered('?LAST=1'), [newest]);
  assert.equal(await filtered('?LAST=1&PHASE=ABORTED'), [aborted]);
  for (const phase of ['HELD', 'SUSPENDED', 'UNKNOWN', 'ARCHIVED'])
    assert.equal(await filtered(`?PHASE=${phase}&PHASE=ABORTED`), [aborted]);
  const created = new Date(createdMs).toISOString();
  assert.equal(await filtered(`?AFTER=${created}`), [newest, aborted]);
  assert.equal(await filtered(`?AFTER=${created.slice(0, -1)}`), [newest, aborted], 'UTC without Z');
  assert.equal(await filtered('?AFTER=2100-01-01'), []);
  for (const query of ['?PHASE=NEW', '?LAST=0', '?LAST=x', '?AFTER=soon'])
    assert.is((await app.get(`${TAP_JOBS}${query}`, { headers: mine })).status, 400, query);
});

/** Runs with the address of the service over HTTP. */
function served({ app }: Running, body: (base: string) => Promise<void>): Promise<void> {
  return withServer(
    (request, peer) => app.app.answer(request, peer),
    ({ port }) => body(`http://127.0.0.1:${port}`),
  );
}

/** Two sessions of pyvo from one address. */
const LIST = `
import json, sys
from datetime import datetime, timedelta, timezone
import pyvo
service, other = (pyvo.dal.TAPService(sys.argv[1] + "/vo/tap") for _ in range(2))
made = [service.submit_job("SELECT TOP 1 ra FROM objects", runid="r%d" % i) for i in range(2)]
other.submit_job("SELECT TOP 1 dec FROM objects")
made[0].abort()
ago = datetime.now(timezone.utc) - timedelta(hours=1)
ids = lambda **filters: [each.jobid for each in service.get_job_list(**filters)]
places = lambda found: [[job.job_id for job in made].index(each) for each in found]
print(json.dumps([places(ids()), places(ids(phases=["ABORTED"])), places(ids(after=ago, last=1)),
                  len(other.get_job_list()), len(pyvo.dal.TAPService(sys.argv[1] + "/vo/tap").get_job_list()),
                  [job.phase for job in service.get_job_list(short_description=False)]]))
`;
needs(test, python ? undefined : 'there is no Python with pyvo here (Debian package python3-pyvo)')(
  'pyvo lists the jobs that a service object has made',
  ({ running }) =>
    served(running, async base => {
      const { out, errors, status } = await runBeside(python!, ['-c', LIST, base]);
      assert.is(status, 0, errors);
      assert.equal(JSON.parse(out), [[1, 0], [0], [1], 1, 0, ['PENDING', 'ABORTED']]);
    }),
);

needs(test, hasStilts ? undefined : 'there is no stilts here (Debian package stilts)')(
  'xsdvalidate finds no fault with a list',
  ({ running }) =>
    withFolder(async folder => {
      const { session } = await made(running, {}, { RUNID: 'mine' });
      const file = join(folder, 'jobs.xml');
      writeFileSync(file, (await running.app.get(TAP_JOBS, { headers: { Cookie: session! } })).text);
      const top = 'topel={http://www.ivoa.net/xml/UWS/v1.0}jobs';
      const { out, errors, status } = await runBeside('stilts', ['xsdvalidate', `doc=${file}`, top, 'uselocals=true']);
      assert.equal([status, `${out}${errors}`], [0, '']);
    }),
);

test.run();
