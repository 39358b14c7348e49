/** The Python client against a running service, in a real Python; its tables with pandas and astropy, if installed. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CATALOGS } from '../../src/core/contract/catalogs.ts';
import { jsonResponse } from '../../src/core/http/respond.ts';
import type { Json } from '../core/http/support.ts';
import { duckdbObstacle, needs } from '../needs.ts';
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
  SENT_BACK,
  Service,
} from './support.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CLIENT = join(HERE, '../../clients/python');
const PYTHONS = [process.env.TEST_PYTHON, '/usr/bin/python3', 'python3'].filter(each => each !== undefined);

const can = (python: string, code: string) => spawnSync(python, ['-c', code], { stdio: 'ignore' }).status === 0;
const python = PYTHONS.find(each => can(each, 'import sys; assert sys.version_info >= (3, 9)'));
const withPandas = PYTHONS.find(each => can(each, 'import pandas'));
const withAstropy = PYTHONS.find(each => can(each, 'import astropy'));

const test = suite<{ service: Service }>('clients/python');
test.before(async context => {
  context.service = await Service.start();
});
test.after(({ service }) => service.close());

/** Without blocking this thread, which serves. */
async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(command, args, { env: { ...process.env, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' } });
  let out = '';
  let errors = '';
  child.stdout.on('data', data => (out += data));
  child.stderr.on('data', data => (errors += data));
  child.stdin.end(input);
  const status = await new Promise(resolve => child.on('close', resolve));
  assert.is(status, 0, errors);
  return out;
}

/** Runs a test, or reports why not. */
function testWith(
  program: string | undefined,
  what: string,
  name: string,
  body: (python: string, service: Service) => Promise<void>,
) {
  needs(test, program === undefined ? `there is no ${what}` : undefined)(name, ({ service }) =>
    body(program!, service),
  );
}

const IN_CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5&page_size=12';
const IN_WINDOW = '/api/recent-crossmatches?start=2026-09-21&end=2026-09-23';

testWith(
  python,
  'Python 3.9',
  'matches, whole and in order, though connections break; errors',
  async (python, service) => {
    service.cuts = [...CUTS];
    const out = await run(python, [join(HERE, 'matches.py'), service.url, `${MATCHES.length - 1}`]);
    assert.equal(service.cuts, []);
    assert.equal(JSON.parse(out), {
      whole: MATCHES.slice(0, -1),
      parts: MATCHES.slice(0, -1),
      after: ['invalid_parameter', 400, 'from', null],
      filter: ['invalid_parameter', 400, 'catalog', null],
      unknown: ['unknown_parameter', 200, null, ['catalogue']],
    });
  },
);

testWith(
  python,
  'Python 3.9',
  'a watch of objects in an area, or near positions, goes on in it though connections break',
  async (python, service) => {
    service.cuts = [...CUTS];
    const { ra, dec } = CROWD;
    const args = [join(HERE, 'watch.py'), service.url, `${ra}`, `${dec}`, `${CROWD_CHANGES.length}`];
    const out = await service.with(busySecond, () => run(python, args));
    assert.equal(service.cuts, []);
    assert.equal(JSON.parse(out), {
      whole: CROWD_CHANGES,
      parts: CROWD_CHANGES,
      filtered: CROWD_CHANGES.slice(7),
      awaited: CROWD_CHANGES,
      refused: 'area',
    });
  },
);

testWith(
  withAstropy ?? withPandas ?? python,
  'Python 3.9',
  'a crossmatch of a table of each kind, at once and as a job',
  async (python, service) => {
    const kinds: string[][] = JSON.parse(
      await run(python, [join(HERE, 'crossmatch.py'), service.url, `${CROWD.ra}`, `${CROWD.dec}`]),
    );
    assert.ok(kinds.length >= 2);
    assert.is(new Set(kinds.map(([, id]) => id)).size, 1, `${kinds}`);
  },
);

testWith(
  withAstropy ?? withPandas ?? python,
  'Python 3.9',
  'a report on a sample of each kind, at once and as a job',
  async (python, service) => {
    const { ra, dec } = CROWD;
    const args = [join(HERE, 'sample.py'), service.url, `${FIRST_ID}`, `${ra}`, `${dec}`];
    const kinds: Record<string, string[][]> = JSON.parse(await run(python, args));
    const [first, second] = [`${FIRST_ID}`, `${FIRST_ID + 1n}`];
    const expected = [
      [first, first],
      [second, second],
      ['2026abc', first],
      ['mine, "too"', first],
      [null, null],
    ];
    assert.equal(Object.keys(kinds), ['list', 'asyncio', 'job']);
    for (const [kind, rows] of Object.entries(kinds)) assert.equal(rows, expected, kind);
  },
);

const asking = withAstropy ?? withPandas ?? python;
needs(test, duckdbObstacle() ?? (asking ? undefined : 'there is no Python 3.9'))(
  'a query as each kind, with every digit of ids, and its errors',
  async ({ service }) => {
    const kinds: Record<string, string[]> = JSON.parse(await run(asking!, [join(HERE, 'query.py'), service.url]));
    const ids = Array.from({ length: 12 }, (_, i) => `${FIRST_ID + BigInt(i)}`);
    for (const [kind, found] of Object.entries(kinds)) assert.equal(found, ids, kind);
  },
);

testWith(
  python,
  'Python 3.9',
  'lookups, walks and errors, while the service is busy at times',
  async (python, service) => {
    const expected = await alone(service);
    const out = await service.with(busyAtTimes, () =>
      run(python, [join(HERE, 'check.py'), service.url], JSON.stringify(INPUTS)),
    );
    const got = JSON.parse(out);
    assert.ok(service.mostInFlight <= 3);
    const exact = (text: string) =>
      JSON.parse(text, (_key, value, { source }: { source?: string } = {}) =>
        typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source!) ? BigInt(source!) : value,
      );
    for (const [i, text] of got.results.entries()) assert.equal(exact(text), expected[i]);
    assert.is(got.results.length, expected.length);
    assert.equal(got.progress, [INPUTS.length, INPUTS.length]);
    const ids = (objects: Json[]) => objects.map(({ diaObjectId_str }) => diaObjectId_str);
    const cone = ids((await service.app.get(IN_CONE)).body.results[0].objects);
    const recent = ids((await service.app.get(IN_WINDOW)).body.objects);
    assert.equal(got.walks, {
      cone: { ids: cone, done: true, again: 0 },
      recent: { ids: recent, done: true, again: 0 },
    });
    assert.equal(
      got.first,
      Array.from({ length: 15 }, (_, i) => i),
    );
    assert.ok(got.taken < 50, `${got.taken} inputs were taken`);
    assert.equal(got.kinds, ['tns', 'position', 'position', 'id']);
    assert.is(got.hours, true);
    assert.equal(got.bad, { code: 'invalid_parameter', status: 400, param: 'detail', params: null, retryable: false });
    assert.is(got.cone.param, 'ra');
    const area = ids((await service.app.post('/api/area', 'CIRCLE 150 2 0.01')).body.objects);
    assert.equal([got.area, got.counted, got.no_area.param], [area, area.length, 'area']);
    assert.equal(got.pending, ids((await service.app.get('/api/objects?status=crossmatch_pending')).body.objects));
    assert.ok(got.pending.length > 0);
    assert.equal(got.objects, ids((await service.app.get('/api/objects?catalog=gaia_dr3')).body.objects));
    assert.equal([got.sources, got.far.param], ['not_registered', 'radius_arcsec']);
    const flat = expected.flatMap(({ objects }) =>
      objects.length
        ? objects.map((object: Json) => [object.diaObjectId_str, object.matches?.[0]?.catalog_source_id ?? null])
        : [[null, null]],
    );
    assert.equal(got.rows, flat);
  },
);

const AT = `
import faulthandler, json, sys
faulthandler.dump_traceback_later(100, exit=True)
from nearsky import Nearsky
service, first, area = Nearsky(sys.argv[1]), int(sys.argv[2]), "CIRCLE 150 2 0.01"
unknown = service.journal_entry
service.object(first)
newest = service.journal_entry
def matched(found):
    return sum(each["status"] == "coincident_sources" for each in found)
counts = []
for at in (newest, newest - 7, newest - 9):
    walks = [service.cone(150, 2, 1, page_size=3, at=at), service.area(area, page_size=3, at=at), service.objects(at=at)]
    counts.append([matched(found) for found in ([service.object(first, at=at)], service.lookup([first], at=at), *walks)])
    assert service.journal_entry == at
print(json.dumps([unknown, counts, [service.count_area(area, at=at) for at in (newest, 0)]]))
`;

testWith(
  python,
  'Python 3.9',
  'at: answers as after an earlier entry, each named by the answer before',
  async (python, service) => {
    const [unknown, counts, inArea] = JSON.parse(await run(python, ['-c', AT, service.url, `${FIRST_ID}`]));
    assert.is(unknown, null);
    assert.equal(counts, [
      [1, 1, 7, 7, 9],
      [1, 1, 2, 2, 2],
      [0, 0, 0, 0, 0],
    ]);
    assert.equal(inArea, [7, 0]);
  },
);

const ERRORS = `
import faulthandler, json, sys
faulthandler.dump_traceback_later(100, exit=True)
from nearsky import Nearsky, NearskyError
try:
    list(eval("Nearsky(sys.argv[1])." + sys.argv[2]))
except (NearskyError, TypeError) as error:
    print(json.dumps([type(error).__name__, getattr(error, "code", None), str(error)]))
`;

testWith(
  python,
  'Python 3.9',
  'a cursor that comes again, a service that stays busy, and none',
  async (python, service) => {
    const failure = async (call: string) => JSON.parse(await run(python, ['-c', ERRORS, service.url, call]));
    await service.with(endless, async () => {
      assert.is((await failure('cone(150, 2, 1)'))[1], 'repeated_cursor');
      assert.ok(service.requests < 5);
    });
    await service.with(busy, async () => {
      assert.is((await failure('status()'))[1], 'service_unavailable');
      assert.is(service.requests, 2);
    });
    const html = () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: '<html>' });
    await service.with(html, async () => {
      for (const call of ['lookups([1])', 'query("SELECT 1")', 'crossmatch(b"ra,dec\\n1,2\\n")'])
        assert.is((await failure(call))[1], 'not_nearsky', call);
    });
    for (const body of ['[]', 'null', '{"total": null}'])
      await service.with(
        () => jsonResponse(200, body),
        async () => {
          for (const call of ['object(1)', 'tns("2026abc")', 'lookups([1])', 'cone(1, 2, 3)', 'area("CIRCLE 1 2 3")'])
            assert.is((await failure(call))[1], 'not_nearsky', `${call} of ${body}`);
        },
      );
    await service.with(
      () => jsonResponse(500, '{"code": 1, "message": null}'),
      async () => assert.is((await failure('status()'))[1], 'not_nearsky'),
    );
    const [, code, unknown] = await failure(
      'object(1, filters={"fromat": "csv", **{f"zebra{i}": 1 for i in range(9)}})',
    );
    assert.is(code, 'unknown_parameter');
    assert.match(unknown, 'does not know fromat (did you mean format?), zebra0, ');
    assert.match(unknown, ', zebra6, 2 others and has answered without');
    const [type, , message] = await failure('lookups([1.5])');
    assert.is(type, 'TypeError');
    assert.match(message, 'as a float loses digits');
    for (const input of ['None', '__import__("decimal").Decimal("1.5")', '(1, 2, 3, 4)']) {
      const [type, , message] = await failure(`lookups([${input}])`);
      assert.is(type, 'TypeError');
      assert.match(message, /Cannot look up .*: give an identifier as an integer or text/);
    }
  },
);

