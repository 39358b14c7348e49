import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import { walk } from './cone.ts';
import type { Json } from './service.ts';
import { CROWD_SIZE, IDS, WINDOW } from './world.ts';

const RECENT = '/api/recent-crossmatches';
const LISTED_STATES = [IDS.leftover, IDS.matched, IDS.unrecorded, IDS.unreliable, IDS.recrossmatched, IDS.broken];
/** One object in three of the crowd has a match. */
const LISTED = LISTED_STATES.length + Math.ceil(CROWD_SIZE / 3);

const request = section('Recent crossmatches: the request', {
  'filters and response are not supported: every one is named, in the order of the query': async service => {
    const unsupported = 'unsupported_parameter';
    for (const name of [
      'catalog',
      'separation_arcsec_max',
      'reliability_min',
      'gaia_dr3.ruwe_max',
      'a.b',
      'x_min',
      'response',
    ])
      assert.equal(await service.refused(RECENT, { [name]: 'x', start: 'x' }), [unsupported, name]);
    const query = 'x_max=&start=x&response=objects&catalog=y&x_max=2&ra=1';
    assert.equal(await service.refused(RECENT, query), [unsupported, ['x_max', 'response', 'catalog']]);
  },
  'the order of the checks': async service => {
    const spoilt = ['start=x', 'end=x', 'page_size=x', 'cursor=x', 'detail=x', 'time_field=x', 'page_size=0', 'window'];
    const window = 'start=2026-01-02&end=2026-01-01';
    const blamed = ['start', 'end', 'page_size', 'cursor', 'detail', 'time_field', 'page_size', ['start', 'end']];
    for (const [i, param] of blamed.entries()) {
      const bad = spoilt.slice(i, -1).filter(text => i > 2 || text !== 'page_size=0');
      assert.equal(await service.refused(RECENT, [window, ...bad.toReversed()].join('&')), [INVALID, param], `${i}`);
    }
  },
  'times in every ISO 8601 form; a time without an offset is UTC; an offset is kept': async service => {
    const forms = {
      '2026-03-01': '2026-03-01T00:00:00+00:00',
      '20260301': '2026-03-01T00:00:00+00:00',
      '2026-03-01T06:07': '2026-03-01T06:07:00+00:00',
      '2026-03-01 06:07:08': '2026-03-01T06:07:08+00:00',
      '20260301T060708Z': '2026-03-01T06:07:08+00:00',
      '2026-03-01T06:07:08.5Z': '2026-03-01T06:07:08.500000+00:00',
      '2026-03-01T06:07:08.000001+02:00': '2026-03-01T06:07:08.000001+02:00',
      '2026-03-01T06:07:08-0330': '2026-03-01T06:07:08-03:30',
    };
    for (const [form, echoed] of Object.entries(forms)) {
      const { window } = await service.ok(RECENT, { start: form, end: '2026-03-02' });
      assert.equal(window, { start: echoed, end: '2026-03-02T00:00:00+00:00' }, form);
    }
    const bad = ['x', '2026-13-01', '2026-02-30', '2026-03-01T25:00', '2026-03-01T00:60', '2026', '1e9', '2026-03-01T'];
    for (const time of bad) {
      assert.equal(await service.refused(RECENT, { start: time }), [INVALID, 'start'], time);
      assert.equal(await service.refused(RECENT, { end: time }), [INVALID, 'end'], time);
    }
  },
  'by default the twelve hours before now, or before end': async service => {
    const { window, as_of } = await service.ok(RECENT);
    assert.is(Date.parse(window.end) - Date.parse(window.start), 12 * 3_600_000);
    assert.ok(Math.abs(Date.parse(window.end) - Date.parse(as_of)) < 1000);
    const before = (await service.ok(RECENT, { end: '2026-03-02T00:00:00+02:00' })).window;
    assert.equal(before, { start: '2026-03-01T12:00:00+02:00', end: '2026-03-02T00:00:00+02:00' });
  },
  'a window of 168 hours is the longest, an empty one the shortest': async service => {
    await service.ok(RECENT, { start: '2026-03-01', end: '2026-03-08' });
    const empty = await service.ok(RECENT, { start: '2026-03-01T00:00:02Z', end: '2026-03-01T00:00:02Z' });
    assert.equal([empty.count, empty.objects, empty.next_cursor], [0, [], null]);
    for (const [start, end] of [
      ['2026-03-01', '2026-03-08T00:00:00.000001'],
      ['2026-03-01T00:00:00.000001', '2026-03-01'],
    ])
      assert.equal(await service.refused(RECENT, { start: start!, end: end! }), [INVALID, ['start', 'end']]);
  },
});

