import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import type { Json } from './service.ts';
import { CROWD_SIZE, IDS, NAMES, PLACES, UNKNOWN_ID } from './world.ts';

const ID = { kind: 'id', diaObjectId: IDS.matched };
const EMPTY = { kind: 'position', ...PLACES.empty, radius_arcsec: 5 };
const CROWD = { kind: 'position', ...PLACES.crowd, radius_arcsec: 10 };
const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

const request = section('Lookup: the request', {
  'the order of the checks; the first unknown field in the order of the body [Lookup]': async service => {
    const spoilt = [
      ['zz', '"zz": 1, "aa": 1'],
      ['inputs', '"x": null'],
      ['detail', '"inputs": 7, "detail": "x"'],
      ['radius_arcsec', '"inputs": 7, "radius_arcsec": 61'],
      ['filters', '"inputs": 7, "filters": []'],
      ['response', '"inputs": 7, "response": "x"'],
    ] as const;
    const everything = '"response": "x", "filters": [], "radius_arcsec": 0, "detail": "x"';
    assert.equal(await service.lookupRefused(`{"zz": 1, ${everything}, "aa": 2}`), [INVALID, 'zz']);
    assert.equal(await service.lookupRefused(`{${everything}}`), [INVALID, 'inputs']);
    for (const [param, fields] of spoilt.slice(2))
      assert.equal(await service.lookupRefused(`{${fields}}`), [INVALID, param]);
    const order = ['detail', 'radius_arcsec', 'filters', 'response'];
    const bad: Json = { detail: 'x', radius_arcsec: 0, filters: [], response: 'x' };
    for (const [i, param] of order.entries()) {
      const fields = Object.fromEntries(
        order
          .slice(i)
          .toReversed()
          .map(name => [name, bad[name]]),
      );
      assert.equal(await service.lookupRefused({ ...fields, inputs: 7 }), [INVALID, param]);
    }
  },
  'inputs must be there, a list, and not empty': async service => {
    for (const body of [{}, { inputs: null }, { inputs: 'x' }, { inputs: {} }, { inputs: [] }])
      assert.equal(await service.lookupRefused(body), [INVALID, 'inputs'], JSON.stringify(body));
  },
  'null is the default of detail, radius, filters and response': async service => {
    const fields = { detail: null, radius_arcsec: null, filters: null, response: null };
    const body = await service.lookup([ID], fields);
    assert.is(body.detail, 'matches');
    assert.not('filters' in body);
    assert.not('filters' in (await service.lookup([ID], { filters: {} })));
  },
  'radius_arcsec is for inputs that have none': async service => {
    const { kind, ra, dec } = CROWD;
    const inputs = [
      { kind, ra, dec },
      CROWD,
      { kind: 'tns', name: '2026qq' },
      { kind: 'tns', name: '2026qq', radius_arcsec: null },
    ];
    const { results } = await service.lookup(inputs, { radius_arcsec: 3 });
    assert.equal(
      results.map((result: Json) => result.normalized.radius_arcsec),
      [3, 10, 3, 3],
    );
    const own = await service.lookup([{ kind: 'tns', name: '2026qq' }]);
    assert.is(own.results[0].normalized.radius_arcsec, 1);
    for (const radius of [0, -1, 60.0001])
      assert.equal(await service.lookupRefused({ inputs: [ID], radius_arcsec: radius }), [INVALID, 'radius_arcsec']);
    await service.lookup([ID], { radius_arcsec: 60 });
  },
  'at most 1,000 ids, 200 positions and names together, malformed inputs counted': async service => {
    const small = { response: 'count' };
    for (const inputs of [many(1000, ID), many(200, EMPTY), [...many(1000, ID), ...many(200, EMPTY)], many(1000, 7)])
      await service.lookup(inputs, small);
    const tns = { kind: 'tns', name: 'x' };
    const oneKind = [
      [...many(1001, ID), EMPTY],
      [ID, ...many(201, EMPTY)],
    ];
    const tooMany = [
      ...oneKind,
      many(1001, ID),
      many(201, EMPTY),
      [...many(100, EMPTY), ...many(101, tns)],
      many(1001, {}),
    ];
    for (const inputs of [...tooMany, [...many(200, EMPTY), {}], [...many(1000, ID), 7]])
      assert.equal(await service.lookupRefused({ inputs, ...small }), [INVALID, 'inputs'], `${inputs.length}`);
  },
});