testWith(python, 'Python 3.9', 'a service that cannot be reached is a NearskyError', async python => {
  for (const call of ['describe()', 'matches()']) {
    const printed = await run(python, ['-c', ERRORS, 'http://127.0.0.1:1', call]);
    const [type, code, message] = JSON.parse(printed);
    assert.equal([type, code], ['NoAnswerError', 'no_answer']);
    assert.match(message, /^Cannot get an answer from http:\/\/127\.0\.0\.1:1: ConnectionRefusedError/);
  }
});

testWith(python, 'Python 3.9', 'an address that is none of HTTP is refused at once', async python => {
  const code = `
import json, sys
from nearsky import Nearsky
def refusal(address):
    try:
        Nearsky(address)
    except ValueError as error:
        return str(error)
print(json.dumps([refusal(address) for address in json.load(sys.stdin)]))
`;
  const refused = [
    '127.0.0.1:8080',
    'example.org',
    'ftp://example.org',
    '',
    'http://',
    'http://127.0.0.1:99999',
    'http://a b',
    'http://[::1',
    `http://${'a'.repeat(70)}.org`,
  ];
  const taken = ['http://[::1]:80', 'https://example.org/nearsky/', 'http://localhost', 'http://my_host:8080'];
  const said = JSON.parse(await run(python, ['-c', code], JSON.stringify([...refused, ...taken])));
  assert.equal(said, [
    ...refused.map(address => `Cannot use the address '${address}': give one such as http://127.0.0.1:8080`),
    ...taken.map(() => null),
  ]);
});

