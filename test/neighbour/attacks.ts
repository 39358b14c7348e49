/** Everything hostile that one client can send through the documented interface. To add an attack, add an entry. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Dictionary, Int32, makeData, makeVector, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { isDeno } from '../../src/core/base/runtime.ts';
import { ATTACKER, headOf, type Message, type Sent, send, Wire } from './raw_http.ts';

/**
 * The outcome of one request: a status, `ended` for a connection that ended without an answer, or the phase of a job.
 */
interface Outcome {
  readonly is: string;
  readonly text: string;
}

export interface Attack {
  readonly name: string;
  /** Sends the attack, and removes everything that it can remove. */
  readonly sends: (url: string) => Promise<readonly Outcome[]>;
  /** The allowed outcomes. */
  readonly expects: readonly string[];
  /** The text that each 400 must contain. */
  readonly says?: RegExp;
}

const of = ({ status, text }: Sent): Outcome => ({ is: status === 0 ? 'ended' : `${status}`, text });
const many = async (count: number, each: (i: number) => Promise<Outcome>): Promise<readonly Outcome[]> =>
  await Promise.all(Array.from({ length: count }, (_, i) => each(i)));
const once = (path: string, message: Message | (() => Message)) => async (url: string) => [
  of(await send(url, path, typeof message === 'function' ? message() : message)),
];
/** A different client for each number. */
const client = (i: number) => `198.18.${i >> 8}.${i & 255}`;

const TABLE = '/api/crossmatch?format=csv';
const AREA = '/api/area?response=count';
const table = (body: () => string | Uint8Array) => once(TABLE, () => ({ body: body() }));
const zipped = (mib: number, fill: string, head = '', tail = '') =>
  gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(mib << 20, fill), Buffer.from(tail)]), { level: 1 });
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const form = (fields: Record<string, string>): Message => ({ headers: FORM, body: `${new URLSearchParams(fields)}` });
const query = (adql: string, more: Record<string, string> = {}) =>
  form({ LANG: 'ADQL', FORMAT: 'csv', QUERY: adql, ...more });
const lookup = (body: string) => once('/api/lookup', { headers: JSON_TYPE, body });
const LONG_LOOKUP: Message = {
  headers: JSON_TYPE,
  body: JSON.stringify({
    detail: 'full',
    inputs: new Array(200).fill({ kind: 'id', diaObjectId: '313637935709683761' }),
  }),
};

/** Makes a body when it is first sent. */
function lazily(make: () => Uint8Array): () => Uint8Array {
  let made: Uint8Array | undefined;
  return () => (made ??= make());
}

const BRACKETS = lazily(() => gzipSync(Buffer.alloc(60_000_000, '[').fill('{"ra":', 0, 6), { level: 1 }));
/** One text for every row. */
const LONG_TEXTS = lazily(() => parquet(() => new Array(990_000).fill('x'.repeat(100_000))));

function parquet(texts: () => string[]): Uint8Array {
  const data = texts();
  const numbers = Array.from(data, (_, i) => i % 90);
  const column = (name: string) => ({ name, data: numbers, type: 'DOUBLE' as const });
  const text = { name: 'text', data, type: 'STRING' as const };
  return new Uint8Array(parquetWriteBuffer({ columnData: [column('ra'), column('dec'), text] }));
}

/** A table of small numbers. */
function csvOf(columns: number, rows: number): Uint8Array {
  const numbers = Array.from({ length: columns }, (_, i) => i);
  return Buffer.from(`c${numbers.join(',c')}\n${`${numbers}\n`.repeat(rows)}`);
}

/** One text of a dictionary, for every row. */
function arrow(): Uint8Array {
  const rows = 1_000_000;
  const dictionary = vectorFromArray(['x'.repeat(100_000)], new Utf8());
  const type = new Dictionary(new Utf8(), new Int32());
  const texts = makeVector(makeData({ type, length: rows, data: new Int32Array(rows), dictionary }));
  const numbers = makeVector(new Float64Array(rows));
  return tableToIPC(new Table({ ra: numbers, dec: numbers, text: texts }), 'stream');
}

/** A multipart form with this many parts. */
function multipart(parts: number, body: (i: number) => string): Message {
  const part = (i: number) => `--b\r\nContent-Disposition: form-data; name="f${i}"\r\n\r\n${body(i)}\r\n`;
  const text = `${Array.from({ length: parts }, (_, i) => part(i)).join('')}--b--\r\n`;
  return { headers: { 'Content-Type': 'multipart/form-data; boundary=b' }, body: text };
}