/** Malformed inputs, with the parameter at fault in each. */
const MALFORMED: readonly (readonly [unknown, string])[] = [
  ...[7, 'x', null, true, [], [ID]].map(entry => [entry, ''] as const),
  ...[{}, { kind: 7 }, { kind: null }, { kind: 'ID' }, { diaObjectId: 1 }].map(entry => [entry, '.kind'] as const),
  [{ kind: 'id', diaObjectId: 1, ra: 1 }, '.ra'],
  [{ kind: 'position', ra: 'x', name: 'x' }, '.name'],
  [{ kind: 'tns', extra: 1 }, '.extra'],
  ...[undefined, null, true, '', '-1', '+1', ' 1', '1.0', 1.5, -1, '9223372036854775808', [], {}].map(
    diaObjectId => [{ kind: 'id', diaObjectId }, '.diaObjectId'] as const,
  ),
  ...[undefined, null, '150', true, -0.001, 360.001].map(ra => [{ ...CROWD, ra, dec: 'x' }, '.ra'] as const),
  ...[undefined, null, '2', -90.001, 90.001].map(dec => [{ ...CROWD, dec }, '.dec'] as const),
  ...[undefined, null, '1', 0, -1, 60.001].map(
    radius_arcsec => [{ ...CROWD, radius_arcsec }, '.radius_arcsec'] as const,
  ),
  ...[undefined, null, 7, '', ' ', 'SN', '2026', 'x'.repeat(65)].map(name => [{ kind: 'tns', name }, '.name'] as const),
  ...['1', 0, 61].map(radius_arcsec => [{ kind: 'tns', name: '2026abc', radius_arcsec }, '.radius_arcsec'] as const),
];

const inputs = section('Lookup: malformed inputs', {
  'each is invalid_input in its own place and names what is at fault; the others are answered [Lookup]':
    async service => {
      const sent = [...MALFORMED.map(([entry]) => entry), ID];
      const { results, count } = await service.lookup(sent);
      assert.equal([count, results.length], [sent.length, sent.length]);
      assert.equal([results.at(-1).index, results.at(-1).status], [sent.length - 1, 'coincident_sources']);
      for (const [i, [entry, at]] of MALFORMED.entries()) {
        const result = results[i];
        hasKeys(result, 'index kind input normalized status objects error');
        const kind = typeof (entry as Json)?.kind === 'string' ? (entry as Json).kind : null;
        const plain = JSON.parse(JSON.stringify(entry));
        assert.equal([result.index, result.kind, result.input], [i, kind, plain]);
        assert.equal([result.normalized, result.status, result.objects], [null, 'invalid_input', []]);
        hasKeys(result.error, 'message param');
        assert.is(result.error.param, `inputs[${i}]${at}`, JSON.stringify(entry));
      }
    },
  'a radius of null is missing, even with a shared one': async service => {
    const { results } = await service.lookup([{ ...CROWD, radius_arcsec: null }], { radius_arcsec: 1 });
    assert.is(results[0].error.param, 'inputs[0].radius_arcsec');
  },
  'the bounds themselves are allowed': async service => {
    const corners = [
      [0, -90],
      [360, 90],
    ].map(([ra, dec]) => ({ kind: 'position', ra, dec, radius_arcsec: 60 }));
    const ids = ['9223372036854775807', '000', '0000000000000000000000007'].map(diaObjectId => ({
      kind: 'id',
      diaObjectId,
    }));
    const { results } = await service.lookup([...corners, ...ids]);
    for (const { status } of results) assert.is.not(status, 'invalid_input');
  },
});