testWith(python, 'Python 3.9', 'whoever leaves a lookup does not wait for its other requests', async python => {
  const code = `
import asyncio, faulthandler, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from nearsky import Nearsky
from nearsky.aio import AsyncNearsky

faulthandler.dump_traceback_later(100, exit=True)
left = threading.Event()

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"limits": {"max_ids": 1, "max_positions": 1}})

    def do_POST(self):
        [asked] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["inputs"]
        if asked["diaObjectId"] == "2":
            left.wait()
        self.answer({"results": [{"index": 0}]})

    def answer(self, answer):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"

for result in Nearsky(address, concurrency=2).lookups([1, 2, 3]):
    break
print(result)

async def leave():
    async for result in AsyncNearsky(address, concurrency=2).lookups([1, 2, 3]):
        break
    print(result)

asyncio.run(leave())
left.set()
`;
  assert.is(await run(python, ['-c', code]), "{'index': 0}\n".repeat(2));
});

testWith(python, 'Python 3.9', 'a package that is missing is named with its extra', async python => {
  const code = `
import sys, nearsky
sys.modules.update(pandas=None, astropy=None)
for make in (nearsky.to_pandas, nearsky.to_astropy):
    try:
        make([])
    except ImportError as error:
        print(error)
`;
  assert.equal((await run(python, ['-c', code])).trim().split('\n'), [
    "This needs pandas: pip install 'nearsky[pandas]'",
    "This needs astropy: pip install 'nearsky[astropy]'",
  ]);
});

