/** Tables that come with an ADQL query: their contents, who sees them, and which are refused. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { openTable } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_FIELD_BYTES } from '../../../src/capabilities/vo/form.ts';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { eventually, type Running, startApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite<{ running: Running }>('tap/uploads');
const check = needs(test, duckdbObstacle());

const OBJECTS = trueObjects(300);
const [FIRST, SECOND] = OBJECTS as [(typeof OBJECTS)[0], (typeof OBJECTS)[0]];

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, OBJECTS), {
    API_MAX_TABLE_ROWS: '5000',
    TAP_MAX_UPLOAD_MIB: '1',
  });
});

test.after(({ running }) => running.close());

type Part = string | Uint8Array<ArrayBuffer>;

function formOf(
  query: string,
  parts: Readonly<Record<string, Part>>,
  more: Readonly<Record<string, string>> = {},
): FormData {
  const form = new FormData();
  const upload = Object.keys(parts).map(name => `${name},param:part_${name}`);
  const fields = { LANG: 'ADQL', QUERY: query, FORMAT: 'csv', UPLOAD: upload.join(';'), ...more };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [name, part] of Object.entries(parts)) form.set(`part_${name}`, new Blob([part]), `${name}.x`);
  return form;
}

const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/tables/${name}`, import.meta.url)));

/** The form as bytes: the stream of a form throws where nobody reads it to its end. */
async function post({ app }: Running, path: string, form: FormData, client = '192.0.2.9') {
  const encoded = new Response(form);
  const headers = { 'Content-Type': encoded.headers.get('Content-Type')!, 'X-Forwarded-For': client };
  return await app.get(path, { method: 'POST', headers, body: await encoded.bytes() });
}

async function ask(running: Running, form: FormData, client?: string) {
  for (;;) {
    const answer = await post(running, '/vo/tap/sync', form, client);
    if (answer.status !== 503) return answer;
    await sleep(200);
  }
}

async function csv(running: Running, query: string, parts: Readonly<Record<string, Part>>): Promise<string[]> {
  const { status, text } = await ask(running, formOf(query, parts));
  assert.is(status, 200, text);
  return text.trimEnd().split('\n');
}

check('tables of several formats are joined, with every digit of their ids', async ({ running }) => {
  const table = `id,note\n${FIRST.id},"a ""b"", c"\n${SECOND.id},\n`;
  const query =
    'SELECT u.id, u.note, o.ra FROM TAP_UPLOAD.mine AS u JOIN objects AS o ON o.diaObjectId = u.id ORDER BY u.id';
  const ids = [FIRST, SECOND].sort((a, b) => (a.id < b.id ? -1 : 1));
  const expected = [
    'id,note,ra',
    ...ids.map(({ id, position }) => `${id},${id === FIRST.id ? '"a ""b"", c"' : ''},${position.ra}`),
  ];
  assert.equal(await csv(running, query, { mine: table }), expected);
  assert.equal(await csv(running, query, { mine: gzipSync(table) as Uint8Array<ArrayBuffer> }), expected, 'compressed');
  const columns = 'diaObjectId, ra, status, reliability';
  for (const format of ['votable', 'votable/b2', 'csv', 'ndjson']) {
    const { text } = await ask(running, formOf(`SELECT ${columns} FROM objects`, {}, { FORMAT: format, UPLOAD: '' }));
    const rows = await csv(running, 'SELECT diaObjectId, ra, status FROM mine ORDER BY diaObjectId', { mine: text });
    assert.equal(
      rows.slice(1),
      OBJECTS.map(({ id, position }, i) => `${id},${position.ra},${rows[i + 1]!.split(',')[2]}`),
      format,
    );
  }
  const times =
    '<VOTABLE><TABLE><FIELD name="t" datatype="char" arraysize="*" xtype="timestamp"/><DATA><TABLEDATA><TR><TD>2026-01-31T12:00:00.5</TD></TR><TR><TD/></TR></TABLEDATA></DATA></TABLE></VOTABLE>';
  assert.equal(
    await csv(running, "SELECT t, 1 AS n FROM mine WHERE t > '2026-01-31' OR t IS NULL ORDER BY t", { mine: times }),
    ['t,n', '2026-01-31T12:00:00.500000Z,1', ',1'],
  );
  for (const name of ['times.parquet', 'times.arrows'])
    assert.equal(
      await csv(running, 'SELECT seen, start, night FROM mine ORDER BY seen', { mine: fixture(name) }),
      ['seen,start,night', '2026-01-31T12:00:00.500000Z,2026-01-31T12:00:00.500000Z,2026-01-31T00:00:00Z', ',,'],
      name,
    );
  const bounds = `a,b\n${2n ** 63n - 1n},${-(2n ** 63n)}\n`;
  assert.is((await csv(running, 'SELECT * FROM mine', { mine: bounds }))[1], bounds.split('\n')[1]);
});

