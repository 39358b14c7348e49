import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import type { Json, Service } from './service.ts';
import { CROWD_SIZE, IDS, PLACES } from './world.ts';

const CONE = '/api/cone';
const CROWD = { ...PLACES.crowd, radius_arcsec: 10 };

/** Every page of a walk. */
export async function walk(service: Service, path: string, first: object, rest: object = {}): Promise<Json[]> {
  const pages = [await service.ok(path, { ...first, ...rest })];
  for (let cursor = pages[0].next_cursor; cursor !== null; cursor = pages.at(-1).next_cursor) {
    pages.push(await service.ok(path, { cursor, ...rest }));
    if (pages.length > 1000) throw new Error('the walk does not end');
  }
  return pages;
}

const request = section('Cone: the request', {
  'parameters are checked beside response=count, too [Cone]': async service => {
    const at = 'ra=1&dec=1&radius_arcsec=1';
    for (const value of ['0', '-1', 'x', '', '1.5'])
      assert.equal(await service.refused(CONE, `${at}&response=count&page_size=${value}`), [INVALID, 'page_size']);
    assert.equal(await service.refused(CONE, `${at}&response=count&detail=x`), [INVALID, 'detail']);
    await service.ok(CONE, `${at}&response=count&page_size=5000`);
  },
  'the order of the checks: filters, response, ra, dec, radius, detail, page_size [Cone]': async service => {
    const spoilt = ['a.b=1', 'response=x', 'ra=x', 'dec=x', 'radius_arcsec=x', 'detail=x', 'page_size=x'];
    for (const [i, bad] of spoilt.entries()) {
      const query = ['ra=1&dec=1&radius_arcsec=1', ...spoilt.slice(i).toReversed()].join('&');
      assert.equal(await service.refused(CONE, query), [INVALID, bad.split('=')[0]]);
    }
  },
  'ra, dec and radius are required, in that order': async service => {
    assert.equal(await service.refused(CONE, ''), [INVALID, 'ra']);
    assert.equal(await service.refused(CONE, 'ra=1'), [INVALID, 'dec']);
    assert.equal(await service.refused(CONE, 'ra=1&dec=1'), [INVALID, 'radius_arcsec']);
  },
  'bounds: 0 to 360, -90 to 90, above 0 to 60': async service => {
    const outside = { ra: ['-0.001', '360.001'], dec: ['-90.001', '90.001'], radius_arcsec: ['0', '-1', '60.001'] };
    for (const [name, values] of Object.entries(outside)) {
      for (const value of values)
        assert.equal(await service.refused(CONE, { ...CROWD, [name]: value }), [INVALID, name]);
    }
    for (const query of ['ra=0&dec=-90&radius_arcsec=60', 'ra=360&dec=90&radius_arcsec=1e-6'])
      await service.ok(CONE, query);
  },
});

const answer = section('Cone: the answer', {
  'the envelope, and one position result that echoes what was sent as texts [Cone]': async service => {
    const body = await service.ok(CONE, 'ra=200.0&dec=-3e1&radius_arcsec=10&detail=ids&x=y');
    hasKeys(body, 'provenance detail count provenance_sets truncated results as_of page_size next_cursor');
    assert.equal([body.detail, body.count, body.truncated, body.page_size], ['ids', 1, false, 100]);
    const { objects, ...result } = body.results[0];
    assert.is(objects.length, 100);
    assert.equal(result, {
      index: 0,
      kind: 'position',
      input: { ra: '200.0', dec: '-3e1', radius_arcsec: '10' },
      normalized: { kind: 'position', ...CROWD },
      status: 'objects_found',
      total: CROWD_SIZE,
      truncated: false,
      truncation: null,
    });
    hasKeys(objects[0], 'diaObjectId diaObjectId_str status crossmatch separation_arcsec');
  },
  'nothing there: no_rubin_object': async service => {
    const { results, next_cursor } = await service.ok(CONE, { ...PLACES.empty, radius_arcsec: 60 });
    const [{ status, objects, total }] = results;
    assert.equal([status, objects, total, next_cursor], ['no_rubin_object', [], 0, null]);
  },
  'crossmatched or not, every object with its own status': async service => {
    const { results } = await service.ok(CONE, { ...PLACES.states, radius_arcsec: 60 });
    const ids = results[0].objects.map((object: Json) => object.diaObjectId_str);
    assert.equal(
      ids,
      Object.values(IDS).filter(id => id !== IDS.invalidPosition),
    );
    assert.is(new Set(results[0].objects.map((object: Json) => object.status)).size, 4);
  },
  'the radius is inclusive': async service => {
    const { objects } = (await service.ok(CONE, { ...CROWD, page_size: 2000 })).results[0];
    const furthest = Math.max(...objects.map((object: Json) => object.separation_arcsec));
    const total = async (radius_arcsec: number) =>
      (await service.ok(CONE, { ...CROWD, radius_arcsec })).results[0].total;
    assert.is(await total(furthest * (1 + 1e-9)), CROWD_SIZE);
    assert.is(await total(furthest * (1 - 1e-6)), CROWD_SIZE - 1);
    const exactly = await service.ok(CONE, { ra: 200, dec: -30, radius_arcsec: 1e-9 });
    assert.is(exactly.results[0].total, 1, 'the object at the very position');
  },
  'over the meridian, and over the pole': async service => {
    for (const ra of [0, 360, 359.9999])
      assert.is((await service.ok(CONE, { ra, dec: 10, radius_arcsec: 2 })).results[0].total, 2);
    for (const ra of [0, 100, 190])
      assert.is((await service.ok(CONE, { ra, dec: 90, radius_arcsec: 1 })).results[0].total, 2);
    assert.is((await service.ok(CONE, { ra: 10, dec: 89.9999, radius_arcsec: 0.5 })).results[0].total, 1);
  },
});