const ASYNC = `
import asyncio, json, sys
from nearsky import Nearsky, NearskyError
from nearsky.aio import AsyncNearsky

async def ask():
    service, inputs = AsyncNearsky(sys.argv[1]), json.load(sys.stdin)
    same = Nearsky(sys.argv[1])
    ticks = 0
    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)
    ticking = asyncio.create_task(tick())
    got = [result async for result in service.lookups(inputs)]
    assert got == await service.lookup(inputs) == same.lookup(inputs) and got, "lookups"
    walk = service.cone(150, 2, 60, page_size=1)
    assert [found async for found in walk] == list(same.cone(150, 2, 60)) and walk.is_done, "cone"
    assert len([page async for page in service.cone(150, 2, 60, page_size=1).pages()]) > 1, "pages"
    code = None
    try:
        await service.object(1, detail="nothing")
    except NearskyError as error:
        code = error.code
    matches = service.matches(after="beginning")
    found = []
    async for match in matches:
        found.append(match)
        if len(found) == 2:
            break
    expected, sync = [], same.matches(after="beginning")
    for match in sync:
        expected.append(match)
        if len(expected) == 2:
            break
    assert found == expected and matches.last_id, "matches"
    ticking.cancel()
    print(json.dumps([code, ticks > 10]))

asyncio.run(ask())
`;

