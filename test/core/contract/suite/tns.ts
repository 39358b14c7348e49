import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import type { Json } from './service.ts';
import { CROWD_SIZE, NAMES, PLACES } from './world.ts';

const pathOf = (name: string) => `/api/tns/${encodeURIComponent(name)}`;
const RECORD_KEYS = 'objid name classification redshift url name_prefix ra dec';
const RESULT_KEYS = 'index kind input normalized status objects total truncated truncation tns tns_snapshot_epoch';

const names = section('Registry names: how they are read', {
  'prefix, case and white space do not matter': async service => {
    const spellings = [
      '2026abc',
      'SN 2026abc',
      'AT2026abc',
      '  at 2026abc ',
      'SN 2026 abc',
      '2026ABC',
      's n2026abc',
      '20\t26abc',
    ];
    for (const name of [...spellings, `2026abc${' '.repeat(57)}`]) {
      const { input, normalized, status } = (await service.ok(pathOf(name))).results[0];
      assert.equal([input, normalized], [name, { kind: 'tns', name: '2026abc', radius_arcsec: 1 }]);
      assert.is(status, 'objects_found');
    }
  },
  'what is no name is refused': async service => {
    const bad = [
      ' ',
      'SN',
      'AT',
      '2026',
      'SN2026',
      'SNAT2026abc',
      'SN SN2026abc',
      'XX2026abc',
      '226abc',
      '2026ab-c',
      '2026äb',
    ];
    for (const name of [...bad, '٢٠٢٦abc', 'x'.repeat(65), `2026abc${' '.repeat(58)}`])
      assert.equal(await service.refused(pathOf(name), ''), [INVALID, 'name'], name);
  },
  'the order of the checks: detail, filters, response, name, radius [Registry names]': async service => {
    const spoilt = ['detail=x', 'a.b=1', 'response=x'];
    for (const [i, param] of ['detail', 'a.b', 'response', 'name'].entries()) {
      assert.equal(await service.refused('/api/tns/x', [...spoilt.slice(i), 'radius_arcsec=0'].join('&')), [
        INVALID,
        param,
      ]);
    }
    for (const radius_arcsec of ['0', '-1', '60.1', 'x'])
      assert.equal(await service.refused(pathOf(NAMES.states), { radius_arcsec }), [INVALID, 'radius_arcsec']);
  },
});

const answers = section('Registry names: the answer', {
  'a lookup with one result that has the registry record and the epoch': async service => {
    const { tns_snapshot_epoch } = await service.ok('/api/status');
    const body = await service.ok(pathOf('SN 2026abc'), { radius_arcsec: 2 });
    hasKeys(body, 'provenance detail count provenance_sets truncated results');
    const [result] = body.results;
    hasKeys(result, RESULT_KEYS);
    assert.equal([result.kind, result.normalized.radius_arcsec], ['tns', 2]);
    assert.is(result.tns_snapshot_epoch, tns_snapshot_epoch);
    hasKeys(result.tns, RECORD_KEYS);
    const { url, ...record } = result.tns;
    assert.match(url, /2026abc$/);
    assert.equal(record, {
      objid: 11,
      name: '2026abc',
      classification: 'SN Ia',
      redshift: 0.1,
      name_prefix: 'SN',
      ...PLACES.states,
    });
    assert.equal([result.total, result.truncated, result.truncation], [result.objects.length, false, null]);
    for (const { separation_arcsec } of result.objects) assert.ok(separation_arcsec <= 2);
  },
  'at most 100 objects, in the order of a position; no pages [Registry names]': async service => {
    const { results, truncated } = await service.ok(pathOf(NAMES.crowd), 'radius_arcsec=10&page_size=5&cursor=x');
    const [{ objects, total, truncation }] = results;
    assert.equal([objects.length, total, truncation, truncated], [100, CROWD_SIZE, 'per_input_limit', false]);
    const position = await service.lookup([{ kind: 'position', ...PLACES.crowd, radius_arcsec: 10 }]);
    assert.equal(objects, position.results[0].objects);
  },
  'of names that differ in case alone the lowest objid wins, and keeps its case': async service => {
    const { tns } = (await service.ok(pathOf(NAMES.tie))).results[0];
    assert.equal([tns.objid, tns.name, tns.name_prefix, tns.ra], [41, '2026tIE', null, 150]);
  },
  'a name with nothing there, and a name that nobody has': async service => {
    const [nothing] = (await service.ok(pathOf(NAMES.nothingThere))).results;
    assert.equal([nothing.status, nothing.objects, nothing.total], ['no_rubin_object', [], 0]);
    assert.is(nothing.tns.objid, 31);
    const [unknown] = (await service.ok(pathOf('2026qqq'))).results;
    hasKeys(unknown, RESULT_KEYS);
    assert.equal([unknown.status, unknown.objects, unknown.total, unknown.tns], ['tns_name_not_found', [], null, null]);
    assert.equal([unknown.truncated, unknown.truncation], [false, null]);
    assert.type(unknown.tns_snapshot_epoch, 'string');
  },
  'a name of a lookup is answered alike, marked by filters alike': async service => {
    for (const name of Object.values(NAMES)) {
      const inputs = [{ kind: 'tns', name, radius_arcsec: 10 }];
      const { input, ...one } = (await service.ok(pathOf(name), 'radius_arcsec=10&reliability_min=0.5')).results[0];
      const { input: other, ...two } = (await service.lookup(inputs, { filters: { reliability_min: 0.5 } })).results[0];
      assert.equal(one, two);
      assert.equal([input, other], [name, inputs[0]]);
    }
  },
});

export const tns = [...names, ...answers];

/** For a service whose registry is too old, or missing. */
export const withoutRegistry = section('Registry names: without a current registry', {
  'the status says so': async service => {
    const { tns_resolution, tns_snapshot_epoch } = await service.ok('/api/status');
    assert.equal([tns_resolution, tns_snapshot_epoch], ['unavailable', null]);
  },
  'names are resolver_unavailable, with 200; other inputs are answered': async service => {
    for (const name of [...Object.values(NAMES), '2026qqq']) {
      const [result] = (await service.ok(pathOf(name))).results;
      hasKeys(result, RESULT_KEYS);
      assert.equal([result.status, result.objects, result.total], ['resolver_unavailable', [], null]);
      assert.equal([result.tns, result.tns_snapshot_epoch, result.truncated], [null, null, false]);
    }
    const inputs = [
      { kind: 'tns', name: NAMES.crowd },
      { kind: 'position', ...PLACES.crowd, radius_arcsec: 10 },
    ];
    const { results } = await service.lookup(inputs, { filters: { reliability_min: 0 } });
    assert.equal(
      results.map((result: Json) => result.status),
      ['resolver_unavailable', 'objects_found'],
    );
    assert.equal([results[0].qualifies, results[0].qualifies_reason], [false, 'resolver_unavailable']);
    assert.is(results[0].qualifying_total, null);
  },
});
