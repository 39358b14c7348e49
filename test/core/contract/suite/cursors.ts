import * as assert from 'uvu/assert';
import { INVALID, section } from './check.ts';
import type { Json, Service } from './service.ts';
import { PLACES, WINDOW } from './world.ts';

const CONE = '/api/cone';
const RECENT = '/api/recent-crossmatches';
const CURSOR = [INVALID, 'cursor'];

async function cursorsOf(service: Service): Promise<{ cone: string; recent: string }> {
  const cone = await service.ok(CONE, { ...PLACES.crowd, radius_arcsec: 10, page_size: 5, detail: 'ids' });
  const recent = await service.ok(RECENT, { ...WINDOW, page_size: 5, detail: 'ids' });
  return { cone: cone.next_cursor, recent: recent.next_cursor };
}

const encode = (text: string) => Buffer.from(text).toString('base64url');

/** Cursors as the reference service writes them. */
const TIME = '2026-03-01T01:00:00.000001+00:00';
const CONE_FIELDS = {
  k: 'cone_search',
  t: TIME,
  i: 1701,
  a: '2026-03-02T00:00:00+00:00',
  ra: 200,
  dec: -30,
  r: 10,
  d: 'ids',
};
const RECENT_FIELDS = {
  k: 'recent_crossmatches',
  t: TIME,
  i: 7,
  s: WINDOW.start,
  e: WINDOW.end,
  f: 'ingest_time',
  d: 'ids',
  a: '2026-03-02T00:00:00+00:00',
};
const forged = (fields: Json, changes: Json = {}) => ({ cursor: encode(JSON.stringify({ ...fields, ...changes })) });

export const cursors = section('Cursors', {
  'what is no cursor is refused: empty, too long, damaged, of another operation [Cursors]': async service => {
    const { cone, recent } = await cursorsOf(service);
    const damaged = [
      '',
      'x',
      '!!!',
      `${cone}=`,
      'a'.repeat(1025),
      encode('7'),
      encode('[]'),
      encode('null'),
      encode('{}'),
      encode('{'),
    ];
    for (const path of [CONE, RECENT]) {
      for (const cursor of damaged) assert.equal(await service.refused(path, { cursor }), CURSOR, cursor.slice(0, 40));
    }
    assert.equal(await service.refused(CONE, { cursor: recent }), CURSOR);
    assert.equal(await service.refused(RECENT, { cursor: cone }), CURSOR);
    for (const length of [1, 10, 40, cone.length - 5]) {
      assert.equal(await service.refused(CONE, { cursor: cone.slice(0, length) }), CURSOR, `${length}`);
      assert.equal(await service.refused(RECENT, { cursor: recent.slice(0, length) }), CURSOR, `${length}`);
    }
  },
  'a cursor is refused whichever of its characters is altered': async service => {
    const { cone, recent } = await cursorsOf(service);
    for (const [path, cursor] of [
      [CONE, cone],
      [RECENT, recent],
    ] as const) {
      for (let i = 0; i < cursor.length; i++) {
        const altered = `${cursor.slice(0, i)}${cursor[i] === 'A' ? 'B' : 'A'}${cursor.slice(i + 1)}`;
        assert.equal(await service.refused(path, { cursor: altered }), CURSOR, `${path}: ${i}`);
      }
      const text = Buffer.from(cursor, 'base64url').toString();
      for (const key of ['d', 'o', 'x', 'C', 'k'])
        assert.equal(await service.refused(path, { cursor: encode(text.replace('"c":', `"${key}":`)) }), CURSOR, key);
    }
  },
  'the cursor of the reference service is read': async service => {
    const cone = await service.ok(CONE, forged(CONE_FIELDS));
    assert.equal([cone.detail, cone.as_of], ['ids', CONE_FIELDS.a]);
    const recent = await service.ok(RECENT, forged(RECENT_FIELDS));
    assert.equal([recent.window, recent.as_of, recent.detail], [WINDOW, RECENT_FIELDS.a, 'ids']);
  },
  'a recent cursor without k or a is one of before there were these; times without an offset are UTC':
    async service => {
      const { k, a, ...old } = RECENT_FIELDS;
      const naive = { ...old, t: TIME.slice(0, -6), s: '2026-03-01T00:00:00', e: '2026-03-03' };
      const page = await service.ok(RECENT, forged(naive));
      assert.equal(page.window, WINDOW);
      assert.ok(Math.abs(Date.parse(page.as_of) - Date.now()) < 86_400_000, 'as_of is now');
      const { a: asOf, ...withoutAsOf } = CONE_FIELDS;
      assert.equal(await service.refused(CONE, forged(withoutAsOf)), CURSOR);
      const { k: kind, ...withoutKind } = CONE_FIELDS;
      assert.equal(await service.refused(CONE, forged(withoutKind)), CURSOR);
    },
  'a missing key, or one of another type, is refused': async service => {
    const wrong: Json = {
      k: ['x', 7],
      t: ['x', 7, '2026-13-01'],
      i: ['7', true, 1.5, -1],
      s: ['x', 1],
      e: ['x', null],
      f: [7, 'x'],
      d: [7],
      a: ['x', 7, '9999-12-31T23:59:59.999999Z'],
      ra: ['1', null],
      dec: ['1'],
      r: [true],
    };
    for (const [path, fields] of [
      [CONE, CONE_FIELDS],
      [RECENT, RECENT_FIELDS],
    ] as const) {
      for (const key of Object.keys(fields)) {
        if (!(path === RECENT && 'ka'.includes(key)))
          assert.equal(await service.refused(path, forged(fields, { [key]: undefined })), CURSOR, key);
        for (const value of wrong[key])
          assert.equal(await service.refused(path, forged(fields, { [key]: value })), CURSOR, `${key}: ${value}`);
      }
    }
  },
  'pinned values are checked again': async service => {
    const out = { ra: [361, -1], dec: [91], r: [0, 61], d: ['x'] };
    for (const [key, values] of Object.entries(out)) {
      for (const value of values)
        assert.equal(await service.refused(CONE, forged(CONE_FIELDS, { [key]: value })), CURSOR);
    }
    assert.equal(await service.refused(RECENT, forged(RECENT_FIELDS, { d: 'x' })), CURSOR);
    for (const window of [{ e: '2026-02-01' }, { e: '2026-04-01' }])
      assert.equal(await service.refused(RECENT, forged(RECENT_FIELDS, window)), [INVALID, ['cursor']]);
  },
  'a page after the last is empty, with the true total': async service => {
    const after = forged(CONE_FIELDS, { t: '2026-03-01T23:00:00+00:00' });
    const { results, next_cursor } = await service.ok(CONE, after);
    const [{ status, objects, total }] = results;
    assert.equal([status, objects, total, next_cursor], ['objects_found', [], 130, null]);
  },
  'as_of bounds the ingest time': async service => {
    const [result] = (await service.ok(CONE, forged(CONE_FIELDS, { t: '2020-01-01', a: '2026-03-01T01:00:00+00:00' })))
      .results;
    assert.equal([result.objects.length, result.total], [7, 7]);
    const recent = forged(RECENT_FIELDS, { t: '2026-03-02T00:00:00Z', f: 'event_time', a: '2026-03-01T00:00:02Z' });
    assert.is((await service.ok(RECENT, recent)).count, 2);
  },
});