testWith(
  python,
  'Python 3.9',
  'the client for asyncio answers as the other, and leaves the loop free',
  async (python, service) =>
    assert.equal(JSON.parse(await run(python, ['-c', ASYNC, service.url], JSON.stringify(INPUTS))), [
      'invalid_parameter',
      true,
    ]),
);

testWith(
  python,
  'Python 3.9',
  'an answer that breaks off is asked for once more, and twice is no answer',
  async python => {
    const [once, twice, error] = [await breaking(1), await breaking(2), await breaking(3, '404 Not Found')];
    try {
      assert.is(await run(python, ['-c', ERRORS, once.url, 'describe()']), '');
      const out = await run(python, ['-c', ERRORS, twice.url, 'describe()']);
      assert.match(JSON.parse(out)[2], /IncompleteRead/);
      for (const call of ['describe()', 'matches()'])
        assert.match(await run(python, ['-c', ERRORS, error.url, call]), /"no_answer", .*IncompleteRead/);
      assert.equal([once.asked(), twice.asked(), error.asked()], [2, 2, 3]);
    } finally {
      for (const each of [once, twice, error]) each.close();
    }
  },
);

const NO_NUMBERS = `
import json, sys
from nearsky import Nearsky
nan, inf = float("nan"), float("inf")
inputs = [(150, 2, 1), (nan, 2), (150, inf, 1), (150, 2, nan), (None, None), 1]
print(json.dumps([result["status"] for result in Nearsky(sys.argv[1]).lookups(inputs, radius_arcsec=1)]))
`;

testWith(
  python,
  'Python 3.9',
  'a position that is not there spoils nothing but its own result',
  async (python, service) => {
    const [first, ...others] = JSON.parse(await run(python, ['-c', NO_NUMBERS, service.url]));
    assert.match(first, /^(objects_found|no_rubin_object)$/);
    assert.equal(others, [...Array(4).fill('invalid_input'), 'not_in_service']);
  },
);

const PANDAS = `
import json, sys
from nearsky import Nearsky, to_pandas
service = Nearsky(sys.argv[1])
frame = to_pandas(service.lookups(json.load(sys.stdin)))
print(json.dumps([str(frame["diaObjectId"].dtype), [str(each) for each in frame["diaObjectId"].dropna()], [str(each) for each in frame["gaia_dr3_source_id"].dropna()], len(frame)]))
`;

const ASTROPY = PANDAS.replaceAll('to_pandas', 'to_astropy').replace(
  /print[^\n]*/,
  `column = frame["diaObjectId"]
print(json.dumps([str(column.dtype), [str(each) for each in column.compressed()], [str(each) for each in frame["gaia_dr3_source_id"].compressed()], len(frame)]))
assert str(frame["ra"].unit) == "deg"`,
);

for (const [program, what, code] of [
  [withPandas, 'pandas', PANDAS],
  [withAstropy, 'astropy', ASTROPY],
] as const) {
  testWith(program, what, `a table of ${what} has exact ids beside missing ones`, async (python, service) => {
    const [type, ids, sources, length] = JSON.parse(
      await run(python, ['-c', code, service.url], JSON.stringify(INPUTS)),
    );
    const objects: Json[] = [];
    let empty = 0;
    for (const input of INPUTS) {
      const result = (await service.app.lookup([input])).results[0];
      objects.push(...result.objects);
      if (result.objects.length === 0) empty++;
    }
    assert.is(type.toLowerCase(), 'int64');
    assert.equal(
      ids,
      objects.map(({ diaObjectId_str }) => diaObjectId_str),
    );
    assert.equal(
      sources,
      objects.flatMap(({ matches }) => (matches ?? []).map((found: Json) => found.catalog_source_id)),
    );
    assert.is(length, objects.length + empty);
  });
}

