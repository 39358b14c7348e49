/** Answers as tables, over HTTP: rows against the JSON of the same request, headers, walks, what is refused. */
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CATALOGS, catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { FORMATS, TABLE_FORMATS, type TableFormat } from '../../../src/core/contract/formats.ts';
import { WORTH_FIELDS } from '../../../src/core/contract/object_fields.ts';
import {
  type Answer,
  crossmatched,
  delivery,
  type Json,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
  withApp,
} from '../http/support.ts';

const BIG = 2n ** 63n - 1n;
const PENDING = 9_007_199_254_740_993n;
const MATCHED = 313637935709683761n;
const EMPTY = 313637935709683762n;
const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=10';
const LEVELS = ['ids', 'position', 'matches', 'full'];
const WINDOW = 'start=2026-09-21&end=2026-09-23';
const RECENT = `/api/recent-crossmatches?${WINDOW}`;

const test = suite<{ running: Running }>('tables/answers');

test.before(async context => {
  context.running = await startApp(async world => {
    const { writer } = world;
    await loadRegistry(world, NOW_US, [{ name: '2026abc', classification: 'SN "Ia", peculiar\n', redshift: 0.1 }]);
    await writer.ingest(
      [BIG, MATCHED, EMPTY, PENDING].map((id, i) => delivery(id, { position: { ra: 150, dec: 2 + i * 1e-4 } })),
      NOW_US,
    );
    const wide = { ra: 150, wide: 9_223_372_036_854_775_807n, name: 'é "q"' };
    const flags = { flags_gold: BIG, flags_foreground: -(2n ** 63n), ext_mash: 3, dnf_z: 0.25, wavg_mag_psf_g: null };
    await crossmatched(world, MATCHED, searched('gaia_dr3', 'des_y6_gold'), [
      match('gaia_dr3', '9223372036854775807', { payload: wide }),
      { ...match('gaia_dr3', '-9223372036854775808'), separationArcsec: 0.125 },
      match('des_y6_gold', '9007199254740993', { payload: flags }),
    ]);
    await crossmatched(world, BIG, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
    await crossmatched(world, EMPTY, [['gaia_dr3', 'outside_footprint']]);
  });
});
test.after(({ running }) => running.close());

type Cells = Record<string, string | null>;

/** The cells as text; null if a cell is empty. */
function csvRows({ status, text }: Answer): Cells[] {
  assert.is(status, 200, text);
  return parse(text, { columns: true, cast: (value, { quoting }) => (value === '' && !quoting ? null : value) });
}

const textOf = (value: unknown) => (value === null || value === undefined ? null : `${value}`);
/** The form of JSON's times that tables have. */
const timeOf = (value: string | null | undefined) => textOf(value?.replace('+00:00', 'Z'));

/** The row that an object must have, from its JSON. */
function expectedCells(object: Json): Cells {
  const cells: Cells = { diaObjectId: object.diaObjectId_str };
  const put = (name: string, value: unknown) => {
    cells[name] = textOf(value);
  };
  for (const name of ['status', 'ra', 'dec', 'separation_arcsec', 'reliability', 'qualifies', 'qualifies_reason'])
    if (name in object) put(name, object[name]);
  for (const name of ['ingest_time', 'event_time']) if (name in object) put(name, timeOf(object[name]));
  if (object.brokers) put('brokers', object.brokers.join(' '));
  if (object.crossmatch) {
    put('match_version', object.crossmatch.match_version);
    put('crossmatched_at', timeOf(object.crossmatch.crossmatched_at));
    put('provenance_set', object.crossmatch.provenance_set);
    for (const [name, outcome] of Object.entries(object.crossmatch.catalog_outcomes)) {
      put(`${name}_outcome`, outcome);
      if (object.matches) put(`${name}_matches`, outcome === 'searched' ? 0 : null);
    }
  }
  if (object.matches) put('matches', object.matches.length);
  for (const found of object.matches ?? []) {
    const same = object.matches.filter((other: Json) => other.catalog_name === found.catalog_name);
    if (same.some((other: Json) => other.separation_arcsec < found.separation_arcsec)) continue;
    const name = found.catalog_name;
    put(`${name}_matches`, same.length);
    put(`${name}_source_id`, found.catalog_source_id);
    if ('catalog_release' in found) put(`${name}_release`, found.catalog_release);
    for (const [key, value] of Object.entries(found.statistics ?? {})) put(`${name}_${key}`, value);
    put(`${name}_separation_arcsec`, found.separation_arcsec);
    if ('ra' in found) put(`${name}_ra`, found.ra);
    if ('dec' in found) put(`${name}_dec`, found.dec);
    for (const column of catalogDefinition(name)!.columns) {
      const key = column.name.toLowerCase();
      if (key !== 'ra' && key !== 'dec' && found.catalog_payload) put(`${name}_${key}`, found.catalog_payload[key]);
    }
  }
  if (object.tns) {
    put('tns_checked', object.tns.checked);
    put('tns_name', object.tns.name);
    put('tns_name_prefix', object.tns.name_prefix);
    put('tns_classification', object.tns.classification);
    put('tns_redshift', object.tns.redshift);
    put('tns_separation_arcsec', object.tns.separation_arcsec);
  }
  return cells;
}

/** Every cell that is expected is there, and the others are null. In lists without outcomes, a catalog may have 0. */
function assertRow(row: Cells, expected: Cells, hint: string): void {
  for (const [name, value] of Object.entries(expected)) assert.is(row[name], value, `${hint}: ${name}`);
  for (const [name, value] of Object.entries(row)) {
    if (name in expected || name.startsWith('input')) continue;
    const mayBeZero = !('status' in expected) && name.endsWith('_matches');
    assert.ok(value === null || (value === '0' && mayBeZero), `${hint}: ${name} is ${value}`);
  }
}

test('the rows of a cone and of the recent crossmatches are the objects of the JSON', async ({ running: { app } }) => {
  for (const detail of LEVELS) {
    for (const path of [
      `${CONE}&detail=${detail}`,
      `${CONE}&detail=${detail}&reliability_min=0.9`,
      `${RECENT}&detail=${detail}`,
    ]) {
      const { body } = await app.get(path);
      const objects: Json[] = path.startsWith(CONE) ? body.results[0].objects : body.objects;
      const rows = csvRows(await app.get(`${path}&format=csv`));
      assert.is(rows.length, objects.length, path);
      assert.ok(rows.length > 1);
      objects.forEach((object, i) => {
        const expected = expectedCells(object);
        if (path.startsWith(RECENT) && detail === 'full') {
          const [{ tns_checked, tns }] = object.matches;
          expected.tns_checked = `${tns_checked}`;
          for (const name of ['name', 'classification', 'redshift', 'separation_arcsec'])
            expected[`tns_${name}`] = textOf(tns?.[name]);
        }
        assertRow(rows[i]!, expected, `${path}[${i}]`);
      });
    }
  }
});

test('payloads keep integers of 64 bits', async ({ running: { app } }) => {
  const [row] = csvRows(await app.get(`/api/objects/${MATCHED}?detail=full&format=csv`));
  assert.is(row!.gaia_dr3_source_id, '-9223372036854775808');
  const parquet = await bytesOf(app, `${CONE}&detail=full&format=parquet`);
  const objects = await parquetReadObjects({ file: parquet.buffer });
  const read = objects.find(({ diaObjectId }) => diaObjectId === MATCHED)!;
  assert.is(read.des_y6_gold_source_id, 9_007_199_254_740_993n);
  assert.equal(
    ['flags_gold', 'flags_foreground', 'ext_mash', 'dnf_z', 'wavg_mag_psf_g'].map(key => read[`des_y6_gold_${key}`]),
    [BIG, -(2n ** 63n), 3n, 0.25, null],
  );
  assert.is(read.gaia_dr3_ruwe, 1.5);
});

test('at full each column of each catalog is a column, the same ones whatever the rows hold [P17]', async ({
  running: { app },
}) => {
  const wanted = CATALOGS.flatMap(({ name, columns, motion }) => {
    const keys = columns.map(column => column.name.toLowerCase()).filter(key => key !== 'ra' && key !== 'dec');
    const atEpoch = motion ? ['separation_at_epoch_arcsec'] : [];
    const worth = Object.keys(WORTH_FIELDS);
    const own = ['matches', 'source_id', 'separation_arcsec', ...atEpoch, 'release', ...worth, 'ra', 'dec'];
    return [...own, ...keys].map(key => `${name}_${key}`);
  });
  const nothing = CONE.replace('dec=2', 'dec=-80');
  for (const path of [CONE, nothing, RECENT, RECENT.replaceAll('2026-09', '2025-09')]) {
    const { text } = await app.get(`${path}&detail=full&format=csv`);
    const [names] = parse(text, { to_line: 1 }) as string[][];
    assert.equal(names!.slice(names!.indexOf('matches') + 1, names!.indexOf('tns_checked')), wanted, path);
    assert.is(new Set(names).size, names!.length);
  }
  const schema = tableFromIPC(await bytesOf(app, `${nothing}&detail=full&format=arrow`)).schema;
  for (const { name, columns } of CATALOGS) {
    for (const { name: key, type, unit, ucd, description } of columns) {
      const field = schema.fields.find(each => each.name === `${name}_${key.toLowerCase()}`)!;
      assert.is(`${field.type}`, type === 'int64' ? 'Int64' : 'Float64', field.name);
      assert.is(field.metadata.get('unit'), unit, field.name);
      assert.is(field.metadata.get('ucd'), ucd, field.name);
      if (!field.name.endsWith('ra') && !field.name.endsWith('dec'))
        assert.is(field.metadata.get('description'), `${description}, of the nearest source of ${name}.`);
    }
  }
});

test('a value of a payload that is not of its column is null, and counted [P17]', async () => {
  const payload = { ruwe: 'high', parallax: true, pmra: 2n, ra_error: null, flags: 1 };
  const flags = { ext_mash: 0.5, flags_gold: 2n ** 63n, flags_footprint: 2, dnf_z: [1] };
  await withApp(
    async world => {
      await world.writer.ingest([delivery(1n)], NOW_US);
      await crossmatched(world, 1n, searched('gaia_dr3', 'des_y6_gold'), [
        match('gaia_dr3', '1', { payload }),
        match('des_y6_gold', '1', { payload: flags }),
      ]);
    },
    async app => {
      const [row] = csvRows(await app.get('/api/objects/1?detail=full&format=csv'));
      assert.equal([row!.gaia_dr3_pmra, row!.des_y6_gold_flags_footprint], ['2', '2']);
      for (const name of ['gaia_dr3_ruwe', 'gaia_dr3_parallax', 'gaia_dr3_ra_error']) assert.is(row![name], null, name);
      for (const key of ['ext_mash', 'flags_gold', 'dnf_z']) assert.is(row![`des_y6_gold_${key}`], null, key);
      assert.match((await app.get('/metrics')).text, 'nearsky_values_left_out_total 5\n');
    },
  );
});

async function bytesOf(app: Running['app'], path: string, headers: Record<string, string> = {}) {
  const response = await app.app.fetch(new Request(`http://nearsky.test${path}`, { headers }));
  assert.is(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

test('a lookup has a row for every input', async ({ running: { app } }) => {
  const inputs = [
    { kind: 'id', diaObjectId: `${BIG}` },
    { kind: 'id', diaObjectId: '5' },
    { kind: 'position', ra: 150, dec: 2, radius_arcsec: 0.1 },
    { kind: 'position', ra: 150, dec: -80, radius_arcsec: 5 },
    { kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 },
    { kind: 'tns', name: 'SN 2026abc', radius_arcsec: 5 },
    { kind: 'tns', name: '1999zz', radius_arcsec: 5 },
    { kind: 'id', diaObjectId: 'x,"é\n' },
    { kind: 'nothing' },
    17,
  ];
  const request = { inputs, filters: { reliability_min: 0.5 } };
  const { body } = await app.post('/api/lookup', request);
  const expected = body.results.flatMap((result: Json) =>
    (result.objects.length ? result.objects : [undefined]).map((object: Json) => ({ result, object })),
  );
  const answer = await app.post('/api/lookup?format=csv', request);
  const rows = csvRows(answer);
  assert.is(rows.length, expected.length);
  assert.is(answer.headers.get('X-Row-Count'), `${expected.length}`);
  assert.is(answer.headers.get('X-Truncated'), 'false');
  expected.forEach(({ result, object }: Json, i: number) => {
    const row = rows[i]!;
    assert.is(row.input_index, `${result.index}`);
    assert.is(row.input_kind, textOf(result.kind));
    assert.is(row.input_status, result.status);
    assert.is(row.input_error, textOf(result.error?.message));
    assert.is(row.input_total, textOf(result.total));
    const { qualifies, qualifies_reason } = object ?? result;
    assertRow(
      row,
      object ? expectedCells(object) : { qualifies: textOf(qualifies), qualifies_reason },
      `input ${result.index}`,
    );
  });
  const inputOf = (index: number) => rows.find(row => row.input_index === `${index}`)!.input;
  assert.equal([0, 2, 5].map(inputOf), [`${BIG}`, '150 2', 'SN 2026abc']);
  assert.equal(JSON.parse(inputOf(7)!), inputs[7]);
});

test('what a limit cuts is said', async () => {
  const fill = async ({
    writer,
  }: {
    writer: { ingest: (d: ReturnType<typeof delivery>[], t: number) => Promise<unknown> };
  }) => {
    await writer.ingest(
      [1n, 2n, 3n].map(id => delivery(id)),
      NOW_US,
    );
  };
  const running = await startApp(fill as never, { API_MAX_OBJECTS_PER_POSITION: '2' });
  try {
    const inputs = [{ kind: 'position', ra: 150, dec: 2, radius_arcsec: 1 }];
    const answer = await running.app.post('/api/lookup?format=csv', { inputs });
    const rows = csvRows(answer);
    assert.equal(
      rows.map(({ input_total, input_truncation }) => [input_total, input_truncation]),
      [
        ['3', 'per_input_limit'],
        ['3', 'per_input_limit'],
      ],
    );
    assert.is(answer.headers.get('X-Truncated'), 'true');
  } finally {
    await running.close();
  }
});

test('a walk by its Link has every object once, and the filters stay [Headers]', async ({ running: { app } }) => {
  for (const [start, total] of [
    [`${CONE}&page_size=1&format=csv&reliability_min=0.5`, '4'],
    [`${RECENT}&page_size=1&format=csv`, null],
  ] as const) {
    const ids: (string | null)[] = [];
    let path: string | undefined = start;
    const asOf = new Set<string | null>();
    while (path) {
      const answer: Answer = await app.get(path);
      ids.push(...csvRows(answer).map(({ diaObjectId }) => diaObjectId!));
      assert.is(answer.headers.get('X-Total-Count'), total);
      asOf.add(answer.headers.get('X-As-Of'));
      // Relative to the address that was asked for: a Host header is whatever a client has sent.
      const next: string | undefined = /^<(\?[^>]+)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')?.[1];
      path = next && start.replace(/\?.*/, next);
      if (path && total) assert.match(path, 'reliability_min=0.5');
    }
    const { body } = await app.get(start.replace('page_size=1&format=csv', 'page_size=100'));
    const objects: Json[] = body.objects ?? body.results[0].objects;
    assert.equal(
      ids,
      objects.map(({ diaObjectId_str }) => diaObjectId_str),
    );
    assert.is(asOf.size, 1);
  }
});

test('the formats, by name and by Accept, say the same ids [P15; Headers]', async ({ running: { app } }) => {
  const ids = csvRows(await app.get(`${CONE}&format=csv`)).map(({ diaObjectId }) => diaObjectId);
  assert.is(ids.length, 4);
  const read: Record<TableFormat, (bytes: Uint8Array<ArrayBuffer>) => Promise<unknown[]> | unknown[]> = {
    csv: bytes => (parse(Buffer.from(bytes), { columns: true }) as Cells[]).map(({ diaObjectId }) => diaObjectId),
    ecsv: bytes =>
      (parse(Buffer.from(bytes), { columns: true, comment: '#', comment_no_infix: true }) as Cells[]).map(
        ({ diaObjectId }) => diaObjectId,
      ),
    ndjson: bytes =>
      [
        ...Buffer.from(bytes)
          .toString()
          .matchAll(/"diaObjectId": (\d+)/g),
      ].map(([, id]) => id),
    votable: bytes =>
      [
        ...Buffer.from(bytes)
          .toString()
          .matchAll(/<TR><TD>(\d+)/g),
      ].map(([, id]) => id),
    parquet: async ({ buffer }) => (await parquetReadObjects({ file: buffer })).map(row => row.diaObjectId),
    arrow: bytes => [...tableFromIPC(bytes).getChild('diaObjectId')!],
  };
  for (const { name, mediaType } of TABLE_FORMATS) {
    for (const [path, headers] of [
      [`${CONE}&format=${name}`, {}],
      [CONE, { Accept: `${mediaType}, */*;q=0.1` }],
    ] as const) {
      const response = await app.app.fetch(new Request(`http://nearsky.test${path}`, { headers }));
      assert.is(response.headers.get('Content-Type')!.split(';')[0], mediaType);
      assert.is(response.headers.get('Vary'), 'Accept, Accept-Encoding');
      assert.match(response.headers.get('Content-Disposition')!, 'nearsky-cone.');
      const found = await read[name](new Uint8Array(await response.arrayBuffer()));
      assert.equal(found.map(String), ids, name);
    }
  }
});

test('with PUBLIC_BASE_URL the Link is a whole address', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(1n), delivery(2n)], NOW_US);
    },
    async app => {
      const { headers } = await app.get('/api/cone?ra=150&dec=2&radius_arcsec=5&page_size=1&format=csv', {
        headers: { Host: 'evil.example' },
      });
      const [, link] = /^<([^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '') ?? [];
      assert.match(link!, /^https:\/\/sky\.example\/rubin\/api\/cone\?/);
      assert.equal((await app.get(link!.replace('https://sky.example/rubin', ''))).status, 200);
    },
    { PUBLIC_BASE_URL: 'https://sky.example/rubin/' },
  ));