const answer = section('Recent crossmatches: the answer', {
  'the envelope; newest first, ids ascending within a time; whatever has a match, pending or not': async service => {
    for (const time_field of ['ingest_time', 'event_time']) {
      const body = await service.ok(RECENT, { ...WINDOW, time_field });
      hasKeys(body, 'provenance window time_field detail page_size count next_cursor objects as_of');
      assert.equal([body.window, body.time_field, body.detail], [WINDOW, time_field, 'matches']);
      assert.equal([body.page_size, body.count, body.next_cursor], [1000, LISTED, null]);
      const ids: string[] = body.objects.map((object: Json) => object.diaObjectId_str);
      assert.equal([ids.length, new Set(ids).size], [LISTED, LISTED]);
      assert.equal(ids.slice(-LISTED_STATES.length), LISTED_STATES.toReversed());
      const times = new Map<string, string>();
      const { results } = await service.lookup(
        ids.map(diaObjectId => ({ kind: 'id', diaObjectId })),
        { detail: 'position' },
      );
      for (const { objects } of results)
        times.set(objects[0].diaObjectId_str, objects[0][time_field].replace('00+', '00.000000+'));
      const sorted = ids.toSorted((a, b) => {
        const [first, second] = [times.get(a)!, times.get(b)!];
        return first === second ? (BigInt(a) < BigInt(b) ? -1 : 1) : first < second ? 1 : -1;
      });
      assert.equal(ids, sorted, time_field);
    }
  },
  'start is inclusive, end exclusive, to the microsecond, on the chosen field': async service => {
    const count = async (start: string, end: string, time_field = 'ingest_time') =>
      (await service.ok(RECENT, { start, end, time_field })).count;
    const [second, next] = ['2026-03-01T00:00:02Z', '2026-03-01T00:00:02.000001Z'];
    assert.equal(
      [
        await count(second, next),
        await count('2026-03-01T00:00:01.004211Z', second),
        await count(next, '2026-03-01T00:00:04Z'),
      ],
      [1, 0, 0],
    );
    assert.is(await count('2026-03-01T00:00:01.004210Z', second), 1);
    assert.equal(
      [
        await count(second, next, 'event_time'),
        await count('2026-03-01T00:00:03Z', '2026-03-01T00:00:03.1Z', 'event_time'),
      ],
      [0, 1],
    );
  },
  'each level adds its keys; a match has no provenance set, an object no status': async service => {
    const ids = 'diaObjectId diaObjectId_str';
    const keys = { ids, position: `${ids} ra dec`, matches: `${ids} ra dec matches`, full: `${ids} ra dec matches` };
    for (const [detail, expected] of Object.entries(keys)) {
      for (const object of (await service.ok(RECENT, { ...WINDOW, detail })).objects) hasKeys(object, expected);
    }
    const published =
      'diaObjectId ra dec catalog_name catalog_source_id separation_arcsec catalog_release catalog_payload catalogs_skipped partial ' +
      'tns_checked tns_snapshot_epoch';
    const find = (objects: Json[], id: string) => objects.find(object => object.diaObjectId_str === id)!;
    const { objects } = await service.ok(RECENT, WINDOW);
    const { objects: full } = await service.ok(RECENT, { ...WINDOW, detail: 'full' });
    for (const match of find(objects, IDS.matched).matches)
      hasKeys(match, 'catalog_name catalog_source_id separation_arcsec');
    for (const match of find(full, IDS.matched).matches)
      hasKeys(match, `${published} tns${match.catalog_source_id === '10' ? ' statistics' : ''}`);
    hasKeys(find(full, IDS.unrecorded).matches[0], published);
    assert.equal([find(objects, IDS.broken).matches.length, find(full, IDS.broken).matches], [1, []]);
    assert.equal(
      find(objects, IDS.recrossmatched).matches.map((match: Json) => match.separation_arcsec),
      [0.125],
    );
    assert.is(find(objects, IDS.leftover).matches.length, 1);
  },
});

const pages = section('Recent crossmatches: the walk', {
  'every page size lists every object once, in order; window and as_of stay': async service => {
    for (const time_field of ['ingest_time', 'event_time']) {
      const first = { ...WINDOW, time_field, detail: 'ids' };
      const { objects } = await service.ok(RECENT, first);
      for (const page_size of [1, 2, 7, LISTED - 1, LISTED]) {
        const walked = await walk(service, RECENT, first, { page_size });
        assert.equal(
          walked.flatMap(page => page.objects),
          objects,
          `${page_size}`,
        );
        assert.is(walked.length, Math.ceil(LISTED / page_size));
        for (const page of walked) {
          assert.equal(
            [page.window, page.as_of, page.time_field, page.detail],
            [WINDOW, walked[0].as_of, time_field, 'ids'],
          );
          assert.equal([page.page_size, page.count], [page_size, page.objects.length]);
        }
      }
    }
  },
  'the cursor pins start, end, time_field and detail, as instants; page_size is free': async service => {
    const { next_cursor: cursor } = await service.ok(RECENT, { ...WINDOW, detail: 'ids', page_size: 3 });
    const same = { start: '2026-03-01', end: '2026-03-03T02:00:00+02:00', time_field: 'ingest_time', detail: 'ids' };
    assert.is((await service.ok(RECENT, { cursor, ...same, page_size: 5 })).count, 5);
    const other = { start: '2026-03-01T00:00:01Z', end: '2026-03-02', time_field: 'event_time', detail: 'full' };
    for (const [name, value] of Object.entries(other))
      assert.equal(await service.refused(RECENT, { cursor, [name]: value }), [INVALID, name]);
  },
});

export const recent = [...request, ...answer, ...pages];