const pages = section('Cone: the walk', {
  'every page size lists every object once, ascending by ingest time and id; as_of and total stay': async service => {
    const whole = (await service.ok(CONE, { ...CROWD, detail: 'position', page_size: 2000 })).results[0].objects;
    assert.is(whole.length, CROWD_SIZE);
    const order = whole.map((object: Json) => `${object.ingest_time.padEnd(32)} ${object.diaObjectId_str}`);
    assert.equal(order, order.toSorted());
    for (const page_size of [1, 6, 7, 50, CROWD_SIZE - 1, CROWD_SIZE]) {
      const walked = await walk(service, CONE, { ...CROWD, detail: 'position' }, { page_size });
      assert.equal(
        walked.flatMap(page => page.results[0].objects),
        whole,
        `${page_size}`,
      );
      assert.is(walked.length, Math.ceil(CROWD_SIZE / page_size));
      for (const { as_of, results, page_size: size } of walked)
        assert.equal([as_of, results[0].total, size], [walked[0].as_of, CROWD_SIZE, page_size]);
    }
  },
  'a further page echoes the cursor and answers as the first': async service => {
    const first = await service.ok(CONE, { ...CROWD, detail: 'ids', page_size: 10 });
    const { next_cursor: cursor } = first;
    const second = await service.ok(CONE, { cursor });
    assert.equal(second.results[0].input, { cursor });
    assert.equal(second.results[0].normalized, { kind: 'position', ...CROWD });
    assert.equal([second.detail, second.page_size], ['ids', 100]);
    const repeated = await service.ok(CONE, { ...CROWD, detail: 'ids', cursor });
    assert.equal(repeated.results[0].objects, second.results[0].objects);
  },
  'the cursor pins ra, dec, radius and detail; a count takes none': async service => {
    const { next_cursor: cursor } = await service.ok(CONE, { ...CROWD, page_size: 10 });
    for (const [name, value] of Object.entries({ ra: '200.1', dec: '-30.1', radius_arcsec: '9', detail: 'ids' })) {
      assert.equal(await service.refused(CONE, { cursor, [name]: value }), [INVALID, name]);
      assert.equal(await service.refused(CONE, { cursor, [name]: 'x' }), [INVALID, name]);
    }
    assert.equal(await service.refused(CONE, { cursor, response: 'count' }), [INVALID, 'cursor']);
    assert.equal(await service.refused(CONE, { cursor: 'x', page_size: 'x' }), [INVALID, 'cursor']);
    assert.equal(await service.refused(CONE, { cursor, page_size: 'x' }), [INVALID, 'page_size']);
  },
  'filters are not pinned; their total is of the whole walk [Cone]': async service => {
    const filters = { reliability_min: 0.5 };
    const walked = await walk(service, CONE, CROWD, { page_size: 50, ...filters });
    for (const page of walked) {
      assert.equal([page.filters, page.results[0].qualifying_total], [filters, CROWD_SIZE / 2]);
    }
    const { next_cursor: cursor } = walked[0];
    assert.not('filters' in (await service.ok(CONE, { cursor })));
  },
});

export const cone = [...request, ...answer, ...pages];