/** A query with a table of its own. */
function upload(bytes: string | Uint8Array, adql = 'SELECT COUNT(*) FROM TAP_UPLOAD.t', format = 'csv'): Message {
  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields = { LANG: 'ADQL', FORMAT: format, QUERY: adql, UPLOAD: 't,param:part' };
  const head = `${Object.entries(fields)
    .map(([name, value]) => field(name, value))
    .join('')}--b\r\nContent-Disposition: form-data; name="part"; filename="t"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes as Uint8Array), Buffer.from('\r\n--b--\r\n')]);
  return { headers: { 'Content-Type': 'multipart/form-data; boundary=b' }, body };
}

/** Sends a long announced body, or headers, byte by byte, until the service ends the connection. */
async function drip(url: string, head: string, everyMs: number, mostMs: number): Promise<Outcome> {
  const wire = new Wire(url);
  let isOver = false;
  void wire.ended.then(() => (isOver = true));
  await wire.write(head);
  for (const endMs = performance.now() + mostMs; !isOver && performance.now() < endMs; await sleep(everyMs))
    await wire.write('x');
  if (!isOver) {
    wire.close();
    return { is: 'open', text: wire.sent.text };
  }
  return of(await wire.ended);
}

/** A request whose answer nobody reads, for this long. */
async function unread(url: string, path: string, message: Message, forMs: number): Promise<Outcome> {
  const wire = new Wire(url, false);
  await wire.write(headOf(path, message));
  if (message.body !== undefined) await wire.write(message.body);
  await sleep(forMs);
  wire.close();
  return { is: 'unread', text: '' };
}

/** A request that its client abandons. */
async function givenUp(url: string, path: string, message: Message, afterMs: number): Promise<Outcome> {
  const wire = new Wire(url);
  await wire.write(headOf(path, message));
  if (message.body !== undefined) await wire.write(message.body);
  const given = await Promise.race([wire.ended, sleep(afterMs)]);
  wire.close();
  return given ? of(given) : { is: 'given up', text: '' };
}

async function raw(url: string, text: string | Uint8Array): Promise<Outcome> {
  const wire = new Wire(url);
  await wire.write(text);
  return of(await wire.ended);
}

const phaseOf = async (url: string, path: string, from = ATTACKER) =>
  /\r\n\r\n(?:[0-9a-f]+\r\n)?(\w+)/.exec((await send(url, `${path}/phase`, { client: from })).text)?.[1] ?? 'none';

/** A job from its creation to its end, or to the end of the time; it is then removed. */
async function job(url: string, path: string, message: Message, mostMs: number): Promise<Outcome> {
  const made = await send(url, path, message);
  const [, location] = /^location: (?:https?:\/\/[^/]+)?(\S+)/im.exec(made.text) ?? [];
  if (!location) return of(made);
  let is = 'none';
  for (const endMs = performance.now() + mostMs; performance.now() < endMs; await sleep(200)) {
    is = await phaseOf(url, location);
    if (/COMPLETED|ERROR|ABORTED/.test(is)) break;
  }
  const { text } = is === 'ERROR' ? await send(url, location) : { text: '' };
  await send(url, location, { method: 'DELETE' });
  return { is, text };
}

/** This many ADQL jobs that have not started. */
async function pendingJobs(url: string, count: number, message: Message): Promise<string[]> {
  const made = await Promise.all(Array.from({ length: count }, () => send(url, '/vo/tap/async', message)));
  return made.flatMap(({ text }) => /^location: (?:https?:\/\/[^/]+)?(\S+)/im.exec(text)?.[1] ?? []);
}

const removed = async (url: string, paths: readonly string[]) => {
  for (const path of paths) await send(url, path, { method: 'DELETE' });
};

/** This many concurrent requests, each followed by another, for this long. */
async function flood(count: number, forMs: number, each: () => Promise<Outcome>): Promise<readonly Outcome[]> {
  const endMs = performance.now() + forMs;
  const outcomes: Outcome[] = [];
  const again = async () => {
    while (performance.now() < endMs) outcomes.push(await each());
  };
  await Promise.all(Array.from({ length: count }, again));
  return outcomes;
}

const numbered = (count: number, text: (i: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, i) => text(i)).join(separator);
/** A table of one row, whose columns have long descriptions. */
const describedTable = (columns: number, characters: number) =>
  votable(
    numbered(
      columns,
      i => `<FIELD name="c${i}" datatype="int"><DESCRIPTION>${'d'.repeat(characters)}</DESCRIPTION></FIELD>`,
    ),
    `<TABLEDATA><TR>${'<TD>1</TD>'.repeat(columns)}</TR></TABLEDATA>`,
  );

const joined = (text: string, count: number) => new Array(count).fill(text).join(' || ');
const CROSS =
  'SELECT COUNT(*) FROM objects AS a, objects AS b, objects AS c, objects AS d, objects AS e WHERE a.ra * b.ra * c.ra * d.ra * e.ra < -5';
const THREE = 'objects AS a, objects AS b, objects AS c, objects AS d';
const TEXTS = `SELECT MAX(x) FROM (SELECT ${joined('t', 50)} AS x FROM (SELECT ${joined('CAST(a.ra + b.ra + c.ra + d.ra AS VARCHAR)', 20)} AS t FROM ${THREE}) AS q) AS r`;
const WIDE = `SELECT TOP 1000000 ${Array.from({ length: 20 }, (_, i) => `a.ra + ${i} AS k${i}`).join(', ')} FROM ${THREE}`;

const votable = (fields: string, data: string) =>
  `<VOTABLE><RESOURCE><TABLE>${fields}<DATA>${data}</DATA></TABLE></RESOURCE></VOTABLE>`;
const RA_DEC = '<FIELD name="ra" datatype="double"/><FIELD name="dec" datatype="double"/>';

/** A FITS file of one extension with these cards. */
function fits(cards: readonly string[]): Buffer {
  const unit = (lines: readonly string[]) => {
    const text = [...lines, 'END'].map(card => card.padEnd(80)).join('');
    return text.padEnd(2880 * Math.ceil(text.length / 2880));
  };
  return Buffer.from(
    unit(['SIMPLE  =                    T', 'BITPIX  =                    8', 'NAXIS   =                    0']) +
      unit(["XTENSION= 'BINTABLE'", 'BITPIX  =                    8', 'NAXIS   =                    2', ...cards]),
  );
}

/** A FITS table of one row, with a string of this many mebibytes. */
function longText(mib: number): Uint8Array {
  const cards = [
    `NAXIS1  = ${mib << 20}`,
    'NAXIS2  = 1',
    'PCOUNT  = 0',
    'GCOUNT  = 1',
    'TFIELDS = 3',
    "TFORM1  = '1D'",
    "TTYPE1  = 'ra'",
    "TFORM2  = '1D'",
    "TTYPE2  = 'dec'",
    `TFORM3  = '${(mib << 20) - 16}A'`,
  ];
  return gzipSync(Buffer.concat([fits(cards), Buffer.alloc(mib << 20, 'x'), Buffer.alloc(2880)]), { level: 1 });
}

const COMPLEX_ECSV = `# %ECSV 1.0\n# ---\n# a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from(
  { length: 20 },
  (_, i) => `# a${i + 1}: &a${i + 1} [${new Array(9).fill(`*a${i}`).join()}]\n`,
).join('')}# datatype: *a20\nra,dec\n1,2\n`;

const THOUSAND_IDS = new Array(1000).fill('{"kind":"id","diaObjectId":"313637935709683761"}').join();

