/** Cone searches: against brute force, and by the letter of Simple Cone Search 1.03 and DALI 1.1. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coneTable } from '../../../src/capabilities/vo/cone_tables.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import type { SkyPosition } from '../../../src/core/store/types.ts';
import {
  CENTRES,
  NAMES,
  payloadOf,
  storeObjects,
  type TrueObject,
  trueObjects,
} from '../../core/http/crowded_places.ts';
import { type Answer, type Running, startApp, withApp } from '../../core/http/support.ts';
import { fieldsOf, infosOf, rowsOf } from '../../core/tables/read_votable.ts';

const test = suite<{ running: Running }>('vo/cone');
const OBJECTS = trueObjects(1500);

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, OBJECTS), { VO_MAX_RECORDS: '2000' });
});

test.after(({ running }) => running.close());

/** The separation in arcsec from vectors, unlike the index's formula. */
function separation(a: SkyPosition, b: SkyPosition): number {
  const vector = ({ ra, dec }: SkyPosition) => {
    const [alpha, delta] = [(ra * Math.PI) / 180, (dec * Math.PI) / 180];
    return [Math.cos(delta) * Math.cos(alpha), Math.cos(delta) * Math.sin(alpha), Math.sin(delta)] as const;
  };
  const [p, q] = [vector(a), vector(b)];
  return (2 * Math.asin(Math.hypot(...p.map((each, i) => each - q[i]!)) / 2) * 180 * 3600) / Math.PI;
}

interface Cone {
  readonly centre: SkyPosition;
  readonly radiusDeg: number;
}

/** Around the crowded places, beside them, and with a radius of everything from an object to the largest. */
const CONES: readonly Cone[] = CENTRES.flatMap(({ ra, dec }) =>
  [0.0003, 0.01, 0.1, 0.5].map((radiusDeg, i) => ({ centre: { ra, dec: dec - 0.05 * i }, radiusDeg })),
).concat(
  OBJECTS.slice(0, 5).map(({ position }) => ({ centre: position, radiusDeg: 0.0001 })),
  // At sources whose objects lie outside.
  OBJECTS.flatMap(({ position: from, sources }) =>
    sources.flatMap(({ position }) =>
      position && separation(from, position) > 4 ? { centre: position, radiusDeg: 0.001 } : [],
    ),
  ).slice(0, 60),
);

const query = ({ centre: { ra, dec }, radiusDeg }: Cone) => `RA=${ra}&DEC=${dec}&SR=${radiusDeg}`;

async function rows(running: Running, path: string): Promise<Record<string, string | null>[]> {
  const { status, text, headers } = await running.app.get(path);
  assert.equal([status, headers.get('Content-Type')], [200, 'application/x-votable+xml'], text);
  assert.equal(infosOf(text, 'QUERY_STATUS'), ['OK']);
  return rowsOf(text);
}

const isNearer = (x: { separation: number }, y: { separation: number }) => x.separation - y.separation;

test('objects: those within the radius, the nearest first, each with what is known of it', async ({ running }) => {
  let found = 0;
  for (const cone of CONES) {
    const wanted = OBJECTS.map(object => ({ object, separation: separation(cone.centre, object.position) }))
      .filter(each => each.separation <= cone.radiusDeg * 3600)
      .sort(isNearer);
    const got = await rows(running, `/vo/scs?${query(cone)}`);
    checkIds(
      got,
      wanted.map(({ object }) => `${object.id}`),
    );
    got.forEach((row, i) => {
      checkObject(row, wanted[i]!.object, wanted[i]!.separation);
    });
    found += got.length;
  }
  assert.ok(found > 1000, `${found}`);
});

/** Shows only the first difference. */
function checkIds(got: readonly Record<string, string | null>[], wanted: readonly string[]): void {
  const at = wanted.findIndex((id, i) => got[i]?.id !== id);
  if (at >= 0) assert.is(got[at]?.id, wanted[at], `row ${at}`);
  assert.is(got.length, wanted.length);
}