const COLUMNS = `
import json, sys
from nearsky import Nearsky, rows, to_pandas
url, inputs = sys.argv[1], json.load(sys.stdin)
service = Nearsky(url)
frames = [
    to_pandas([]),
    to_pandas(service.cone(150, -80, 1)),
    to_pandas(service.recent("2026-09-21", "2026-09-23", detail="ids")),
    to_pandas(service.lookups(inputs, detail="full", filters={"reliability_min": 0})),
]
types = [frame.dtypes.astype(str).to_dict() for frame in frames]
assert all(each == types[0] for each in types)
exact = lambda row: {name: str(value) if isinstance(value, int) and not isinstance(value, bool) else value for name, value in row.items()}
print(json.dumps([list(types[0]), [exact(row) for row in rows(service.lookups(inputs[:10], detail="full", filters={"reliability_min": 0}))]]))
`;

testWith(
  withPandas,
  'pandas',
  'columns are those of the tables of the service, whatever the rows hold',
  async (python, service) => {
    const [names, rows] = JSON.parse(await run(python, ['-c', COLUMNS, service.url], JSON.stringify(INPUTS)));
    const answer = await fetch(`${service.url}/api/lookup?format=ndjson`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ inputs: INPUTS.slice(0, 10), detail: 'full', filters: { reliability_min: 0 } }),
    });
    const table = (await answer.text()).trim().split('\n');
    assert.is(rows.length, table.length);
    const isInteger = /^-?\d+$/;
    for (const [i, line] of table.entries()) {
      const expected = JSON.parse(line, (_key, value, { source }: { source?: string } = {}) =>
        typeof value === 'number' && isInteger.test(source!) ? source : value,
      );
      assert.equal(names, Object.keys(expected));
      for (const [name, value] of Object.entries<Json>(expected)) {
        const got = rows[i][name];
        if (name.endsWith('_time') || name.endsWith('_at'))
          assert.is(got && Date.parse(got), value && Date.parse(value), name);
        else assert.is(typeof value === 'string' && typeof got === 'number' ? `${got}` : got, value, name);
      }
    }
  },
);

const UNITS = `
import json, sys
import astropy.units as u
from nearsky import rows, to_astropy
table = to_astropy([])
for name, (kind, unit) in json.load(sys.stdin).items():
    column = table[name]
    assert column.dtype.name == kind, name
    assert column.unit == (None if unit is None else u.Unit(unit, format="vounit")), f"{name}: {column.unit} is not {unit}"
source = {"catalog_source_id": "1", "separation_arcsec": 0.5}
payload = {"ext_mash": 2.0, "flags_gold": 2**63, "bdf_flags": True, "dnf_z": 1, "bdf_t": "big", "other": 3}
new = {"mag_vis": 21.5, "flags": 2**62, "note": "text", "ra": 1.0, "release": 10001, "data_release": 7}
matches = [{**source, "catalog_name": "des_y6_gold", "catalog_payload": payload}, {**source, "catalog_name": "euclid_q1", "catalog_payload": new}]
[row] = rows([{"diaObjectId": 1, "matches": matches}])
further = to_astropy([{"diaObjectId": 1, "matches": matches}, {"diaObjectId": 2, "matches": []}])
print(json.dumps([
    {name: row["des_y6_gold_" + name] for name in ("ext_mash", "flags_gold", "bdf_flags", "dnf_z", "bdf_t")},
    "des_y6_gold_other" in row,
    {name: further[name].dtype.name for name in further.colnames if name.startswith("euclid")},
    str(further["euclid_q1_flags"][0]),
]))
`;

const TEXT_IDS = `
import json
from nearsky import rows, to_astropy
texts = ["J004457.8+412345", "00123", "18446744073709551616", "7", "-9223372036854775808"]
match = lambda text: {"catalog_name": "milliquas", "catalog_source_id": text, "separation_arcsec": 0.5}
objects = [{"diaObjectId": i, "matches": [match(text)]} for i, text in enumerate(texts)]
table = to_astropy([*objects, {"diaObjectId": 9, "matches": []}])["milliquas_source_id"]
print(json.dumps([
    [repr(row["milliquas_source_id"]) for row in rows(objects)],
    [None if masked else str(value) for value, masked in zip(table.filled(""), table.mask)],
    to_astropy(objects[3:])["milliquas_source_id"].dtype.name,
]))
`;