test('a table without rows', async ({ running: { app } }) => {
  const answer = await app.get('/api/cone?ra=10&dec=-60&radius_arcsec=1&format=csv');
  assert.equal(csvRows(answer), []);
  assert.match(answer.text, /^diaObjectId,status,ra,dec,/);
  assert.equal(
    [answer.headers.get('X-Row-Count'), answer.headers.get('X-Total-Count'), answer.headers.get('Link')],
    ['0', '0', null],
  );
});

test('JSON stays as it is; what is no format is refused; errors are JSON', async ({ running: { app } }) => {
  const plain = await app.get(`/api/objects/${BIG}`);
  for (const headers of [
    { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    { Accept: '*/*' },
    { Accept: 'text/html' },
    { Accept: 'image/png, application/json' },
  ]) {
    const same = await app.get(`/api/objects/${BIG}`, { headers });
    assert.equal([same.text, same.headers.get('Content-Type')], [plain.text, 'application/json']);
  }
  assert.is((await app.get(`/api/objects/${BIG}?format=json`, { headers: { Accept: 'text/csv' } })).text, plain.text);
  for (const format of ['', 'CSV', 'xlsx', 'csv,parquet']) {
    const { status, body } = await app.get(`${CONE}&format=${format}`);
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'format']);
    assert.match(body.message, `one of ${FORMATS.map(({ name }) => name).join(', ')}`);
  }
  const counts = await app.get(`${CONE}&response=count&format=csv`);
  assert.equal([counts.status, counts.body.param], [400, 'format']);
  assert.is((await app.get(`${CONE}&response=count`, { headers: { Accept: 'text/csv' } })).body.response, 'count');
  const wrong = await app.get('/api/cone?ra=x&dec=2&radius_arcsec=1&format=csv');
  assert.equal([wrong.status, wrong.body.param], [400, 'ra']);
});

test('infinities are kept in every table format except NDJSON, and NaN is null', () =>
  withApp(
    async world => {
      await world.writer.ingest([delivery(MATCHED, { position: { ra: 150, dec: 2 } })], NOW_US);
      const payload = { parallax: Number.POSITIVE_INFINITY, pmra: Number.NEGATIVE_INFINITY, pmdec: Number.NaN };
      await crossmatched(world, MATCHED, searched('gaia_dr3'), [match('gaia_dr3', '1', { payload })]);
    },
    async app => {
      const at = `${CONE}&detail=full&format=`;
      const { buffer } = await bytesOf(app, `${at}parquet`);
      const [row] = await parquetReadObjects({ file: buffer });
      const keys = ['parallax', 'pmra', 'pmdec'].map(name => `gaia_dr3_${name}`);
      const infinite = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null];
      assert.equal(
        keys.map(key => row![key]),
        infinite,
      );
      const [csv] = csvRows(await app.get(`${at}csv`));
      assert.equal(
        keys.map(key => csv![key]),
        infinite.map(textOf),
      );
      const line = JSON.parse((await app.get(`${at}ndjson`)).text);
      assert.equal(
        keys.map(key => line[key]),
        [null, null, null],
      );
    },
  ));

test.run();