function checkObject(row: Record<string, string | null>, object: TrueObject, distance: number): void {
  const { id, position, reliability, state, sources, searched } = object;
  assert.is(row.id, `${id}`);
  assert.equal([Number(row.ra), Number(row.dec)], [position.ra, position.dec]);
  assert.ok(Math.abs(Number(row.separation_arcsec) - distance) < 1e-6);
  assert.is(row.reliability, reliability === null ? null : `${reliability}`);
  assert.is(row.event_time, '2026-09-21T14:13:15.123456Z');
  for (const name of NAMES) {
    const count = sources.filter(({ catalog }) => catalog === name).length;
    const isKnown = state === 'crossmatched' && searched.includes(name);
    const expected = state === 'pending' ? null : count > 0 || isKnown ? `${count}` : null;
    assert.is(row[`${name}_matches`], expected, `${id} ${name}`);
  }
  const searchedAny = state === 'unrecorded' || searched.length > 0;
  const crossmatched =
    sources.length > 0 ? 'coincident_sources' : searchedAny ? 'no_coincident_source' : 'not_searched';
  assert.is(row.status, state === 'pending' ? 'crossmatch_pending' : crossmatched);
}

for (const [catalog, id] of [
  ['gaia_dr3', 'source_id'],
  ['skymapper_dr4', 'object_id'],
] as const)
  test(`sources of ${catalog}: those within the radius, however far their objects are`, async ({ running }) => {
    let [found, outside] = [0, 0];
    for (const cone of CONES) {
      const reach = cone.radiusDeg * 3600;
      const wanted = OBJECTS.filter(({ state }) => state !== 'pending')
        .flatMap(object =>
          object.sources.flatMap(source =>
            source.catalog === catalog && source.position
              ? { object, source, at: source.position, separation: separation(cone.centre, source.position) }
              : [],
          ),
        )
        .filter(each => each.separation <= reach)
        .sort(isNearer);
      const got = await rows(running, `/vo/scs/${catalog}?${query(cone)}&VERB=3`);
      checkIds(
        got,
        wanted.map(({ object, source }) => `${source.id}/${object.id}`),
      );
      got.forEach((row, i) => {
        const { object, source, at } = wanted[i]!;
        assert.equal([row[id], row.diaObjectId, row.object_separation_arcsec], [source.id, `${object.id}`, '0.5']);
        assert.equal([Number(row.ra), Number(row.dec)], [at.ra, at.dec]);
        assert.equal([Number(row.object_ra), Number(row.object_dec)], [object.position.ra, object.position.dec]);
        assert.is(row.object_status, 'coincident_sources');
        if (catalog === 'gaia_dr3')
          assert.equal([row.parallax, row.ruwe, row.pmra], [`${payloadOf(source.id).parallax}`, null, null]);
        else assert.is(row.flags, null);
        if (separation(cone.centre, object.position) > reach) outside++;
      });
      found += got.length;
    }
    assert.ok(found > 200 && outside > 5, `${found} ${outside}`);
  });

test('sources without a position and values of another type are counted, not passed over in silence', () =>
  withApp(
    world => storeObjects(world, OBJECTS),
    async app => {
      const reach = 0.4;
      const [centre] = CENTRES as [SkyPosition];
      const inCone = (position: SkyPosition | null) =>
        position !== null && separation(centre, position) <= reach * 3600;
      const known = OBJECTS.filter(({ state }) => state !== 'pending').flatMap(object =>
        object.sources.map(source => ({ object, source })),
      );
      const of = (name: string) => known.filter(({ source }) => source.catalog === name);
      const without = of('gaia_dr3').filter(({ object, source }) => !source.position && inCone(object.position));
      assert.ok(without.length > 0);
      const text = async (path: string) => (await app.get(path)).text;
      const cone = query({ centre, radiusDeg: reach });
      assert.equal(infosOf(await text(`/vo/scs/gaia_dr3?${cone}`), 'sources_without_position'), [`${without.length}`]);
      const listed = of('gaia_dr3').filter(({ source }) => inCone(source.position)).length;
      const metrics = await text('/metrics');
      assert.match(metrics, `nearsky_sources_left_out_total ${without.length}\n`);
      assert.match(metrics, `nearsky_values_left_out_total ${listed}\n`, 'ruwe is a text in each of them');
      const elsewhere = await text(`/vo/scs/gaia_dr3?RA=10&DEC=10&SR=0.01`);
      assert.equal(infosOf(elsewhere, 'sources_without_position'), []);
      // The same in answers at full, where such a source is left out.
      const { object } = without[0]!;
      const atFull = object.sources.filter(({ position }) => !position).length;
      await app.get(`/api/objects/${object.id}?detail=full`);
      assert.match(await text('/metrics'), `nearsky_sources_left_out_total ${without.length + atFull}\n`);
    },
  ));