testWith(
  withAstropy,
  'astropy',
  'ids of sources that are texts stay texts, and integers integers, with every digit',
  async python => {
    const [inRows, inTable, ofIntegers] = JSON.parse(await run(python, ['-c', TEXT_IDS]));
    assert.equal(inRows, ["'J004457.8+412345'", "'00123'", "'18446744073709551616'", '7', '-9223372036854775808']);
    assert.equal(inTable, ['J004457.8+412345', '00123', '18446744073709551616', '7', '-9223372036854775808', null]);
    assert.is(ofIntegers, 'int64');
  },
);

testWith(
  withAstropy,
  'astropy',
  "payload columns have the catalogs' types and units, and what cannot stand in them is left out",
  async (python, service) => {
    const columns = CATALOGS.flatMap(({ name, columns }) =>
      columns.map(column => [`${name}_${column.name.toLowerCase()}`, [column.type, column.unit ?? null]] as const),
    );
    const input = JSON.stringify(Object.fromEntries(columns));
    const got = JSON.parse(await run(python, ['-c', UNITS, service.url], input));
    assert.equal(got, [
      { ext_mash: 2, flags_gold: null, bdf_flags: null, dnf_z: 1, bdf_t: null },
      false,
      {
        euclid_q1_matches: 'int64',
        euclid_q1_source_id: 'int64',
        euclid_q1_separation_arcsec: 'float64',
        euclid_q1_release: 'str32',
        euclid_q1_chance_probability: 'float64',
        euclid_q1_source_density: 'float64',
        euclid_q1_sources_within_radius: 'int64',
        euclid_q1_second_separation_arcsec: 'float64',
        euclid_q1_normalized_separation: 'float64',
        euclid_q1_match_probability: 'float64',
        euclid_q1_any_match_probability: 'float64',
        euclid_q1_ra: 'float64',
        euclid_q1_dec: 'float64',
        euclid_q1_mag_vis: 'float64',
        euclid_q1_flags: 'int64',
        euclid_q1_note: 'int64',
        euclid_q1_release_2: 'int64',
        euclid_q1_data_release: 'int64',
      },
      `${2n ** 62n}`,
    ]);
  },
);

const SKY_COORD = `
import json, sys
import astropy.units as u
import numpy as np
from astropy.coordinates import ICRS, Angle, SkyCoord
from astropy.time import Time
from nearsky import Nearsky
service = Nearsky(sys.argv[1])
crowd = SkyCoord(150 * u.deg, 2 * u.deg)
many = SkyCoord([[150, 10], [20, 150]] * u.deg, [[2, 10], [-80, 2]] * u.deg).galactic
inputs = [crowd, crowd.galactic, (crowd, 1), (crowd, 1 * u.arcsec), (Angle("10h"), Angle("2d"), 1), ICRS(150 * u.deg, 2 * u.deg)]
def refused(work):
    try:
        work()
    except TypeError as error:
        return str(error)
print(json.dumps({
    "one": [result["total"] for result in service.lookups(inputs, radius_arcsec=(1 / 60) * u.arcmin)],
    "input": service.lookup([many[0, 0]], radius_arcsec=1)[0]["normalized"],
    "many": [result["total"] for result in service.lookups(many, radius_arcsec=1)],
    "scalar": [result["total"] for result in service.lookups(crowd, radius_arcsec=1)],
    "cone": [len(list(walk)) for walk in (service.cone(150, 2, 1), service.cone(crowd, 1), service.cone(crowd.galactic, radius_arcsec=1 * u.arcsec))],
    "numpy": service.lookup([(150, 2)], radius_arcsec=np.float32(1), filters={"reliability_min": np.float32(2)})[0]["total"],
    "times": [next(service.objects(start=Time("2026-09-21", scale=scale)).pages())["window"]["start"] for scale in ("utc", "tai")],
    "refused": [refused(lambda: service.cone(many, 1)), refused(lambda: service.cone(crowd, 2, 1)), refused(lambda: service.lookup([many])), refused(lambda: service.objects(start=Time(["2026-09-21", "2026-09-22"])))],
}))
`;