check('arrays and points come back as they were sent, and points can be searched', async ({ running }) => {
  const { ra, dec } = FIRST.position;
  const fields =
    '<FIELD name="p" datatype="double" arraysize="2" xtype="point" unit="deg"/><FIELD name="i" datatype="int" arraysize="*"/><FIELD name="f" datatype="float" arraysize="2"/>';
  const row = (...cells: string[]) => `<TR>${cells.map(cell => `<TD>${cell}</TD>`).join('')}</TR>`;
  const votable = (...rows: string[]) =>
    `<VOTABLE><TABLE>${fields}<DATA><TABLEDATA>${rows.join('')}</TABLEDATA></DATA></TABLE></VOTABLE>`;
  const mine = votable(row(`${ra}  ${dec}`, ' 1 2\n3 ', '0.1 NaN'), row('NaN NaN', '', '1e5 -2'));
  for (const form of ['votable', 'votable/b2']) {
    const { text } = await ask(running, formOf('SELECT p, i, f FROM mine', { mine }, { FORMAT: form }));
    const table = await openTable(new TextEncoder().encode(text), { maxRows: 9, maxBytes: 1e6 }, true);
    const described = table.columns.map(({ name, numbers, shape }) => [name, numbers, shape]);
    assert.equal(described, [
      ['p', 'float64', 'point'],
      ['i', 'int64', undefined],
      ['f', 'float64', undefined],
    ]);
    const cells: unknown[] = [];
    for await (const block of table.blocks([0, 1, 2])) cells.push(...block.cells.map(each => Array.from(each)));
    assert.equal(cells.slice(1), [
      ['1 2 3', null],
      ['0.1 NaN', '100000 -2'],
    ]);
    assert.is((cells[0] as string[])[0], `${ra} ${dec}`);
  }
  const near = await csv(running, 'SELECT diaObjectId FROM objects, mine WHERE DISTANCE(p, POINT(ra, dec)) < 1e-6', {
    mine,
  });
  assert.equal(near, ['diaObjectId', `${FIRST.id}`]);
  const { status, text } = await ask(running, formOf('SELECT p FROM mine', { mine: votable(row('1 2 3', '', '1 2')) }));
  assert.is(status, 400);
  assert.match(text, 'a point in row 1 of its column p has 3 numbers');
});

check('a number that is none is NULL', async ({ running }) => {
  const rows = [
    ['1', '12.5', '20'],
    ['2', 'NaN', '20'],
    ['3', '', '20'],
    ['4', '12.5', 'NaN'],
  ];
  const field = (name: string, datatype: string) => `<FIELD name="${name}" datatype="${datatype}"/>`;
  const votable = `<VOTABLE><TABLE>${field('id', 'int')}${field('ra', 'double')}${field('dec', 'float')}<DATA><TABLEDATA>${rows
    .map(cells => `<TR>${cells.map(cell => `<TD>${cell}</TD>`).join('')}</TR>`)
    .join('')}</TABLEDATA></DATA></TABLE></VOTABLE>`;
  for (const mine of [`id,ra,dec\n${rows.map(cells => cells.join(',')).join('\n')}\n`, votable]) {
    assert.equal(await csv(running, 'SELECT MAX(ra) AS m, COUNT(ra) AS n, AVG(dec) AS a FROM mine', { mine }), [
      'm,n,a',
      '12.5,2,20',
    ]);
    assert.equal(await csv(running, 'SELECT id FROM mine WHERE ra > 0 OR dec > 100 ORDER BY id', { mine }), [
      'id',
      '1',
      '4',
    ]);
    const far = 'DISTANCE(ra, dec, 100, 20) > 1 AND 0 = CONTAINS(POINT(ra, dec), CIRCLE(100, 20, 1))';
    assert.equal(await csv(running, `SELECT id FROM mine WHERE ${far}`, { mine }), ['id', '1']);
    assert.equal(await csv(running, 'SELECT id FROM mine WHERE ra IS NULL ORDER BY id', { mine }), ['id', '2', '3']);
  }
});