const HERE = query(CONES[3]!);

test('the columns: one main id that is text, one main position, the more the higher VERB is', async ({ running }) => {
  for (const [path, target] of [
    ['/vo/scs', 'objects'],
    ...NAMES.map(name => [`/vo/scs/${name}`, name] as const),
  ] as const) {
    let former: string[] = [];
    for (const verbosity of [1, 2, 3] as const) {
      const { text } = await running.app.get(`${path}?${HERE}&VERB=${verbosity}&MAXREC=1`);
      const fields = fieldsOf(text);
      const named = (ucd: string) =>
        fields.filter(each => each.ucd === ucd).map(({ datatype, unit }) => [datatype, unit]);
      assert.equal(named('ID_MAIN'), [['char', undefined]]);
      assert.equal(named('POS_EQ_RA_MAIN'), [['double', 'deg']]);
      assert.equal(named('POS_EQ_DEC_MAIN'), [['double', 'deg']]);
      assert.equal(named('meta.id;meta.main'), [['long', undefined]]);
      const names = fields.map(({ name }) => name);
      assert.is(new Set(names).size, names.length);
      assert.equal(
        names,
        coneTable(target, verbosity, PROJECT_CATALOGS).columns.map(({ name }) => name),
      );
      assert.ok(names.length > former.length && former.every(name => names.includes(name)), names.join());
      former = names;
    }
  }
  const [plain, second] = await Promise.all(['', '&VERB=2'].map(verb => running.app.get(`/vo/scs?${HERE}${verb}`)));
  assert.is(plain!.text, second!.text);
});

test('MAXREC lists the nearest and says that there are more; SR=0 and MAXREC=0 ask for the columns', async ({
  running,
}) => {
  const all = await rows(running, `/vo/scs?${HERE}`);
  const sources = await rows(running, `/vo/scs/gaia_dr3?${HERE}`);
  assert.ok(all.length > 100 && sources.length > 50);
  for (const [path, of] of [
    ['/vo/scs', all],
    ['/vo/scs/gaia_dr3', sources],
  ] as const) {
    for (const most of [1, 7, of.length - 1]) {
      const { text } = await running.app.get(`${path}?${HERE}&MAXREC=${most}`);
      assert.equal(rowsOf(text), of.slice(0, most));
      assert.equal(infosOf(text, 'QUERY_STATUS'), ['OK', 'OVERFLOW']);
      assert.ok(text.indexOf('value="OVERFLOW"') > text.indexOf('</TABLE>'));
    }
    for (const most of [of.length, 1e15]) assert.equal(await rows(running, `${path}?${HERE}&MAXREC=${most}`), of);
    const none = await running.app.get(`${path}?${HERE}&MAXREC=0`);
    assert.equal([rowsOf(none.text), infosOf(none.text, 'QUERY_STATUS')], [[], ['OK', 'OVERFLOW']]);
    // There is an object at exactly this position.
    const { ra, dec } = OBJECTS[0]!.position;
    assert.equal(await rows(running, `${path}?RA=${ra}&DEC=${dec}&SR=0`), []);
    assert.ok(fieldsOf(none.text).length > 5);
  }
});

test('the limit of the service holds whatever MAXREC is', () =>
  withApp(
    world => storeObjects(world, OBJECTS.slice(0, 400)),
    async app => {
      for (const asked of ['', '&MAXREC=1000', '&MAXREC=99999999999999999999']) {
        const { text } = await app.get(`/vo/scs?${HERE}${asked}`);
        assert.is(rowsOf(text).length, 13);
        assert.equal(infosOf(text, 'QUERY_STATUS'), ['OK', 'OVERFLOW']);
      }
    },
    { VO_MAX_RECORDS: '13' },
  ));

test('names in any case, in any order, with others between; values with blanks around', async ({ running }) => {
  const [wanted] = [await rows(running, `/vo/scs?${HERE}`)];
  const { ra, dec } = CONES[3]!.centre;
  assert.equal(
    await rows(running, `/vo/scs?foo=1&sR=${CONES[3]!.radiusDeg}&Dec=%20${dec}+&ra=${ra}&verb=&TIME=1/2`),
    wanted,
  );
});