testWith(
  withAstropy,
  'astropy',
  'positions may be SkyCoord, angles and radii have units, times have a scale',
  async (python, service) => {
    const got = JSON.parse(await run(python, ['-c', SKY_COORD, service.url]));
    assert.equal(got.one, Array(6).fill(7));
    assert.ok(Math.abs(got.input.ra - 150) < 1e-9 && Math.abs(got.input.dec - 2) < 1e-9);
    assert.equal([got.many, got.scalar, got.cone], [[7, 0, 0, 7], [7], [7, 7, 7]]);
    assert.is(got.numpy, 7);
    assert.equal(got.times, ['2026-09-21T00:00:00+00:00', '2026-09-20T23:59:23+00:00']);
    assert.match(got.refused[0], /^Cannot take 2 positions as one/);
    assert.match(got.refused[1], /^Cannot search around a SkyCoord and a declination/);
    assert.match(got.refused[2], /^Cannot take 2 positions as one/);
    assert.match(got.refused[3], /^Cannot take 2 times as one/);
  },
);

const PICKLED = `
import pickle
from nearsky import Nearsky, NearskyError, NoAnswerError
error = pickle.loads(pickle.dumps(NearskyError("no", "invalid_parameter", 400, "ra")))
assert (str(error), error.code, error.status, error.param) == ("no", "invalid_parameter", 400, "ra")
try:
    Nearsky("http://127.0.0.1:1").status()
except NearskyError as failed:
    error = pickle.loads(pickle.dumps(failed))
    assert type(error) is NoAnswerError and str(error) == str(failed) and error.retryable, error
`;

testWith(python, 'Python 3.9', 'an error goes from one process to another whole', async python =>
  assert.is(await run(python, ['-c', PICKLED]), ''),
);

const CANCELLED = `
import asyncio, sys
from nearsky.aio import AsyncNearsky
async def main():
    service, sent = AsyncNearsky(sys.argv[1], concurrency=2), []
    send = service._service._send
    service._service._send = lambda *request: sent.append(request) or send(*request)
    task = asyncio.create_task(service.lookup(range(1, 100_000)))
    while len(sent) < 3:
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    # One more for each that was in progress is refused.
    most = len(sent) + 2
    await asyncio.sleep(0.5)
    assert task.cancelled() and len(sent) <= most, (len(sent), most)
asyncio.run(main())
`;

testWith(python, 'Python 3.9', 'a cancelled task sends no further requests', async (python, service) =>
  assert.is(await run(python, ['-c', CANCELLED, service.url]), ''),
);

const NO_LISTS = `
import sys
from nearsky import Nearsky
class Frame:
    columns = ["ra", "dec"]
    def __iter__(self):
        return iter(self.columns)
for given in ("SN 2026abc", {"kind": "id", "diaObjectId": "1"}, Frame()):
    try:
        print(Nearsky(sys.argv[1]).lookup(given))
    except TypeError as error:
        assert "give a list, or a column" in str(error), error
`;

testWith(python, 'Python 3.9', 'a text, a dictionary or a table is no list of inputs', async (python, service) =>
  assert.is(await run(python, ['-c', NO_LISTS, service.url]), ''),
);

const ASK = `
import sys
from nearsky import Nearsky, NearskyError
service = Nearsky(sys.argv[1])
for _ in range(${SENT_BACK.length}):
    try:
        service.status()
    except NearskyError:
        pass
`;

testWith(python, 'Python 3.9', 'a client says how far the nodes were that have answered', (python, service) =>
  service.with(nodes, async () => {
    await run(python, ['-c', ASK, service.url]);
    assert.equal(service.places, SENT_BACK);
  }),
);

test.run();