check('positions in another frame get columns in ICRS, and their own are no positions', async ({ running }) => {
  // astropy 8.0.2: SkyCoord(120.5, -30.25, frame='galactic').icrs
  const galactic = 'id,l,b\n1,120.5,-30.25\n2,,\n';
  const [, first, second] = await csv(running, 'SELECT nearsky_ra, nearsky_dec FROM mine ORDER BY id', {
    mine: galactic,
  });
  const [ra, dec] = first!.split(',').map(Number);
  assert.ok(Math.abs(ra! - 10.366492477697047) < 1e-10 && Math.abs(dec! - 32.574655949408005) < 1e-10, first);
  assert.is(second, ',');
  const near = 'SELECT id FROM mine WHERE 1 = CONTAINS(POINT(nearsky_ra, nearsky_dec), CIRCLE(10.5, 32.6, 1))';
  assert.equal(await csv(running, near, { mine: galactic }), ['id', '1']);
  const refused = await ask(running, formOf(near.replace('nearsky_ra, nearsky_dec', 'l, b'), { mine: galactic }));
  assert.is(refused.status, 400);
  assert.match(refused.text, /l is a coordinate in GALACTIC: use nearsky_ra and nearsky_dec/);
  assert.equal(await csv(running, 'SELECT COUNT(*) AS n FROM mine', { mine: 'ra,dec\n1,2\n' }), ['n', '1']);
});

check('two tables by position; names that are no names; many rows', async ({ running }) => {
  const near = `ra,dec\n${FIRST.position.ra},${FIRST.position.dec}\n`;
  const hostile = '"x"") DROP TABLE upload_0 --",select,a\u0000b,"X"") DROP TABLE upload_0 --"\n1,2,3,4\n';
  const rows = await csv(
    running,
    "SELECT o.diaObjectId, b.* FROM near AS n JOIN objects AS o ON 1 = CONTAINS(POINT('ICRS', o.ra, o.dec), CIRCLE('ICRS', n.ra, n.dec, 0.0001)), bad AS b",
    { near, bad: hostile },
  );
  assert.is(rows[1], `${FIRST.id},1,2,3,4`, rows[0]);
  assert.match(rows[0]!, /DROP TABLE/);
  const many = `n\n${Array.from({ length: 5000 }, (_, i) => i).join('\n')}\n`;
  assert.is((await csv(running, 'SELECT COUNT(*), SUM(n) FROM many', { many }))[1], '5000,12497500');
});

check('a table is that of its query alone, and leaves no file', async ({ running }) => {
  assert.is((await csv(running, 'SELECT n FROM TAP_UPLOAD.mine', { mine: 'n\n1\n' }))[1], '1');
  const { status, text } = await ask(running, formOf('SELECT n FROM TAP_UPLOAD.mine', {}, { UPLOAD: '' }));
  assert.equal([status, /there is no table TAP_UPLOAD.mine/.test(text)], [400, true], text);
  for (const query of ['SELECT * FROM upload_0', 'SELECT * FROM temp.main.upload_0', 'SELECT * FROM main.upload_0'])
    assert.is((await ask(running, formOf(query, { mine: 'n\n1\n' }))).status, 400, query);
  const left = readdirSync(join(running.world.directory, 'tap')).filter(name => !/^\d+$/.test(name));
  assert.equal(left, []);
});

check('a job has its tables, too', async ({ running }) => {
  const send = async (path: string, form: FormData) => {
    const { status, text, headers } = await post(running, path, form);
    assert.is(status, 303, text);
    return new URL(headers.get('Location')!).pathname;
  };
  const job = await send('/vo/tap/async', formOf('SELECT n + 1 FROM mine', { mine: 'n\n1\n' }));
  await send(`${job}/parameters`, formOf('SELECT n + 2 FROM mine', { mine: 'n\n5\n' }));
  await running.app.get(`${job}/phase`, { method: 'POST', body: 'PHASE=RUN' });
  await eventually('the job is over', async () => {
    const { text } = await running.app.get(`${job}/phase`);
    return text === 'COMPLETED' || undefined;
  });
  assert.is((await running.app.get(`${job}/results/result`)).text.split('\n')[1], '7');
});