test('formats: a media type comes back as it was asked for', async ({ running: { app } }) => {
  const types: readonly [string, string][] = [
    ['votable', 'application/x-votable+xml'],
    ['VOTable', 'application/x-votable+xml'],
    ['text/xml', 'text/xml'],
    ['application/x-votable+xml', 'application/x-votable+xml'],
    ['application/x-votable%2Bxml', 'application/x-votable+xml'],
    ['application/x-votable%2Bxml;serialization=TABLEDATA', 'application/x-votable+xml;serialization=TABLEDATA'],
    ['application/x-votable%2Bxml;%20serialization=binary2', 'application/x-votable+xml;serialization=BINARY2'],
    ['votable;serialization=BINARY2', 'application/x-votable+xml;serialization=BINARY2'],
  ];
  for (const [format, type] of types) {
    const { headers, text, status } = await app.get(`/vo/scs?${HERE}&RESPONSEFORMAT=${format}`);
    assert.equal([status, headers.get('Content-Type')], [200, type], format);
    assert.is(text.includes('<BINARY2>'), /binary2/i.test(format));
  }
});

test('an error is a document that names the parameter, and never an empty table', async ({ running: { app } }) => {
  const wrong: readonly [string, RegExp][] = [
    ['', /RA/],
    ['RA=1&SR=1', /DEC/],
    ['RA=1&DEC=1', /SR/],
    ['RA=&DEC=1&SR=1', /RA/],
    ['RA=361&DEC=1&SR=0.1', /RA.* at most 360 .*361/],
    ['RA=-1&DEC=1&SR=0.1', /RA/],
    ['RA=1&DEC=91&SR=0.1', /DEC/],
    ['RA=1&DEC=1&SR=-0.1', /SR/],
    ['RA=1&DEC=1&SR=0.51', /SR.* at most 0\.5 .*0\.51/],
    ['RA=as3f&DEC=1&SR=0.1', /RA.*as3f/],
    ['RA=NaN&DEC=1&SR=0.1', /RA/],
    ['RA=1&DEC=1&SR=0.1&VERB=4', /VERB/],
    ['RA=1&DEC=1&SR=0.1&MAXREC=-1', /MAXREC/],
    ['RA=1&DEC=1&SR=0.1&MAXREC=1.5', /MAXREC/],
    ['RA=1&DEC=1&SR=0.1&RESPONSEFORMAT=csv', /RESPONSEFORMAT.*csv/],
    ['RA=1&DEC=1&SR=0.1&RESPONSEFORMAT=votable;serialization=fits', /RESPONSEFORMAT/],
    ['RA=%3Cb%3E%22%26&DEC=1&SR=0.1', /<b>"&/],
  ];
  for (const path of ['/vo/scs', '/vo/scs/des_y6_gold'])
    for (const [search, message] of wrong) checkError(await app.get(`${path}?${search}`), 200, message);
  checkError(await app.get('/vo/scs/nope?RA=1&DEC=1&SR=0.1'), 404, /nope/);
});

function checkError({ status, headers, text }: Answer, expected: number, message: RegExp): void {
  assert.equal([status, headers.get('Content-Type')], [expected, 'application/x-votable+xml'], text);
  assert.is(infosOf(text, 'Error').length, 1, text);
  assert.match(infosOf(text, 'Error')[0]!, message);
  assert.equal(infosOf(text, 'QUERY_STATUS'), ['ERROR']);
  assert.not.match(text, /<TABLE/);
}

test('what takes too long is an error, too', () =>
  withApp(
    world => storeObjects(world, OBJECTS),
    async app => {
      for (const path of ['/vo/scs', '/vo/scs/gaia_dr3']) {
        const answer = await app.get(`${path}?${HERE}&VERB=3`);
        checkError(answer, answer.status === 503 ? 503 : 200, /time budget|had to wait/);
      }
    },
    { API_REQUEST_BUDGET_SECONDS: '0.001' },
  ));

test('what cannot be looked at is an error with its own status', () =>
  withApp(
    async world => {
      await storeObjects(world, OBJECTS.slice(0, 200));
      const { objects, pending } = world.store.databases;
      objects.transactionSync(() => {
        for (const table of [objects, pending]) for (const key of [...table.getKeys({})]) table.remove(key);
      });
    },
    async app => {
      for (const path of ['/vo/scs', '/vo/scs/gaia_dr3']) {
        const answer = await app.get(`${path}?${HERE}`);
        checkError(answer, 503, /index/);
        assert.match(answer.headers.get('Retry-After')!, /^\d+$/);
      }
    },
  ));

test.run();