const results = section('Lookup: the answer', {
  'one result per input, in order, duplicates twice': async service => {
    const unknown = { kind: 'id', diaObjectId: UNKNOWN_ID };
    const body = await service.lookup([EMPTY, ID, unknown, ID, CROWD], { detail: 'ids' });
    hasKeys(body, 'provenance detail count provenance_sets truncated results');
    assert.equal([body.detail, body.count, body.truncated], ['ids', 5, false]);
    assert.equal(
      body.results.map((result: Json) => [result.index, result.kind, result.status]),
      [
        [0, 'position', 'no_rubin_object'],
        [1, 'id', 'coincident_sources'],
        [2, 'id', 'not_in_service'],
        [3, 'id', 'coincident_sources'],
        [4, 'position', 'objects_found'],
      ],
    );
    hasKeys(body.results[1], 'index kind input normalized status objects');
    assert.equal(body.results[1].objects, body.results[3].objects);
  },
  'a position: normalized, total, truncated, truncation; its objects have their separation [Lookup]': async service => {
    const { results } = await service.lookup([{ ...CROWD, radius_arcsec: 2 }, EMPTY]);
    for (const result of results)
      hasKeys(result, 'index kind input normalized status objects total truncated truncation');
    const [crowd, empty] = results;
    assert.equal(crowd.normalized, { kind: 'position', ...PLACES.crowd, radius_arcsec: 2 });
    assert.equal([crowd.total, crowd.truncated, crowd.truncation], [crowd.objects.length, false, null]);
    for (const { separation_arcsec: separation } of crowd.objects) assert.ok(separation >= 0 && separation <= 2);
    assert.equal([empty.total, empty.truncated, empty.truncation, empty.objects], [0, false, null, []]);
  },
  'an integer and a text name the same object': async service => {
    const { body } = await service.post(
      `{"inputs": [{"kind": "id", "diaObjectId": ${IDS.matched}}, ${JSON.stringify(ID)}]}`,
    );
    assert.equal(body.results[0].objects, body.results[1].objects);
  },
});

const NAME = { kind: 'tns', name: NAMES.crowd, radius_arcsec: 10 };

const caps = section('Lookup: limits', {
  'a position lists its first 100 objects by ingest time and id [Lookup]': async service => {
    const { results, truncated } = await service.lookup([CROWD], { detail: 'position' });
    const { objects, total, truncation } = results[0];
    assert.equal([objects.length, total, truncation, truncated], [100, CROWD_SIZE, 'per_input_limit', false]);
    assert.is(results[0].truncated, true);
    const order = objects.map((object: Json) => `${object.ingest_time} ${object.diaObjectId_str.padStart(19, '0')}`);
    assert.equal(order, order.toSorted());
  },
  'a request lists 2,000 objects, ids first, then in input order': async service => {
    const { results, truncated } = await service.lookup([...many(21, CROWD), EMPTY, ...many(30, ID)], {
      detail: 'ids',
    });
    const listed = results.map((result: Json) => result.objects.length);
    assert.equal(listed, [...many(19, 100), 70, 0, 0, ...many(30, 1)]);
    assert.is(truncated, true);
    const cuts = results.slice(0, 22).map((result: Json) => result.truncation);
    assert.equal(cuts, [...many(19, 'per_input_limit'), 'per_request_limit', 'per_request_limit', null]);
    assert.equal([results[20].status, results[20].total], ['objects_found', CROWD_SIZE]);
  },
  'names share the limits of positions': async service => {
    const { results } = await service.lookup([...many(20, CROWD), NAME], { detail: 'ids' });
    assert.equal([results[20].objects, results[20].truncation], [[], 'per_request_limit']);
  },
});

export const lookup = [...request, ...inputs, ...results, ...caps];