export const ATTACKS: readonly Attack[] = [
  // The rows of the table of what has happened.
  {
    name: 'a form of 590,000 parts to TAP',
    sends: once('/vo/tap/sync', () => multipart(590_000, () => 'x')),
    expects: ['400'],
    says: /at most 32 fields and files/,
  },
  // Deno's process may end before it can say that it has no memory.
  { name: 'a line of 60 million brackets', sends: table(BRACKETS), expects: isDeno ? ['400', '503'] : ['400'] },
  {
    name: 'the same as a job',
    sends: async url => [await job(url, TABLE, { headers: { Prefer: 'respond-async' }, body: BRACKETS() }, 60_000)],
    expects: ['ERROR'],
  },
  {
    name: 'lookups of 1.3 million numbers, six clients',
    sends: async url => {
      const body = `{"inputs":[${new Array(1_300_000).fill('1').join()}]}`;
      return await many(6, async i =>
        of(await send(url, '/api/lookup', { headers: JSON_TYPE, body, client: client(i) })),
      );
    },
    expects: ['400'],
    says: /names and values|bytes/,
  },
  {
    name: 'Parquet: a text of 100 kB for 990,000 rows',
    sends: table(LONG_TEXTS),
    // 503: small tables of the other client are read at the same moment.
    expects: ['400', '503'],
  },
  { name: 'Arrow: a text of 100 kB for 1,000,000 rows', sends: table(arrow), expects: ['400'] },
  {
    name: 'two tables and six forms, a byte every two seconds',
    sends: async url => {
      const long = { 'Content-Length': '1000000', 'Content-Type': 'multipart/form-data; boundary=b' };
      return await many(8, i =>
        drip(url, headOf(i < 2 ? TABLE : '/vo/tap/sync', { method: 'POST', headers: long }), 2000, 20_000),
      );
    },
    expects: ['408'],
  },
  {
    name: 'four cross joins',
    sends: url => many(4, () => givenUp(url, '/vo/tap/sync', query(CROSS), 4000)),
    expects: ['given up', '503'],
  },
  {
    name: 'texts of texts in ADQL',
    sends: once('/vo/tap/sync', query(TEXTS)),
    expects: isDeno ? ['400', '503'] : ['400'],
    says: /memory/,
  },
  {
    name: '97 jobs of one IPv6 network that never begin',
    sends: async url => {
      const paths: string[] = [];
      const outcomes = await many(97, async i => {
        const made = await send(url, '/vo/tap/async', {
          ...query('SELECT TOP 1 ra FROM objects'),
          client: `2001:db8::${i + 1}`,
        });
        const [, location] = /^location: (?:https?:\/\/[^/]+)?(\S+)/im.exec(made.text) ?? [];
        if (location) paths.push(location);
        return of(made);
      });
      const other = await job(
        url,
        '/vo/tap/async',
        { ...query('SELECT TOP 1 ra FROM objects', { PHASE: 'RUN' }), client: '192.0.2.2' },
        30_000,
      );
      for (const path of paths) await send(url, path, { method: 'DELETE' });
      return [...outcomes.filter(({ is }) => is !== '303' && is !== '503'), other];
    },
    expects: ['COMPLETED'],
  },
  {
    name: 'a job in ADQL with a result of 200 MB',
    sends: async url => [await job(url, '/vo/tap/async', query(WIDE, { PHASE: 'RUN' }), 4000)],
    expects: ['COMPLETED', 'EXECUTING'],
  },

  // Readers of tables.
  {
    name: 'CSV: one line of 200 MiB',
    sends: table(() => zipped(200, 'x', 'ra,dec\n')),
    expects: ['400'],
    says: /1048576 bytes|memory/,
  },
  {
    name: 'CSV: 200 MiB of rows',
    sends: table(() => zipped(200, '1,2\n', 'ra,dec\n')),
    expects: ['400'],
    says: /1000000 rows|memory/,
  },
  {
    name: 'CSV: a quote that does not end',
    sends: table(() => zipped(200, 'x\n', 'ra,dec\n1,"')),
    expects: ['400'],
    says: /bytes|not end|memory/,
  },
  {
    name: 'CSV: a million columns',
    sends: table(() => `${new Array(1_000_000).fill('c').join()}\n`),
    expects: ['400'],
    says: /columns|bytes/,
  },
  {
    name: 'CSV: 2,000 columns of a million rows without a cell',
    sends: table(() =>
      zipped(250, `${','.repeat(1999)}\n`, `${Array.from({ length: 2000 }, (_, i) => `c${i}`).join()}\n`),
    ),
    expects: ['400'],
  },
  { name: 'text: blanks of 200 MiB', sends: table(() => zipped(200, ' ', 'ra dec\n1 2\n')), expects: ['400'] },
  { name: 'ECSV: a header of references to references', sends: table(() => COMPLEX_ECSV), expects: ['400'] },
  {
    name: 'ECSV: a header of 100 MiB',
    sends: table(() => zipped(100, '# - x\n', '# %ECSV 1.0\n# ---\n')),
    expects: ['400'],
  },
  { name: 'IPAC: 50 MiB of keywords', sends: table(() => zipped(50, '\\k = 1\n', '', '|ra|dec|\n')), expects: ['400'] },
  {
    name: 'NDJSON: a new column in each row',
    sends: table(() => Array.from({ length: 300_000 }, (_, i) => `{"c${i}":${i}}\n`).join('')),
    expects: ['400'],
    says: /columns/,
  },
  {
    name: 'NDJSON: an object of a million names',
    sends: table(() => `{${Array.from({ length: 1_000_000 }, (_, i) => `"c${i}":1`).join()}}\n`),
    expects: ['400'],
    says: /columns|bytes/,
  },
  {
    name: 'VOTable: elements of 200 MiB that do not end',
    sends: table(() => zipped(200, '<A>', '<VOTABLE>')),
    expects: ['400'],
  },
  {
    name: 'VOTable: a million fields',
    sends: table(() => votable('<FIELD name="a" datatype="int"/>'.repeat(1_000_000), '<TABLEDATA/>')),
    expects: ['400'],
    says: /columns/,
  },
  {
    name: 'VOTable: declared entities',
    sends: table(() => `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>${votable(RA_DEC, '<TABLEDATA/>')}`),
    expects: ['400'],
    says: /document type/,
  },
  {
    name: 'VOTable: an attribute of 20 MiB that does not end',
    sends: table(() => `<VOTABLE a="${'x'.repeat(20 << 20)}`),
    expects: ['400'],
    says: /well-formed/,
  },
  {
    name: 'VOTable: blanks of 8 MiB within a tag',
    sends: table(() => `<VOTABLE ${' '.repeat(8 << 20)}<`),
    expects: ['400'],
  },
  {
    name: 'VOTable: a tag that does not end',
    sends: table(() => `<VOTABLE><RESOURCE><TABLE>${RA_DEC}<DATA><TABLEDATA><TR><TD>1</TD><TD`),
    expects: ['400'],
  },
  {
    name: 'VOTable: arrays of 4 thousand million in BINARY2',
    sends: table(() =>
      votable(
        `${RA_DEC}<FIELD name="t" datatype="char" arraysize="*"/>`,
        `<BINARY2><STREAM encoding="base64">${Buffer.concat([Buffer.alloc(17), Buffer.alloc(4, 255)]).toString('base64')}</STREAM></BINARY2>`,
      ),
    ),
    expects: ['400'],
  },
  {
    name: 'VOTable: an arraysize of 10^15',
    sends: table(() =>
      votable(
        `${RA_DEC}<FIELD name="t" datatype="double" arraysize="1000000x1000000x1000"/>`,
        '<BINARY><STREAM encoding="base64">AAAA</STREAM></BINARY>',
      ),
    ),
    expects: ['400'],
  },
  {
    name: 'FITS: a header without an end',
    sends: table(() => zipped(200, ' ', 'SIMPLE  =                    T')),
    expects: ['400'],
  },
  {
    name: 'FITS: a row of 8 GB',
    sends: table(() =>
      fits([
        'NAXIS1  =           8000000000',
        'NAXIS2  =                    1',
        'PCOUNT  = 0',
        'GCOUNT  = 1',
        'TFIELDS = 1',
        "TFORM1  = '1000000000D'",
      ]),
    ),
    expects: ['400'],
  },
  {
    name: 'FITS: 999,999,999 fields',
    sends: table(() => fits(['NAXIS1  = 8', 'NAXIS2  = 1', 'TFIELDS =            999999999', "TFORM1  = '1D'"])),
    expects: ['400'],
  },
  {
    name: 'FITS: a text of 200 MiB in a row',
    sends: table(() => longText(200)),
    expects: isDeno ? ['400', '503'] : ['400'],
  },
  {
    name: 'Parquet and FITS at once, requests of six clients and a job',
    sends: async url => {
      const bodies = [LONG_TEXTS(), longText(200)];
      const body = (i: number) => bodies[i % 2]!;
      const outcomes = many(6, async i => of(await send(url, TABLE, { body: body(i), client: client(i) })));
      const done = await job(url, TABLE, { headers: { Prefer: 'respond-async' }, body: body(1) }, 120_000);
      return [...(await outcomes), done];
    },
    expects: ['400', '503', 'ERROR'],
  },
  {
    name: 'Parquet: a footer of lies',
    sends: table(() =>
      Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(4096, 0xff), Buffer.from([0, 16, 0, 0]), Buffer.from('PAR1')]),
    ),
    expects: ['400'],
  },
  {
    name: 'Parquet: 990,000 texts that differ, compressed',
    sends: table(() => parquet(() => Array.from({ length: 200_000 }, (_, i) => `${'x'.repeat(200)}${i}`))),
    expects: ['200', '400'],
  },
  {
    name: 'Arrow: a message of 2 GB',
    sends: table(() => Buffer.from([255, 255, 255, 255, 255, 255, 255, 127, ...new Uint8Array(64)])),
    expects: ['400'],
  },
  {
    name: 'gzip: 300 MiB of zeros',
    sends: table(() => zipped(300, '\0')),
    expects: ['400'],
    says: /268435456 bytes|memory/,
  },
  {
    name: 'gzip: 100,000 members',
    sends: table(() => Buffer.concat(new Array(100_000).fill(gzipSync('')))),
    expects: ['400'],
  },
  {
    name: 'gzip: cut short',
    sends: table(() => zipped(50, '1,2\n', 'ra,dec\n').subarray(0, 20_000)),
    expects: ['400'],
  },
  {
    name: 'a table that comes with a query: brackets',
    sends: url => many(2, async () => of(await send(url, '/vo/tap/sync', upload(BRACKETS())))),
    expects: isDeno ? ['400', '503'] : ['400'],
  },
  {
    name: 'a table that comes with a query: 500 columns of 10,000 rows',
    sends: once('/vo/tap/sync', () => upload(csvOf(500, 10_000))),
    expects: ['200'],
  },
  {
    name: 'a table that comes with a query: a million rows, twice',
    sends: url => many(2, async () => of(await send(url, '/vo/tap/sync', upload(csvOf(2, 1_000_000))))),
    expects: ['200'],
  },
  {
    name: 'a table that comes with a query: a text for each row',
    sends: once('/vo/tap/sync', () => upload(LONG_TEXTS())),
    // 503: small tables of the other client are read at the same moment.
    expects: ['400', '503'],
  },

  // Areas.
  {
    name: 'area: 300 MiB of zeros in gzip',
    sends: once(AREA, () => ({ body: zipped(300, '\0') })),
    expects: ['400', '503'],
  },
  {
    name: 'area: a polygon of a million corners',
    sends: once(AREA, () => ({
      body: `POLYGON ${Array.from({ length: 300_000 }, (_, i) => `${i % 360} ${i % 90}`).join(' ')}`,
    })),
    expects: ['400'],
  },
  {
    name: 'area: a MOC of 100,000 cells, eight clients',
    sends: url =>
      many(8, async i =>
        of(
          await send(url, AREA, {
            body: `{"12":[${Array.from({ length: 100_000 }, (_, at) => at * 2).join()}]}`,
            client: client(i),
          }),
        ),
      ),
    expects: ['200', '400', '503'],
  },
  { name: 'area: brackets', sends: once(AREA, () => ({ body: '['.repeat(1 << 20) })), expects: ['400'] },
  { name: 'area: brackets in gzip', sends: once(AREA, () => ({ body: BRACKETS() })), expects: ['400', '503'] },
  {
    name: 'area: a map that ends after its header',
    sends: once(AREA, () => ({
      body: fits([
        'NAXIS1  = 16',
        'NAXIS2  =         999999999999',
        'TFIELDS = 2',
        "TTYPE1  = 'UNIQ'",
        "TFORM1  = 'K'",
        "TTYPE2  = 'PROBDENSITY'",
        "TFORM2  = 'D'",
        "ORDERING= 'NUNIQ'",
        "PIXTYPE = 'HEALPIX'",
      ]),
    })),
    expects: ['400'],
  },
  {
    name: 'area: the whole sky as a table, sixteen clients',
    sends: url =>
      many(16, async i =>
        of(
          await send(url, '/api/area?response=table&format=csv', {
            body: '{"0":[0,1,2,3,4,5,6,7,8,9,10,11]}',
            client: client(i),
          }),
        ),
      ),
    expects: ['200', '503'],
  },

  // JSON.
  { name: 'lookup: nested without end', sends: lookup(`{"inputs":${'['.repeat(500_000)}`), expects: ['400'] },
  {
    name: 'lookup: a name of 2 MB',
    sends: lookup(`{"inputs":[{"kind":"tns","name":"${'x'.repeat(2_000_000)}"}]}`),
    expects: ['200', '400'],
  },
  {
    name: 'lookup: escapes',
    sends: lookup(`{"inputs":[{"kind":"id","diaObjectId":"${'\\u0031'.repeat(300_000)}"}]}`),
    expects: ['200', '400'],
  },
  {
    name: 'lookup: 1,000 ids at full, sixteen clients',
    sends: url =>
      many(16, async i =>
        of(
          await send(url, '/api/lookup', {
            headers: JSON_TYPE,
            client: client(i),
            body: `{"detail":"full","inputs":[${THOUSAND_IDS}]}`,
          }),
        ),
      ),
    expects: ['200', '503'],
  },
  {
    name: 'lookup: 1,000 ids, 200 at once of one client',
    sends: url =>
      many(200, async () =>
        of(
          await send(url, '/api/lookup', {
            headers: JSON_TYPE,
            client: client(0),
            body: `{"inputs":[${THOUSAND_IDS}]}`,
          }),
        ),
      ),
    expects: ['200', '503'],
  },
  {
    name: 'connector: 100,000 calls in one',
    sends: once('/mcp', {
      headers: { ...JSON_TYPE, Accept: 'application/json, text/event-stream' },
      body: `[${new Array(100_000).fill('{"jsonrpc":"2.0","id":1,"method":"tools/list"}').join()}]`,
    }),
    expects: ['400', '413'],
  },
  {
    name: 'connector: ids and arguments without end',
    sends: url =>
      many(4, async i => {
        const body = [
          `{"jsonrpc":"2.0","id":${'['.repeat(100_000)}`,
          `{"jsonrpc":"2.0","id":${'9'.repeat(900_000)},"method":"ping"}`,
          `{"jsonrpc":"2.0","id":"${'x'.repeat(900_000)}","method":"ping"}`,
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${'{"a":'.repeat(900)}1${'}'.repeat(900)}}}`,
        ][i]!;
        const headers = { ...JSON_TYPE, Accept: 'application/json, text/event-stream' };
        return of(await send(url, '/mcp', { headers, body }));
      }),
    expects: ['200', '400'],
  },
  {
    name: 'connector: 200 calls at once',
    sends: url =>
      many(200, async () =>
        of(
          await send(url, '/mcp', {
            headers: { ...JSON_TYPE, Accept: 'application/json, text/event-stream' },
            body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
          }),
        ),
      ),
    expects: ['200', '400', '429', '503'],
  },

  // Other endpoints.
  {
    name: 'parameters: 2,000 unknown ones',
    sends: once(`/api/cone?ra=1&dec=1&${Array.from({ length: 2000 }, (_, i) => `p${i}=`).join('&')}`, {}),
    expects: ['200', '400', '431'],
  },
  { name: 'a cursor of 15 kB', sends: once(`/api/objects?cursor=${'A'.repeat(15_000)}`, {}), expects: ['400'] },
  {
    name: 'cones of an arcminute, 200 clients',
    sends: url =>
      many(200, async i =>
        of(await send(url, `/api/cone?ra=221.596&dec=-40&radius_arcsec=60&detail=full&x=${i}`, { client: client(i) })),
      ),
    // 503: more requests wait than are allowed.
    expects: ['200', '503'],
  },
  {
    name: 'cones of the Virtual Observatory, 100 clients',
    sends: url => many(100, async i => of(await send(url, '/vo/scs?RA=221.596&DEC=-40&SR=0.5', { client: client(i) }))),
    expects: ['200', '503'],
  },
  {
    name: 'long lookups of one client, 200 at once, beside the long queries of another one',
    sends: async url => {
      const own = flood(200, 4000, async () => of(await send(url, '/api/lookup?format=csv', LONG_LOOKUP)));
      const others = flood(1, 4000, async () => {
        const area = { body: '{"0":[0,1,2,3,4,5,6,7,8,9,10,11]}', client: client(1) };
        const listed = await send(url, '/api/area?page_size=1000&detail=full', area);
        const cone = '/api/cone?ra=221.596&dec=-40&radius_arcsec=60&page_size=1000';
        const { status, text } = listed.status === 200 ? await send(url, cone, { client: client(1) }) : listed;
        return { is: `another: ${status}`, text };
      });
      return (await Promise.all([own, others])).flat();
    },
    expects: ['200', '503', 'another: 200'],
  },
  {
    name: 'all objects as a table, 20 clients',
    sends: url =>
      many(20, async i => of(await send(url, '/api/objects?format=csv&page_size=10000', { client: client(i) }))),
    expects: ['200', '400', '503'],
  },
  {
    name: 'recent crossmatches, 50 clients',
    sends: url =>
      many(50, async i =>
        of(await send(url, '/api/recent-crossmatches?page_size=10000&detail=full', { client: client(i) })),
      ),
    expects: ['200', '400', '503'],
  },
  {
    name: 'sources, 50 clients',
    sends: url =>
      many(50, async i =>
        of(await send(url, '/api/sources?ra=221.596&dec=-40&radius_arcsec=60', { client: client(i) })),
      ),
    expects: ['200', '503'],
  },
  {
    name: 'sky maps, 50 clients',
    sends: url => many(50, async i => of(await send(url, `/api/sky-map?resolution=${i % 6}`, { client: client(i) }))),
    expects: ['200', '400', '503'],
  },
  {
    name: 'documents and pages, 100 at once',
    sends: url =>
      many(100, async i =>
        of(await send(url, ['/openapi.json', '/api-docs.md', '/', '/vo/tap/tables', '/metrics'][i % 5]!, {})),
      ),
    expects: ['200'],
  },
  {
    name: 'ADQL: nested 5,000 deep',
    sends: once('/vo/tap/sync', query(`SELECT ${'('.repeat(5000)}1${')'.repeat(5000)} FROM objects`)),
    expects: ['400'],
  },
  {
    name: 'ADQL: a list of 50,000 numbers',
    sends: once(
      '/vo/tap/sync',
      query(
        `SELECT COUNT(*) FROM objects WHERE diaObjectId IN (${Array.from({ length: 50_000 }, (_, i) => i).join()})`,
      ),
    ),
    expects: ['200', '400'],
  },
  {
    name: 'ADQL: a million characters of blanks',
    sends: once('/vo/tap/sync', query(`SELECT${' '.repeat(900_000)}1 FROM objects`)),
    expects: ['200', '400'],
  },
  {
    name: 'ADQL: 40 queries at once of 40 clients',
    sends: url =>
      many(40, async i =>
        of(
          await send(url, '/vo/tap/sync', {
            ...query('SELECT COUNT(*) FROM objects AS a, objects AS b'),
            client: client(i),
          }),
        ),
      ),
    expects: ['200', '503'],
  },
  {
    name: 'ADQL: 40 tables that have all columns in common',
    sends: url =>
      many(4, () =>
        givenUp(
          url,
          '/vo/tap/sync',
          query(`SELECT COUNT(*) FROM objects AS a0 ${numbered(39, i => `NATURAL JOIN objects AS a${i + 1}`)}`),
          5000,
        ),
      ),
    expects: ['400'],
    says: /comparisons between columns/,
  },
  {
    name: 'ADQL: full joins of 40 tables, two at once',
    sends: url =>
      many(2, () =>
        givenUp(
          url,
          '/vo/tap/sync',
          query(
            `SELECT COUNT(*) FROM objects AS a0 ${numbered(39, i => `FULL JOIN objects AS a${i + 1} USING (diaObjectId)`)}`,
          ),
          8000,
        ),
      ),
    expects: ['200', '400', '503', 'given up'],
  },
  {
    name: 'ADQL: plans of 25 tables that are given up after 50 ms, again and again',
    sends: url =>
      flood(20, 4000, () =>
        givenUp(
          url,
          '/vo/tap/sync',
          query(
            `SELECT COUNT(*) FROM objects AS a0 ${numbered(24, i => `JOIN objects AS a${i + 1} ON a${i}.ra = a${i + 1}.ra`)}`,
          ),
          50,
        ),
      ),
    expects: ['200', '503', 'given up'],
  },
  {
    name: 'ADQL: one text of megabytes in each format',
    sends: async url => {
      const formats = ['csv', 'votable', 'votable/td', 'fits', 'parquet', 'arrow', 'ndjson', 'ecsv'];
      const adql =
        "SELECT IVO_STRING_AGG(CAST(a.ra + b.ra AS VARCHAR), ',') FROM objects AS a, (SELECT TOP 2000 ra FROM objects) AS b";
      return await many(formats.length, async i =>
        of(await send(url, '/vo/tap/sync', query(adql, { FORMAT: formats[i]! }))),
      );
    },
    expects: ['200', '400', '503'],
  },
  {
    name: 'a table that comes with a query: a description of a megabyte, in 500 columns of each format',
    sends: async url => {
      const formats = ['votable', 'parquet', 'arrow', 'ecsv', 'votable/td'];
      const adql = `SELECT ${numbered(500, () => 'c0', ',')} FROM TAP_UPLOAD.t`;
      return await many(formats.length, async i =>
        of(await send(url, '/vo/tap/sync', upload(describedTable(1, 1_000_000), adql, formats[i]))),
      );
    },
    expects: ['200', '400', '503'],
  },
  {
    name: 'a table that comes with a query: 499 descriptions of 8 kB',
    sends: once('/vo/tap/sync', () => upload(describedTable(499, 8000), 'SELECT * FROM TAP_UPLOAD.t', 'votable')),
    expects: ['200'],
  },
  {
    name: 'a table that comes with a query: given up at once, 100 times',
    sends: url => many(100, i => givenUp(url, '/vo/tap/sync', upload(csvOf(2, 50_000)), 30 + 10 * i)),
    expects: ['200', '503', 'given up'],
  },
  {
    name: 'a table that comes with a query: columns of the names that the engine gives, and quotes',
    sends: once('/vo/tap/sync', () => {
      const names = [
        'rowid',
        'ROWID',
        'file_row_number',
        'filename',
        'c0',
        'C0',
        '&quot;; DROP TABLE x; --',
        '&#10;',
        "'",
      ];
      const fields = names.map(name => `<FIELD name="${name}" datatype="int"/>`).join('');
      const row = `<TR>${'<TD>1</TD>'.repeat(names.length)}</TR>`;
      return upload(votable(fields, `<TABLEDATA>${row}</TABLEDATA>`), 'SELECT * FROM TAP_UPLOAD.t');
    }),
    expects: ['200'],
  },
  {
    name: 'a table that comes with a query: FITS whose sizes are negative or a thousand million',
    sends: async url => {
      const table = (width: number, rows: number, form: string) =>
        fits([
          `NAXIS1  = ${width}`,
          `NAXIS2  = ${rows}`,
          'PCOUNT  = 0',
          'GCOUNT  = 1',
          'TFIELDS = 1',
          `TFORM1  = '${form}'`,
        ]);
      const tables = [
        table(-8, 1, '1D'),
        table(8, -1, '1D'),
        table(0, 1_000_000, '0D'),
        table(8, 1, '1000000000X'),
        table(8, 1, '1PD(999999999)'),
      ];
      return await many(tables.length, async i => of(await send(url, '/vo/tap/sync', upload(tables[i]!))));
    },
    expects: ['400', '503'],
  },
  {
    name: 'jobs: 25 whose parameters grow by 1 MB at a time, and those that are refused then',
    sends: async url => {
      const own = await pendingJobs(url, 25, query('x'.repeat(250_000)));
      const long = 'x'.repeat(1_000_000);
      const grown = await Promise.all(
        ['FORMAT', 'RUNID'].flatMap(name =>
          own.map(async path => of(await send(url, `${path}/parameters`, form({ [name]: long })))),
        ),
      );
      const refused = await flood(50, 3000, async () =>
        of(await send(url, '/vo/tap/async', query('SELECT 1 FROM objects'))),
      );
      await removed(url, own);
      return [...grown, ...refused];
    },
    expects: ['400', '503'],
    says: /at most 262144/,
  },
  {
    name: 'jobs: 200 made at once, again and again',
    sends: async url => {
      const own: string[] = [];
      const outcomes = await flood(200, 3000, async () => {
        const made = await send(url, '/vo/tap/async', query('SELECT 1 FROM objects'));
        own.push(...(/^location: (?:https?:\/\/[^/]+)?(\S+)/im.exec(made.text)?.slice(1) ?? []));
        return of(made);
      });
      await removed(url, own);
      return outcomes;
    },
    expects: ['303', '503'],
  },
  {
    name: 'jobs: 1,000 that wait for a job with a long query',
    sends: async url => {
      const own = await pendingJobs(url, 1, query('x'.repeat(250_000)));
      const outcomes = await many(1000, () => givenUp(url, `${own[0]}?WAIT=60`, {}, 4000));
      await removed(url, own);
      return outcomes;
    },
    expects: ['given up', '503', 'ended'],
  },
  {
    name: 'jobs: the parameters of one changed, 200 at once',
    sends: async url => {
      const own = await pendingJobs(url, 1, query('SELECT 1 FROM objects'));
      const outcomes = await flood(200, 3000, async () =>
        of(await send(url, `${own[0]}/parameters`, form({ RUNID: 'x'.repeat(60_000) }))),
      );
      await removed(url, own);
      return outcomes;
    },
    expects: ['303', '503'],
  },
  {
    name: 'jobs that are made and removed, 100 times',
    sends: async url => {
      for (let i = 0; i < 100; i++) await job(url, '/vo/tap/async', query('SELECT 1 FROM objects'), 0);
      return [];
    },
    expects: [],
  },
  {
    name: 'tables of 48 clients at once',
    sends: url =>
      many(48, async i => of(await send(url, TABLE, { body: `ra,dec\n${'1,2\n'.repeat(1000)}`, client: client(i) }))),
    expects: ['200', '503'],
  },
  {
    name: 'tables of a million rows, four clients',
    sends: url =>
      many(4, async i =>
        of(await send(url, TABLE, { body: zipped(4, '1,2\n', 'ra,dec\n').subarray(), client: client(i) })),
      ),
    expects: ['200', '400', '503'],
  },

  // HTTP/1.1.
  {
    name: 'HTTP: a header of a megabyte',
    sends: url => many(4, () => raw(url, `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(1 << 20)}\r\n\r\n`)),
    expects: ['431', 'ended'],
  },
  {
    name: 'HTTP: 10,000 headers',
    sends: url => many(4, () => raw(url, `GET / HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(10_000)}\r\n`)),
    expects: ['431', 'ended'],
  },
  {
    name: 'HTTP: a path of 64 kB',
    sends: url => many(4, () => raw(url, `GET /${'x'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`)),
    expects: ['414', '431', 'ended'],
  },
  {
    name: 'HTTP: two lengths of one body',
    sends: url =>
      many(4, () =>
        raw(
          url,
          'POST /api/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n',
        ),
      ),
    expects: ['400'],
  },
  {
    name: 'HTTP: a chunk of 2^64 bytes',
    sends: url =>
      many(4, () =>
        raw(url, 'POST /api/lookup HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nx'),
      ),
    expects: ['400', '413'],
  },
  {
    name: 'HTTP: an extension of a chunk, and trailers, of a megabyte',
    sends: url =>
      many(8, i => {
        const path = [TABLE, AREA, '/api/lookup', '/vo/tap/sync'][i % 4];
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: ${ATTACKER}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
        const bodies = [
          `3;${'e'.repeat(1 << 20)}\r\nabc\r\n0\r\n\r\n`,
          `3\r\nabc\r\n0\r\n${`T: ${'x'.repeat(1000)}\r\n`.repeat(1000)}\r\n`,
        ];
        return raw(url, head + bodies[i >> 2]);
      }),
    expects: ['400', '413', '431', 'ended'],
  },
  {
    name: 'HTTP: requests that a proxy may read differently',
    sends: async url => {
      const post = 'POST /api/lookup HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
      const requests = [
        'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n',
        `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx`,
        `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
        `${post}Content-Length: -1\r\n\r\n`,
        `${post}Content-Length : 3\r\n\r\nxxx`,
        'GET /\u0000 HTTP/1.1\r\nHost: x\r\n\r\n',
      ];
      return await many(requests.length, i => raw(url, requests[i]!));
    },
    expects: ['400', '501', 'ended'],
  },
  {
    name: 'HTTP: chunks of a byte with long extensions',
    sends: url =>
      many(4, () =>
        raw(
          url,
          `POST ${TABLE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: ${ATTACKER}\r\nTransfer-Encoding: chunked\r\n\r\n${`1;${'e'.repeat(10_000)}\r\nx\r\n`.repeat(500)}0\r\n\r\n`,
        ),
      ),
    expects: ['400', '413', 'ended'],
  },
  {
    name: 'HTTP: chunks of a byte, 300,000 of them, to everything that takes a body',
    sends: url =>
      many(10, i =>
        raw(
          url,
          `POST ${[TABLE, AREA, '/api/lookup', '/vo/tap/sync', '/mcp'][i % 5]} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: ${ATTACKER}\r\nContent-Type: ${i % 5 === 3 ? FORM['Content-Type'] : 'application/json'}\r\nAccept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n1\r\n'.repeat(300_000)}0\r\n\r\n`,
        ),
      ),
    expects: ['400'],
    says: /chunks must have at least 8 bytes/,
  },
  {
    name: 'HTTP: 5,000 requests on a connection, answers not read',
    sends: async url => [
      await unread(url, '/', { headers: { Connection: 'keep-alive' } }, 0),
      ...(await many(4, async () => {
        const wire = new Wire(url, false);
        await Promise.race([
          wire.write(headOf('/openapi.json', { headers: { Connection: 'keep-alive' } }).repeat(5000)),
          sleep(2000),
        ]);
        await sleep(1000);
        wire.close();
        return { is: 'unread', text: '' };
      })),
    ],
    expects: ['unread'],
  },
  {
    name: 'HTTP: 1,000 connections without a byte',
    sends: async url => {
      const wires = Array.from({ length: 1000 }, () => new Wire(url));
      await sleep(1500);
      for (const wire of wires) wire.close();
      return [];
    },
    expects: [],
  },
  {
    name: 'HTTP: 200 heads, a byte at a time',
    sends: url => many(200, () => drip(url, 'GET / HTTP/1.1\r\nHost: x\r\nA: ', 500, 3000)),
    expects: ['open', '408', 'ended'],
  },
  {
    name: 'HTTP: other protocols',
    sends: async url =>
      await many(6, i =>
        raw(
          url,
          [
            Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, ...new Uint8Array(500)]),
            'GET /\r\n\r\n',
            'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
            'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
            'TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
            Buffer.alloc(100_000, 0),
          ][i]!,
        ),
      ),
    expects: ['400', '405', '501', '505', 'ended'],
  },
  {
    name: 'HTTP: a body that is announced and does not come',
    sends: url =>
      many(20, i =>
        givenUp(
          url,
          [TABLE, AREA, '/api/lookup', '/vo/tap/sync', '/mcp'][i % 5]!,
          { method: 'POST', headers: { 'Content-Length': '100000', Expect: '100-continue', ...JSON_TYPE } },
          1500,
        ),
      ),
    expects: ['given up', '400', '408', '503'],
  },
  {
    name: 'HTTP: bodies of a gigabyte',
    sends: url =>
      many(5, i =>
        givenUp(
          url,
          [TABLE, AREA, '/api/lookup', '/vo/tap/sync', '/mcp'][i]!,
          { method: 'POST', headers: { 'Content-Length': '1000000000', ...JSON_TYPE }, body: 'x' },
          5000,
        ),
      ),
    expects: ['400', '413', 'ended'],
  },

  // Clients that do not read, and that go away.
  {
    name: 'answers of TAP that nobody reads',
    sends: url => many(4, i => unread(url, '/vo/tap/sync', { ...query(WIDE), client: client(i) }, 4000)),
    expects: ['unread'],
  },
  {
    name: 'tables that nobody reads',
    sends: url =>
      many(4, i => unread(url, TABLE, { body: `ra,dec\n${'1,2\n'.repeat(400_000)}`, client: client(i) }, 4000)),
    expects: ['unread'],
  },
  {
    name: 'listings that nobody reads, 50 clients',
    sends: url =>
      many(50, i => unread(url, '/api/recent-crossmatches?page_size=10000&detail=full', { client: client(i) }, 2000)),
    expects: ['unread'],
  },
  {
    name: 'streams of matches, 200 that nobody reads',
    sends: url => many(200, i => unread(url, '/api/stream/matches', { client: client(i) }, 2000)),
    expects: ['unread'],
  },
  {
    name: 'clients that go away after 50 ms, 200 of them',
    sends: url =>
      many(200, i =>
        givenUp(
          url,
          [
            `/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', QUERY: CROSS })}`,
            '/openapi.json',
            '/api/sky-map?resolution=4',
            '/vo/scs?RA=1&DEC=1&SR=0.5',
          ][i % 4]!,
          { client: client(i) },
          50,
        ),
      ),
    expects: ['given up', '200', '400', '503', 'ended'],
  },
];

const AS_JOB = { Prefer: 'respond-async' };

/** Jobs that take all memory, or all time: each is an error in the end. */
export function hostileJobs(): readonly (readonly [path: string, message: Message])[] {
  return [
    [TABLE, { headers: AS_JOB, body: BRACKETS() }],
    ['/vo/tap/async', query(TEXTS, { PHASE: 'RUN' })],
    [TABLE, { headers: AS_JOB, body: LONG_TEXTS() }],
    ['/vo/tap/async', query(CROSS, { PHASE: 'RUN' })],
    [TABLE, { headers: AS_JOB, body: zipped(200, '<A>', '<VOTABLE>') }],
    [TABLE, { headers: AS_JOB, body: zipped(200, 'x', 'ra,dec\n') }],
  ];
}
