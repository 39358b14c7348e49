/** The TypeScript client against a running service, and against one that is busy, endless, or none. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Input,
  type LookupResult,
  type MatchesOptions,
  Nearsky,
  NearskyError,
  type Progress,
  type Sample,
  type WatchOptions,
} from '../../clients/typescript/nearsky.js';
import type { Json } from '../core/http/support.ts';
import { eventually } from '../directory.ts';
import { duckdbObstacle, needs } from '../needs.ts';
import { describesMore } from '../removed.ts';
import {
  alone,
  breaking,
  busy,
  busyAtTimes,
  busySecond,
  CROWD,
  CROWD_CHANGES,
  CUTS,
  endless,
  FIRST_ID,
  INPUTS,
  MATCHES,
  nodes,
  OBJECTS,
  PUBLIC_ADDRESS,
  SENT_BACK,
  Service,
} from './support.ts';

const test = suite<{ service: Service }>('clients/typescript');
/** The client has methods for the operations of all capabilities. */
const whole = needs(test, describesMore);
test.before(async context => {
  context.service = await Service.start();
});
test.after(({ service }) => service.close());

/** With ids as strings, because both sides then write them alike. */
const plain = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}` : each)));

async function rejection(work: () => Promise<unknown>): Promise<NearskyError> {
  try {
    await work();
  } catch (error) {
    return error as NearskyError;
  }
  throw new Error('nothing was thrown');
}

whole('the types that follow from the contract are current: node docs/client_types.ts', async () => {
  const { CLIENT_TYPES, withContractTypes } = await import('../../docs/client_types.ts');
  const text = readFileSync(CLIENT_TYPES, 'utf8');
  assert.is(withContractTypes(text), text);
});

whole(
  'a lookup of any size: every input in order, as when it is asked for alone, while the service is busy at times',
  async ({ service }) => {
    const expected = plain(await alone(service));
    assert.ok(expected.some((result: Json) => result.truncation === 'per_input_limit'));
    for (const concurrency of [1, 3]) {
      const progress: Progress[] = [];
      const client = new Nearsky(`${service.url}/`, { concurrency, onProgress: each => progress.push(each) });
      const results = await service.with(busyAtTimes, () => client.lookup(INPUTS as unknown as Input[]));
      for (const [i, result] of plain(results).entries()) assert.equal(result, expected[i]);
      assert.is(results.length, expected.length);
      assert.ok(service.mostInFlight <= concurrency, `${service.mostInFlight} requests at once`);
      assert.ok(service.requests > 8);
      assert.equal(progress.at(-1), { done: INPUTS.length, total: INPUTS.length });
    }
    assert.is(typeof (await new Nearsky(service.url).object(FIRST_ID)).objects[0]!.diaObjectId, 'bigint');
  },
);

whole('matches, whole and in order, though connections break; errors', async ({ service }) => {
  const client = new Nearsky(service.url);
  const said = async (options: MatchesOptions, count: number) => {
    const texts: string[] = [];
    const matches = client.matches(options);
    for await (const { diaObjectId, catalog_name } of matches)
      if (texts.push(`${diaObjectId} ${catalog_name}`) === count) break;
    return { texts, lastId: matches.lastId! };
  };
  service.cuts = [...CUTS];
  assert.equal((await said({ after: 'beginning' }, MATCHES.length)).texts, MATCHES);
  assert.equal(service.cuts, []);
  const { texts, lastId } = await said({ after: 'beginning', filters: { catalog: 'gaia_dr3' } }, 4);
  assert.equal([...texts, ...(await said({ after: lastId }, MATCHES.length - 4)).texts], MATCHES);
  const failure = async (options: MatchesOptions) => {
    const { code, status, param, params } = await rejection(() => said(options, 1));
    return [code, status, param ?? params];
  };
  assert.equal(await failure({ after: 'abc' }), ['invalid_parameter', 400, 'from']);
  assert.equal(await failure({ filters: { catalog: '2mass' } }), ['invalid_parameter', 400, 'catalog']);
  assert.equal(await failure({ filters: { catalogue: 'gaia_dr3' } }), ['unknown_parameter', 200, ['catalogue']]);
  const stop = new AbortController();
  const stopped = new Nearsky(service.url, { signal: stop.signal }).matches();
  setTimeout(() => stop.abort(new Error('enough')), 300);
  const { message } = await rejection(async () => {
    for await (const match of stopped) throw new Error(`there is nothing new: ${match.catalog_name}`);
  });
  assert.is(message, 'enough');
});

whole(
  'a watch of objects in an area, or near positions, goes on in it though connections break',
  async ({ service }) => {
    // A refusal that allows an immediate retry.
    const client = new Nearsky(service.url, { signal: AbortSignal.timeout(25_000) });
    const said = async (options: WatchOptions, count: number) => {
      const texts: string[] = [];
      const watch = client.watch('objects', options);
      for await (const { diaObjectId, change, matches } of watch)
        if (texts.push(`${diaObjectId} ${change} ${matches.length}`) === count) break;
      return { texts, lastId: watch.lastId! };
    };
    const area = `CIRCLE ${CROWD.ra} ${CROWD.dec} 1`;
    service.cuts = [...CUTS];
    const whole = await service.with(busySecond, () => said({ area, after: 'beginning' }, CROWD_CHANGES.length));
    assert.equal(whole.texts, CROWD_CHANGES);
    assert.equal(service.cuts, []);
    const table = { area: Buffer.from(`ra,dec\n${CROWD.ra},${CROWD.dec}\n`), radiusArcsec: 1 };
    const { texts, lastId } = await said({ ...table, after: 'beginning' }, 9);
    assert.equal(
      [...texts, ...(await said({ ...table, after: lastId }, CROWD_CHANGES.length - 9)).texts],
      CROWD_CHANGES,
    );
    const filters = { status: 'coincident_sources' };
    assert.equal((await said({ area, filters, after: 'beginning' }, 7)).texts, CROWD_CHANGES.slice(7));
    const { param } = await rejection(() => said({ area: 'CIRCLE 1' }, 1));
    assert.is(param, 'area');
  },
);

/** In Deno 2.9, after some 200 requests, the signal of a request often does not end the reading of its answer. */
whole('a signal ends each of many readers of matches, and each says why', async ({ service }) => {
  const follow = async () => {
    for (let i = 0; i < 30; i++) {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('enough')), 20 + (i % 5) * 20);
      const { message } = await rejection(async () => {
        for await (const _ of new Nearsky(service.url, { signal: stop.signal }).matches({ after: 'beginning' }));
      });
      assert.is(message, 'enough');
    }
  };
  await Promise.all(Array.from({ length: 20 }, follow));
});

whole('an answer that breaks off is asked for once more, and twice is no answer', async () => {
  const [once, twice] = [await breaking(1), await breaking(2)];
  try {
    assert.equal(await new Nearsky(once.url).describe(), { whole: true });
    await rejection(() => new Nearsky(twice.url).describe());
    assert.equal([once.asked(), twice.asked()], [2, 2]);
  } finally {
    once.close();
    twice.close();
  }
});

whole('short forms of inputs; inputs that come as they are needed; none', async ({ service }) => {
  const client = new Nearsky(service.url, { concurrency: 1 });
  const inputs: Input[] = [FIRST_ID, `${FIRST_ID + 1n}`, '2026abc', { ...CROWD, radiusArcsec: 0.5 }];
  const results = await client.lookup(inputs, { detail: 'ids', radiusArcsec: 2, filters: { reliability_min: 0.9 } });
  assert.equal(
    results.map(({ kind }) => kind),
    ['id', 'id', 'tns', 'position'],
  );
  assert.equal(
    results.map(({ qualifies }) => qualifies),
    [false, false, false, false],
  );
  assert.equal(results[2]!.normalized!.radius_arcsec, 2);
  assert.is(results[0]!.objects[0]!.ra, undefined);
  assert.equal(await client.lookup([]), []);
  const [named] = await client.lookup([{ ...CROWD, radius_arcsec: 0.5 }], { radiusArcsec: 2 });
  assert.is(named!.normalized!.radius_arcsec, 0.5);

  let taken = 0;
  async function* many(): AsyncGenerator<Input> {
    for (; taken < 1000; taken++) yield FIRST_ID + BigInt(taken);
  }
  const first: LookupResult[] = [];
  const inDegrees = await client.lookup([CROWD], { radiusArcsec: 2, detail: 'ids' });
  const inHours = await client.lookup([{ ...CROWD, ra: 10 }], { radiusArcsec: 2, detail: 'ids', raUnit: 'h' });
  assert.ok(inDegrees[0]!.objects!.length > 0);
  assert.equal(inHours[0]!.objects, inDegrees[0]!.objects);
  for await (const result of client.lookups(many())) {
    first.push(result);
    if (first.length === 15) break;
  }
  assert.equal(
    first.map(({ index }) => index),
    Array.from({ length: 15 }, (_, i) => i),
  );
  assert.ok(taken < 50, `${taken} inputs were taken`);
  for (const wrong of [5, null, 1.5])
    assert.instance(await rejection(() => client.lookup([wrong as never])), TypeError);
  // A number has lost digits, and a text would be looked up character by character.
  assert.match((await rejection(() => client.object(Number(FIRST_ID) as never))).message, /as bigint or text/);
  assert.match((await rejection(() => client.lookup('SN 2026abc'))).message, /as a list: give an array/);
});

whole('walks have every object once, and go on from a cursor', async ({ service }) => {
  const client = new Nearsky(service.url);
  const cone = { ...CROWD, radiusArcsec: 5 };
  const recent = { start: '2026-09-21', end: '2026-09-23', detail: 'ids' } as const;
  const { body } = await service.app.get('/api/cone?ra=150&dec=2&radius_arcsec=5&page_size=12');
  const inCone: string[] = body.results[0].objects.map((object: Json) => object.diaObjectId_str);
  const { body: page } = await service.app.get('/api/recent-crossmatches?start=2026-09-21&end=2026-09-23');
  const inWindow: string[] = page.objects.map((object: Json) => object.diaObjectId_str);
  assert.equal([inCone.length, inWindow.length], [7, 9]);

  const walks = [
    [inCone, (cursor?: string) => client.cone({ ...(cursor === undefined ? cone : {}), pageSize: 2, cursor })],
    [inWindow, (cursor?: string) => client.recent({ ...(cursor === undefined ? recent : {}), pageSize: 2, cursor })],
  ] as const;
  for (const [expected, begin] of walks) {
    await service.with(busyAtTimes, async () => {
      const walk = begin();
      const ids: string[] = [];
      assert.is(walk.cursor, undefined);
      for await (const object of walk) {
        ids.push(object.diaObjectId_str);
        if (ids.length === 5) break;
      }
      assert.ok(walk.cursor && !walk.isDone);
      // The third page is returned again, because it was not returned completely.
      const rest: string[] = [];
      const resumed = begin(walk.cursor);
      for await (const { diaObjectId_str } of resumed) rest.push(diaObjectId_str);
      assert.equal([...ids.slice(0, 4), ...rest], expected);
      assert.ok(resumed.isDone);
      for await (const _ of resumed) assert.unreachable('it is done');
    });
  }
});

whole('areas and objects by time: walks, counts, filters', async ({ service }) => {
  const client = new Nearsky(service.url);
  const { body } = await service.app.post('/api/area', 'CIRCLE 150 2 0.01');
  const inArea: string[] = body.objects.map((object: Json) => object.diaObjectId_str);
  assert.is(inArea.length, 7);
  for (const area of [
    'CIRCLE 150 2 0.01',
    new TextEncoder().encode('CIRCLE 150 2 0.01'),
    new Blob(['CIRCLE 150 2 0.01']),
  ]) {
    const ids: string[] = [];
    for await (const { diaObjectId_str } of client.area(area, { pageSize: 3, detail: 'ids' }))
      ids.push(diaObjectId_str);
    assert.equal(ids, inArea);
    assert.is(await client.countArea(area), inArea.length);
  }
  assert.is(await client.countArea('CIRCLE 150 2 0.01', { filters: { reliability_min: 2 } }), 0);
  const { body: page } = await service.app.get('/api/objects');
  const listed: string[] = [];
  for await (const { diaObjectId_str } of client.objects({ pageSize: 2 })) listed.push(diaObjectId_str);
  assert.ok(listed.length > 2);
  assert.equal(
    listed,
    page.objects.map((object: Json) => object.diaObjectId_str),
  );
  const pending = page.objects.filter((object: Json) => object.status === 'crossmatch_pending').length;
  assert.ok(pending > 0 && pending < page.count);
  let walked = 0;
  for await (const { status } of client.objects({ status: 'crossmatch_pending', pageSize: 1 })) {
    assert.is(status, 'crossmatch_pending');
    walked++;
  }
  assert.is(walked, pending);
  for await (const _ of client.objects({ filters: { reliability_min: 2 } })) assert.unreachable('none meets it');
  assert.is((await rejection(() => client.countArea('CIRCLE 1 2', { level: 0.5 }))).param, 'area');
});

whole('at: answers as after an earlier entry, each named by the answer before', async ({ service }) => {
  const client = new Nearsky(service.url);
  assert.is(client.journalEntry, undefined);
  await client.object(FIRST_ID);
  const newest = client.journalEntry!;
  const statuses = async (at: number) => {
    const lists: { readonly status: string }[][] = [
      [await client.object(FIRST_ID, { at })],
      await client.lookup([FIRST_ID], { at }),
    ];
    for (const walk of [
      client.cone({ ...CROWD, radiusArcsec: 1, pageSize: 3, at }),
      client.area('CIRCLE 150 2 0.01', { pageSize: 3, at }),
      client.objects({ at }),
    ]) {
      const found = [];
      for await (const object of walk) found.push(object);
      assert.is(client.journalEntry, at);
      lists.push(found);
    }
    return lists.map(list => list.filter(({ status }) => status === 'coincident_sources').length);
  };
  assert.equal(await statuses(newest), [1, 1, 7, 7, 9]);
  assert.equal(await statuses(newest - 7), [1, 1, 2, 2, 2]);
  assert.equal(await statuses(newest - 9), [0, 0, 0, 0, 0]);
  const counts = [];
  for (const at of [newest, newest - 9, 0]) counts.push(await client.countArea('CIRCLE 150 2 0.01', { at }));
  assert.equal(counts, [7, 7, 0]);
});

whole('a cursor that comes again ends the walk', async ({ service }) => {
  const client = new Nearsky(service.url);
  for (const walk of [client.cone({ ...CROWD, radiusArcsec: 1 }), client.recent(), client.recent({ cursor: 'abc' })]) {
    const error = await service.with(endless, () =>
      rejection(async () => {
        for await (const _ of walk.pages()) if (service.requests > 10) assert.unreachable('it goes on and on');
      }),
    );
    assert.is(error.code, 'repeated_cursor');
  }
});

whole('sources of the catalogs near a position', async ({ service }) => {
  const client = new Nearsky(service.url);
  const { catalogs, sources } = await client.sources({
    ra: 150,
    dec: 2,
    radiusArcsec: 5,
    catalog: 'gaia_dr3',
    limit: 3,
  });
  assert.equal([catalogs[0].outcome, sources], ['not_registered', []]);
  const far = await rejection(() => client.sources({ ra: 150, dec: 2, radiusArcsec: 61 }));
  for (const sent of [
    () => client.sources({ ra: 150, dec: 2, radiusArcsec: 1, errorArcsec: 0 }),
    () => client.crossmatch('ra,dec\n1,2\n', { errorArcsec: 0.1 }),
  ])
    assert.is((await rejection(sent)).param, 'error_arcsec');
  assert.is(far.param, 'radius_arcsec');
});

whole('a crossmatch of a table, at once and as a job', async ({ service }) => {
  const seen: unknown[] = [];
  const client = new Nearsky(service.url, { onProgress: each => seen.push(each) });
  const table = `name,ra,dec\na,${CROWD.ra},${CROWD.dec}\nb,150,-80\n`;
  const text = async (options: object) => new TextDecoder().decode(await client.crossmatch(table, options));
  const lines = (await text({ radiusArcsec: 2 })).trimEnd().split('\n');
  assert.match(lines[0]!, /^name,ra,dec,nearsky_status,nearsky_diaObjectId,/);
  assert.equal(
    lines.slice(1).map(line => line.split(',')[3]),
    ['matched', 'no_match'],
  );
  assert.is(await text({ radiusArcsec: 2, asJob: true }), `${lines.join('\n')}\n`);
  const bytes = new TextEncoder().encode(table);
  assert.is((await client.crossmatch(bytes, { format: 'parquet' }))[0], 'P'.charCodeAt(0));
  for (const asJob of [false, true]) {
    const refused = await rejection(() => client.crossmatch('x,y\n1,2\n', { asJob }));
    assert.equal([refused.code, refused.param], ['invalid_parameter', 'body']);
    assert.match(refused.message, /its columns are x, y/);
  }
});

whole('a report on a sample: inputs of each kind, more than a request takes, tables, and jobs', async ({ service }) => {
  const client = new Nearsky(service.url);
  const inputs = [FIRST_ID, `${FIRST_ID + 1n}`, '2026abc', { ...CROWD, label: 'mine, "too"' }, { ra: 150, dec: -80 }];
  const report = await client.sample(inputs, { catalogs: ['gaia_dr3'], brightMag: 12 });
  const labels = [`${FIRST_ID}`, `${FIRST_ID + 1n}`, '2026abc', 'mine, "too"', null];
  const shown = (rows: Json[]) => rows.map(({ label, diaObjectId_str: id }) => [label, id]);
  const objects = [FIRST_ID, FIRST_ID + 1n, FIRST_ID, FIRST_ID].map(id => `${id}`);
  assert.equal(
    shown(report.rows),
    labels.map((label, i) => [label, objects[i] ?? null]),
  );
  assert.equal([report.bright_mag, report.summary.catalogs.gaia_dr3.coincident], [12, 4]);
  assert.match(report.methods, /5 inputs/);
  // More inputs than a request takes are a table, with the same rows.
  const many = Array.from({ length: 250 }, () => inputs).flat();
  const whole = await client.sample(many, { catalogs: ['gaia_dr3'] });
  assert.equal(whole.rows, Array.from({ length: 250 }, () => report.rows).flat());
  for (const [sample, rows] of [
    [inputs, report.rows],
    [many, whole.rows],
  ] as const) {
    const { id, title } = await client.keepSample('Mine & others', sample, { catalogs: ['gaia_dr3'], brightMag: 12 });
    assert.is(title, 'Mine & others');
    assert.equal((await client.keptSample(id)).rows, rows);
    const page = new TextDecoder().decode(await client.keptSample(id, { format: 'html' }));
    assert.match(page, /^<!doctype html>/);
    await client.deleteKeptSample(id);
    assert.is((await rejection(() => client.keptSample(id))).code, 'not_found');
  }
  assert.equal((await client.sample(inputs, { asJob: true, catalogs: ['gaia_dr3'] })).rows, report.rows);
  assert.equal(await client.validation(), { status: 'not_made', refresh_hours: null, validation: null });
  const table = `number,who,ra,dec\n${FIRST_ID},a,,\n,b,${CROWD.ra},${CROWD.dec}\n`;
  for (const asJob of [false, true])
    assert.equal(shown((await client.sample(table, { id: 'number', name: 'who', asJob })).rows), [
      ['a', `${FIRST_ID}`],
      ['b', `${FIRST_ID}`],
    ]);
  const text = async (sample: Sample) => new TextDecoder().decode(await client.sample(sample, { format: 'csv' }));
  assert.is((await text([FIRST_ID])).split('\n')[1]!.split(',')[0], `${FIRST_ID}`);
  assert.is(await text([FIRST_ID]), await text(`diaObjectId\n${FIRST_ID}\n`));
  const before = await client.sample([FIRST_ID], { at: client.journalEntry!, since: 1 });
  assert.match(before.changes[0].changes[0], /^crossmatched/);
  for (const [sample, options, code] of [
    [table, { since: 1 }, 'unknown_parameter'],
    [['2026abc'], { at: 1 }, 'invalid_parameter'],
    ['x,y\n1,2\n', {}, 'invalid_parameter'],
    ['x,y\n1,2\n', { asJob: true }, 'invalid_parameter'],
  ] as const)
    assert.is((await rejection(() => client.sample(sample, options))).code, code);
  for (const [input, message] of [
    [{ ...CROWD, radiusArcsec: 1 }, /radius/],
    [{ kind: 'tns', name: '2026abc', label: 'mine' }, /label/],
  ] as const)
    assert.match((await rejection(() => client.sample([input], { asJob: true }))).message, message);
});

whole('a signal ends a job, and removes it', async ({ service }) => {
  const abort = new AbortController();
  let job = '';
  const client = new Nearsky(service.url, {
    signal: abort.signal,
    fetch: async (url, init) => {
      const response = await globalThis.fetch(url, init);
      job ||= response.headers.get('Location') ?? '';
      if (job) abort.abort();
      return response;
    },
  });
  const error = await rejection(() => client.crossmatch('ra,dec\n150,2\n', { asJob: true }));
  assert.is(error.name, 'AbortError');
  assert.is((await fetch(job.replace(PUBLIC_ADDRESS, service.url))).status, 404);
});

needs(test, describesMore ?? duckdbObstacle())(
  'a query: rows with every digit of ids, the bytes of a table, and errors',
  async ({ service }) => {
    const client = new Nearsky(service.url);
    const query = 'SELECT diaObjectId, ra, status FROM nearsky.objects ORDER BY diaObjectId';
    const rows = await client.query(query, { maxRows: 12 });
    assert.equal(
      rows.map(({ diaObjectId }) => diaObjectId),
      Array.from({ length: 12 }, (_, i) => FIRST_ID + BigInt(i)),
    );
    assert.equal([Object.keys(rows[0]!), rows[0]!.ra], [['diaObjectId', 'ra', 'status'], 150]);
    assert.is((await client.query(query, { format: 'parquet' }))[0], 'P'.charCodeAt(0));
    // Exactly as many rows as the service gives at most: there may be more.
    const most = (await client.query(query)).length;
    const limited = new Nearsky(service.url, {
      fetch: async (url, init) =>
        `${url}`.endsWith('/describe')
          ? Response.json({ limits: { tap: { max_rows: most } } })
          : await globalThis.fetch(url, init),
    });
    for (const options of [{}, { maxRows: most + 1 }])
      assert.is((await rejection(() => limited.query(query, options))).code, 'too_many_rows');
    assert.is((await limited.query(query, { maxRows: most })).length, most);
    const pending = "SELECT COUNT(*) AS n FROM nearsky.objects WHERE status = 'crossmatch_pending'";
    const then = await eventually('the earlier tables', () =>
      client.query(pending, { at: 1 }).catch(error => {
        assert.is(error.code, 'service_unavailable');
        return undefined;
      }),
    );
    assert.equal(then, [{ n: OBJECTS }]);
    assert.is(client.journalEntry, 1);
    const error = await rejection(() => client.query('SELECT "a<b&c" FROM nearsky.objects'));
    assert.equal([error.code, error.param, error.status], ['invalid_parameter', 'QUERY', 400]);
    assert.match(error.message, /^Line 1, column 8: .*a<b&c/);
    const late = await rejection(() => client.query(pending, { at: 999 }));
    assert.equal([late.code, late.param, late.status], ['invalid_parameter', 'AT', 400]);
    const unread = await rejection(() => client.query(pending, { format: 'xls' as 'csv' }));
    assert.equal([unread.param, unread.status], ['RESPONSEFORMAT', 400]);
  },
);

whole(
  'integers keep every digit in an engine that does not show the text of numbers to a reviver',
  async ({ service }) => {
    const body = `{"rows": [{"big": ${FIRST_ID}, "least": -${FIRST_ID}, "text": "a\\"${FIRST_ID}, \\\\", "diaObjectId": 7, "size": 1e300, "part": 0.1234567890123456, "safe": 9007199254740991}]}`;
    const { parse } = JSON;
    JSON.parse = (text, reviver) =>
      parse(
        text,
        reviver &&
          function (this: unknown, key, value) {
            return reviver.call(this, key, value);
          },
      );
    try {
      const found = await service.with(
        () => ({ status: 200, headers: {}, body }),
        () => new Nearsky(service.url).describe(),
      );
      assert.equal(found.rows, [
        {
          big: FIRST_ID,
          least: -FIRST_ID,
          text: `a"${FIRST_ID}, \\`,
          diaObjectId: 7n,
          size: 1e300,
          part: 0.1234567890123456,
          safe: Number.MAX_SAFE_INTEGER,
        },
      ]);
    } finally {
      JSON.parse = parse;
    }
  },
);

whole('errors say what is wrong; 503 is tried once more', async ({ service }) => {
  const client = new Nearsky(service.url);
  const bad = await rejection(() => client.cone({ ra: 999, dec: 2, radiusArcsec: 1 }).pages().next());
  assert.instance(bad, NearskyError);
  assert.equal([bad.code, bad.param, bad.status, bad.retryable], ['invalid_parameter', 'ra', 400, false]);
  assert.match(bad.message, /^ra must be at most 360.*\(400 invalid_parameter, ra\)$/);
  const both = await rejection(() => client.recent({ start: '2026-01-02', end: '2026-01-01' }).pages().next());
  assert.equal(both.params, ['start', 'end']);

  const refused = await service.with(busy, () => rejection(() => client.status()));
  assert.equal([refused.code, refused.retryable, service.requests], ['service_unavailable', true, 2]);
  const html = () => ({ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>' });
  const proxy = await service.with(html, () => rejection(() => client.status()));
  assert.equal([proxy.code, proxy.status, proxy.retryable], ['not_nearsky', 502, true]);
  const page = () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: '<html>' });
  for (const ask of [
    () => client.lookup([1n]),
    () => client.query('SELECT 1'),
    () => client.crossmatch('ra,dec\n1,2\n'),
  ])
    assert.is((await service.with(page, () => rejection(ask))).code, 'not_nearsky', `${ask}`);
  // A value that could not be loaded once is requested again.
  assert.is((await client.lookup([FIRST_ID])).length, 1);
});

whole('a parameter that the service ignores is an error, with the nearest name', async ({ service }) => {
  const client = new Nearsky(service.url);
  const filters = { relibility: 0.5, 'é, x': 1 } as never;
  const error = await rejection(() => client.object(FIRST_ID, { filters }));
  assert.equal([error.code, error.status, error.params], ['unknown_parameter', 200, ['relibility', 'é, x']]);
  assert.match(error.message, 'does not know relibility, é, x and');
  const near = await rejection(() => client.object(FIRST_ID, { filters: { fromat: 'csv' } as never }));
  assert.match(near.message, 'fromat (did you mean format?)');
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`zebra${i}`, 1]));
  assert.match((await rejection(() => client.object(FIRST_ID, { filters: many }))).message, 'zebra7, 4 others and');
  // The types exclude these, but not everyone checks types.
  const recent = async () => {
    for await (const _ of client.recent({ filters: { reliability_min: 0.5 } } as never)) assert.unreachable();
  };
  for (const [ask, param] of [
    [recent, 'reliability_min'],
    [() => client.tns('2026abc', { at: 1 } as never), 'at'],
  ] as const)
    assert.is((await rejection(ask)).param, param);
});

whole('a signal ends what waits', async ({ service }) => {
  const abort = new AbortController();
  const client = new Nearsky(service.url, { signal: abort.signal });
  const later = () => ({ ...busy(), headers: { ...busy().headers, 'Retry-After': '100' } });
  const error = await service.with(
    count => {
      setTimeout(() => abort.abort(), 20 * count);
      return later();
    },
    () => rejection(() => client.status()),
  );
  assert.is(error.name, 'AbortError');
});

whole('a client says how far the nodes were that have answered', ({ service }) =>
  service.with(nodes, async () => {
    const client = new Nearsky(service.url);
    for (let i = 0; i < SENT_BACK.length; i++) await client.status().catch(() => {});
    assert.equal(service.places, SENT_BACK);
  }),
);

test.run();