/** Answers with a table, elsewhere, with too much, or with an error. */
async function withHost(use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(({ url, headers }, response) => {
    const port = headers.host!.split(':')[1];
    const to = {
      '/moved': '/table',
      '/inside': `http://localhost:${port}/table`,
      '/file': 'file:///etc/passwd',
      '/circle': '/circle',
    }[url!];
    if (to) response.writeHead(302, { Location: to }).end();
    else if (url === '/table') response.end('n\n7\n');
    else if (url === '/large') response.end('1'.repeat(2 ** 20 + 1));
    else response.writeHead(404).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const methodsOf = async ({ app }: Pick<Running, 'app'>) =>
  (await app.get('/vo/tap/capabilities')).text.match(/#upload-\w+/g);

check('tables at other addresses are fetched from listed hosts, and every failure has the same message', () =>
  withHost(async port => {
    const hosts = `*,127.0.0.1:${port},cats.internal`;
    const running = await startApp(() => Promise.resolve(), { TAP_MAX_UPLOAD_MIB: '1', TAP_UPLOAD_HOSTS: hosts });
    try {
      const from = (url: string, more = {}) => formOf('SELECT n + 1 FROM mine', {}, { UPLOAD: `mine,${url}`, ...more });
      // Two spellings of 127.0.0.1, which URL makes one.
      for (const url of ['127.0.0.1:*/table', '127.0.0.1:*/moved', '2130706433:*/table', '0x7f000001:*/table']) {
        const { text } = await ask(running, from(`http://${url.replace('*', `${port}`)}`));
        assert.is(text.split('\n')[1], '8', text);
      }
      const job = await post(running, '/vo/tap/async', from(`http://127.0.0.1:${port}/table`, { PHASE: 'RUN' }));
      const path = new URL(job.headers.get('Location')!).pathname;
      await eventually('the job is over', async () => {
        const { text } = await running.app.get(`${path}/phase`);
        return text === 'COMPLETED' || undefined;
      });
      assert.is((await running.app.get(`${path}/results/result`)).text.split('\n')[1], '8');
      assert.equal(await methodsOf(running), ['#upload-inline', '#upload-http', '#upload-https']);
      const wrongPort = ['localhost', '[::1]', '[::ffff:127.0.0.1]', '[::]', '0.0.0.0', '127.1.1.1'].map(
        host => `${host}:${port}/table`,
      );
      const wrongHost = ['127.0.0.1', 'localhost', '10.0.0.1', '169.254.169.254', '[fe80::1]', '224.0.0.1'].map(
        host => `${host}/table`,
      );
      const wrongAnswer = ['inside', 'file', 'circle', 'large', 'missing'].map(path => `127.0.0.1:${port}/${path}`);
      const messages = new Set<string>();
      for (const url of [...wrongPort, ...wrongHost, ...wrongAnswer]) {
        const { status, text } = await ask(running, from(`http://${url}`));
        assert.is(status, 400, url);
        messages.add(text.replaceAll(url, 'URL'));
      }
      assert.is(messages.size, 1, [...messages].join('\n'));
      assert.match([...messages][0]!, 'one of its addresses cannot be fetched: send the table with the request');
    } finally {
      await running.close();
    }
  }),
);

check('one client takes half of the fetches: those of another are not kept from it by a host that hangs', async () => {
  const hanging: ServerResponse[] = [];
  let isReleased = false;
  const server = createServer(({ url }, response) => {
    if (url === '/table') response.end('n\n7\n');
    else if (isReleased) response.writeHead(404).end();
    else hanging.push(response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const running = await startApp(() => Promise.resolve(), { TAP_UPLOAD_HOSTS: `127.0.0.1:${port}` });
  try {
    const fetched = (path: string, client: string) => {
      const form = formOf('SELECT n + 1 FROM mine', {}, { UPLOAD: `mine,http://127.0.0.1:${port}/${path}` });
      return ask(running, form, client);
    };
    let over = 0;
    const hung = [1, 2, 3].map(() => fetched('hang', '192.0.2.1').finally(() => over++));
    await eventually('the host is asked', async () => hanging.length > 0 || undefined);
    const { text } = await fetched('table', '192.0.2.2');
    assert.is(text.split('\n')[1], '8', text);
    assert.equal([over, hanging.length], [0, 1]);
    isReleased = true;
    for (const response of hanging) response.writeHead(404).end();
    for (const { status } of await Promise.all(hung)) assert.is(status, 400);
  } finally {
    server.closeAllConnections();
    server.close();
    await running.close();
  }
});

check('unless hosts are listed nothing is fetched, and capabilities say so', async ({ running }) => {
  const form = formOf('SELECT n FROM mine', {}, { UPLOAD: 'mine,http://127.0.0.1:1/' });
  const { status, text } = await post(running, '/vo/tap/sync', form);
  assert.equal([status, text.includes('fetches no tables from other addresses')], [400, true], text);
  assert.equal(await methodsOf(running), ['#upload-inline']);
});

check('a query that fails in a late row ends no answer as if it were whole', async ({ running }) => {
  const mine = `n\n${Array.from({ length: 5000 }, (_, i) => i + 1).join('\n')}\n`;
  const query = `SELECT o.ra, m.n + ${2n ** 63n - 5000n} AS s FROM TAP_UPLOAD.mine AS m, objects AS o WHERE m.n > 2000`;
  const whole = await ask(running, formOf(`${query} AND m.n < 4000`, { mine }));
  assert.is(whole.text.split('\n').length, 2 + 1999 * OBJECTS.length);
  const asCsv = await ask(running, formOf(query, { mine })).catch(error => error);
  assert.instance(asCsv, Error);
  const { status, text } = await ask(running, formOf(query, { mine }, { FORMAT: 'votable' }));
  assert.is(status, 200);
  assert.match(text.slice(-1000), /<INFO name="QUERY_STATUS" value="ERROR">[^<]*a number is too large for its type/);
});

check('a form of very many parts is refused at once, and leaves no file', async ({ running }) => {
  const part = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
  const files = part.replace('"a"', '"a"; filename="a"');
  for (const [body, says] of [
    [`${part.repeat(10_000)}--X--\r\n`, 'at most 32 fields and files'],
    [`${files.repeat(10_000)}--X--\r\n`, 'at most 32 fields and files'],
    [part, 'not the multipart form'],
    [`--X\r\n${'a: b\r\n'.repeat(100_000)}\r\n\r\n--X--\r\n`, 'LANG'],
    [`--X\r\nContent-Disposition: form-data; name="QUERY"\r\n\r\n${'x'.repeat(2 ** 20 + 1)}\r\n--X--`, 'at most'],
    [
      `${'--X\r\nContent-Disposition: form-data; name="QUERY"\r\n\r\n'.concat('x'.repeat(2 ** 19), '\r\n').repeat(3)}--X--`,
      'at most 1048576 bytes together',
    ],
  ] as const) {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=X' };
    const { status, text } = await running.app.get('/vo/tap/sync', { method: 'POST', headers, body });
    assert.equal([status, text.includes(says)], [400, true], text);
  }
  const pairs = 'a=b&'.repeat(200_000);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { status, text } = await running.app.get('/vo/tap/sync', { method: 'POST', headers, body: pairs });
  assert.equal([status, text.includes('at most 32 fields and files')], [400, true], text);
  const left = readdirSync(join(running.world.directory, 'tap')).filter(name => !/^\d+$/.test(name));
  assert.equal(left, []);
});

check('a table of very many columns is taken', async ({ running }) => {
  const names = Array.from({ length: 2000 }, (_, i) => `c${i}`);
  const mine = `${names}\n${`${names.map((_, i) => i % 10)}\n`.repeat(200)}`;
  const sums = ['n,a,b', '200,1800,1600'];
  assert.equal(await csv(running, 'SELECT COUNT(*) AS n, SUM(c1999) AS a, SUM(c8) AS b FROM mine', { mine }), sums);
});

check('the rows that an outer join keeps, also where a column is called rowid', async ({ running }) => {
  const { ra, dec } = FIRST.position;
  const near = "1 = CONTAINS(POINT('ICRS', o.ra, o.dec), CIRCLE('ICRS', m.ra, m.dec, 0.0001))";
  for (const name of ['id', 'rowid']) {
    const mine = `${name},ra,dec\n7,${ra},${dec}\n8,${(ra + 180) % 360},${-dec}\n7,${ra},${dec}\n`;
    const query = `SELECT m.${name}, o.diaObjectId FROM mine AS m LEFT JOIN objects AS o ON ${near} ORDER BY m.${name}`;
    const expected = [`${name},diaObjectId`, `7,${FIRST.id}`, `7,${FIRST.id}`, '8,'];
    assert.equal(await csv(running, query, { mine }), expected);
  }
});

check('what cannot be taken is refused, with the reason', async ({ running }) => {
  const table = 'n\n1\n';
  const query = 'SELECT n FROM mine';
  const wrong: readonly (readonly [FormData, string])[] = [
    [formOf(query, {}, { UPLOAD: 'mine,file:///etc/passwd' }), 'NAME,param:PART or NAME,https://...'],
    [formOf(query, {}, { UPLOAD: 'mine,param:other' }), 'UPLOAD names the part other'],
    [formOf(query, { mine: table }, { UPLOAD: 'mine' }), 'UPLOAD must be NAME,param:PART or NAME,https://...'],
    [formOf(query, { mine: table }, { UPLOAD: 'select,param:part_mine' }), 'not reserved words of ADQL'],
    [formOf(query, { mine: table }, { UPLOAD: '"a b",param:part_mine' }), 'not reserved words of ADQL'],
    [formOf(query, { mine: table }, { UPLOAD: '../x,param:part_mine' }), 'not reserved words of ADQL'],
    [formOf(query, { mine: table }, { UPLOAD: 'm,param:part_mine;M,param:part_mine' }), 'with different names'],
    [
      formOf(
        query,
        { mine: table },
        { UPLOAD: Array.from({ length: 17 }, (_, i) => `m${i},param:part_mine`).join(';') },
      ),
      'at most 16 tables',
    ],
    [formOf(query, { mine: '' }), 'it is empty'],
    ...['\0'.repeat(300), `n\n${'\u0001\n'.repeat(20)}`].map(
      garbage =>
        [formOf(query, { mine: garbage }), 'it is neither text in UTF-8 nor a table of a known format'] as const,
    ),
    ...[
      ['The table is not here', 'it has only one line, The table is not here'],
      ['{"detail":{"code":404}}', 'it is one JSON document of lists or objects'],
      ['<!DOCTYPE html>\n<html><body><table><tr><td>1</td></tr></table></body></html>', 'it is HTML'],
      ['PK\u0003\u0004abcdefgh', 'it is a ZIP archive'],
    ].map(([garbage, message]) => [formOf('SELECT COUNT(*) FROM mine', { mine: garbage! }), message!] as const),
    [
      formOf(query, {
        mine: '<VOTABLE><TABLE><FIELD name="n" xtype="timestamp" datatype="char" arraysize="*"/><DATA><TABLEDATA><TR><TD>x</TD></TR></TABLEDATA></DATA></TABLE></VOTABLE>',
      }),
      'x in it is not a time',
    ],
    [
      formOf('SELECT seen FROM mine', { mine: fixture('late.arrows') }),
      'a time in its column seen lies outside of the years 0 to 9999',
    ],
    [formOf(query, { mine: '<VOTABLE>' }), 'the table mine cannot be used because it is XML without'],
    [formOf(query, { mine: '<!DOCTYPE x [<!ENTITY a "b">]><VOTABLE/>' }), 'its document type declares'],
    [formOf(query, { mine: `n\n${'1\n'.repeat(5001)}` }), 'more than 5000 rows'],
    [
      formOf(query, { mine: gzipSync('1\n'.repeat(2 ** 21)) as Uint8Array<ArrayBuffer> }),
      'has more than 1048576 bytes when decompressed',
    ],
    [
      formOf(query, { mine: `${Array.from({ length: 2001 }, (_, i) => `c${i}`).join(',')}\n` }),
      'more than 2000 columns',
    ],
    [formOf(query, { mine: 'x'.repeat(1.5 * 2 ** 20) }), 'it has more than 1048576 bytes'],
    [formOf(query, { mine: new Uint8Array(2 ** 20 + MAX_FIELD_BYTES) }), 'must be at most'],
    [formOf('SELECT m FROM mine', { mine: table }), 'm is not a column of TAP_UPLOAD.mine'],
  ];
  for (const [form, message] of wrong) {
    const { status, text } = await ask(running, form);
    assert.equal(
      [status, text.includes(message.replaceAll('"', '&quot;'))],
      [400, true],
      `${message}: ${text.slice(0, 1500)}`,
    );
  }
  for (const [type, body] of [
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=a', '--a\r\nContent-Disposition: form-data; name="QUERY"\r\n\r\nx'],
  ] as const) {
    const { status } = await running.app.get('/vo/tap/sync', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    assert.is(status, 400, type);
  }
});

test.run();
