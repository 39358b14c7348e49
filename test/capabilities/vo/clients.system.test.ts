/**
 * The services as seen by the programs that astronomers use: STILTS (TOPCAT's library) and its validators, pyvo,
 * astropy.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coneTable, coneTargets } from '../../../src/capabilities/vo/cone_tables.ts';
import { conePath } from '../../../src/capabilities/vo/vosi.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { registrationOf } from '../../core/catalogs/registration.ts';
import { CENTRES, storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { type Running, startApp } from '../../core/http/support.ts';
import { withServer } from '../../core/server/support.ts';
import { hasStilts, python, runBeside, votlint, withFolder } from '../../core/tables/clients.ts';
import { infosOf, rowsOf } from '../../core/tables/read_votable.ts';
import { needs } from '../../needs.ts';

const test = suite<{ running: Running }>('vo/clients');
const OBJECTS = trueObjects(600);
const [CENTRE] = CENTRES as [(typeof CENTRES)[number]];
const RADIUS_DEG = 0.2;
const CONE = `RA=${CENTRE.ra}&DEC=${CENTRE.dec}&SR=${RADIUS_DEG}`;

test.before(async context => {
  context.running = await startApp(async world => {
    await storeObjects(world, OBJECTS);
    await world.writer.commit({
      kind: 'register_catalog',
      registration: registrationOf({ name: 'gaia_dr3' } as never, 96),
    });
  });
});

test.after(({ running }) => running.close());

/** Runs with the address of the service over HTTP. */
function served({ app }: Running, body: (base: string) => Promise<void>): Promise<void> {
  return withServer(
    (request, peer) => app.app.answer(request, peer),
    ({ port }) => body(`http://127.0.0.1:${port}`),
  );
}

/** The rows of a CSV without quotes, by the names of its header. */
function csvRows(text: string): Record<string, string>[] {
  const [header, ...lines] = text
    .trim()
    .split('\n')
    .map(line => line.split(','));
  return lines.map(cells => Object.fromEntries(header!.map((name, i) => [name, cells[i]!])));
}

const stilts = (...args: readonly string[]) => runBeside('stilts', args);

/** The ids that a search of ours lists, of the service asked directly. */
async function idsOf({ app }: Running, path: string, column = 'diaObjectId'): Promise<string[]> {
  return rowsOf((await app.get(path)).text).map(row => row[column]!);
}

const stiltsTests: readonly [name: string, body: (running: Running) => Promise<void>][] = [
  [
    'stilts cone reads the objects with their ids, and shows the reason of an error',
    running =>
      served(running, async base => {
        const where = [`lon=${CENTRE.ra}`, `lat=${CENTRE.dec}`, `radius=${RADIUS_DEG}`];
        const { out, errors, status } = await stilts(
          'cone',
          `serviceurl=${base}/vo/scs`,
          ...where,
          'verb=3',
          'ofmt=csv',
        );
        assert.equal([status, errors], [0, '']);
        const rows = csvRows(out);
        const wanted = await idsOf(running, `/vo/scs?${CONE}`);
        assert.ok(wanted.length > 20);
        assert.equal(
          rows.map(row => row.diaObjectId),
          wanted,
        );
        assert.equal(
          Object.keys(rows[0]!),
          coneTable('objects', 3, PROJECT_CATALOGS).columns.map(({ name }) => name),
        );
        const refused = await stilts('cone', `serviceurl=${base}/vo/scs`, 'lon=1', 'lat=1', 'radius=3');
        assert.is.not(refused.status, 0);
        assert.match(refused.errors, /SR.*at most 0\.5/);
      }),
  ],
  [
    'stilts coneskymatch joins a table of positions with the sources of a catalog',
    running =>
      served(running, async base => {
        await withFolder(async folder => {
          const table = join(folder, 'centres.csv');
          writeFileSync(table, `name,ra,dec\n${CENTRES.map(({ ra, dec }, i) => `c${i},${ra},${dec}`).join('\n')}\n`);
          const match = ['ra=ra', 'dec=dec', `sr=${RADIUS_DEG}`, 'find=all', 'ofmt=csv', 'fixcols=all', 'suffix1=_s'];
          const service = `serviceurl=${base}/vo/scs/gaia_dr3`;
          const { out, errors, status } = await stilts('coneskymatch', `in=${table}`, 'ifmt=csv', ...match, service);
          assert.is(status, 0, errors);
          const rows = csvRows(out);
          for (const [i, { ra, dec }] of CENTRES.entries()) {
            const wanted = await idsOf(running, `/vo/scs/gaia_dr3?RA=${ra}&DEC=${dec}&SR=${RADIUS_DEG}`, 'source_id');
            const got = rows.filter(row => Object.values(row).includes(`c${i}`)).map(row => row.source_id_s);
            assert.equal(got.toSorted(), wanted.toSorted());
            assert.ok(got.length > 3);
          }
        });
      }),
  ],
  [
    'votlint finds no fault with any answer, but for the UCD1 that cone searches must have',
    async ({ app }) => {
      const documents = [
        `/vo/scs?${CONE}&VERB=3&RESPONSEFORMAT=votable;serialization=BINARY2`,
        `/vo/scs/gaia_dr3?${CONE}&VERB=3`,
        `/vo/scs/des_y6_gold?${CONE}&VERB=3&MAXREC=3`,
        `/vo/scs/skymapper_dr4?${CONE}&VERB=3&MAXREC=0`,
        '/vo/scs?RA=%3C',
      ];
      for (const path of documents) {
        const lines = votlint((await app.get(path)).text);
        assert.equal(
          lines.filter(line => !/\b(ID|POS_EQ_RA|POS_EQ_DEC)_MAIN\b/.test(line)),
          [],
          path,
        );
      }
    },
  ],
  [
    'xsdvalidate finds no fault with what the services say of themselves',
    ({ app }) =>
      withFolder(async folder => {
        for (const [path, top] of [
          ['/vo/capabilities', '{http://www.ivoa.net/xml/VOSICapabilities/v1.0}capabilities'],
          ['/vo/availability', '{http://www.ivoa.net/xml/VOSIAvailability/v1.0}availability'],
          ['/vo/tables', '{http://www.ivoa.net/xml/VOSITables/v1.0}tableset'],
          ['/vo/tables/nearsky.gaia_dr3', '{http://www.ivoa.net/xml/VOSITables/v1.0}table'],
        ] as const) {
          const file = join(folder, 'document.xml');
          // STILTS has no schema of cone searches: what is theirs alone is left out.
          const text = (await app.get(path)).text.replace(
            / xsi:type="cs:ConeSearch"|<maxSR>[\s\S]*?<\/testQuery>/g,
            '',
          );
          writeFileSync(file, text);
          const { out, errors, status } = await stilts('xsdvalidate', `doc=${file}`, `topel=${top}`, 'uselocals=true');
          assert.is(status, 0, `${path}\n${out}${errors}`);
          assert.not.match(`${out}${errors}`, /ERROR|FATAL|WARNING/);
        }
      }),
  ],
  [
    'STILTS finds in the map of the objects where there is one',
    running =>
      served(running, async base => {
        await withFolder(async folder => {
          const table = join(folder, 'places.csv');
          const objects = OBJECTS.slice(0, 50).map(({ position }) => position);
          const away = objects.map(({ ra, dec }) => ({ ra, dec: dec > 0 ? dec - 30 : dec + 30 }));
          writeFileSync(table, `ra,dec\n${[...objects, ...away].map(({ ra, dec }) => `${ra},${dec}`).join('\n')}\n`);
          const column = `addcol covered 'inMoc("${base}/vo/moc/objects.fits", ra, dec)'`;
          const { out, errors, status } = await stilts('tpipe', `in=${table}`, 'ifmt=csv', `cmd=${column}`, 'ofmt=csv');
          assert.equal([status, errors], [0, '']);
          csvRows(out).forEach((row, i) => {
            assert.is(row.covered, `${i < objects.length}`, `${i}`);
          });
        });
      }),
  ],
];

for (const [name, body] of stiltsTests) {
  needs(test, hasStilts ? undefined : 'there is no stilts here (Debian package stilts)')(name, ({ running }) =>
    body(running),
  );
}

/** Writes one line of JSON: what it has found. */
const ASK = `
import json, sys, warnings
from urllib.request import urlopen
import pyvo
from astropy.io import fits
from astropy.io.votable import parse
from pyvo.io import vosi
base, ra, dec, radius = sys.argv[1], *map(float, sys.argv[2:])
found = {}
for name in ["", *("/" + each for each in ("gaia_dr3", "des_y6_gold", "delve_dr3_gold", "skymapper_dr4"))]:
    service = pyvo.dal.SCSService(base + "/vo/scs" + name)
    for verbosity in (1, 2, 3):
        result = service.search(pos=(ra, dec), radius=radius, verbosity=verbosity)
        first = result[0]
        assert first.id == str(first.id), first.id
        assert abs(first.pos.dec.deg - dec) < 1, first.pos
    table = result.to_table()
    found[name] = {"ids": [int(each) for each in table["diaObjectId"]], "kind": table["diaObjectId"].dtype.str,
                   "units": {each: str(table[each].unit) for each in ("ra", "separation_arcsec")}}
asked = lambda name: urlopen(base + "/vo/" + name).read
found["capabilities"] = [each.standardid for each in vosi.parse_capabilities(asked("capabilities"))]
found["available"] = vosi.parse_availability(asked("scs/availability")).available
found["tables"] = [[each.name, len(each.columns)] for each in vosi.parse_tables(asked("tables")).iter_tables()]
try:
    pyvo.dal.SCSService(base + "/vo/scs").search(pos=(ra, dec), radius=5)
except pyvo.dal.DALQueryError as error:
    found["error"] = str(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = pyvo.dal.SCSService(base + "/vo/scs").search(pos=(ra, dec), radius=radius, MAXREC=3)
found["limited"] = {"rows": len(result), "warnings": [str(each.message) for each in caught]}
with warnings.catch_warnings():
    warnings.simplefilter("error")
    # Simple Cone Search asks for UCD1 where VOTable asks for UCD1+.
    warnings.filterwarnings("ignore", message=".*Invalid UCD '(ID|POS_EQ_RA|POS_EQ_DEC)_MAIN'.*")
    document = parse(base + "/vo/scs?RA=%s&DEC=%s&SR=%s&RESPONSEFORMAT=votable;serialization=BINARY2" % (ra, dec, radius), verify="warn")
    found["binary2"] = [int(each) for each in document.get_first_table().array["diaObjectId"]]
    with fits.open(base + "/vo/moc/gaia_dr3.fits", cache=False) as moc:
        moc.verify("exception")
        found["moc"] = {"rows": len(moc[1].data), "order": moc[1].header["MOCORD_S"], "first": int(moc[1].data["UNIQ"][0])}
print(json.dumps(found))
`;

const ASKED = 'pyvo and astropy read every cone search with exact ids, an error as one, and a map as FITS';
needs(test, python ? undefined : 'there is no Python with them here (Debian packages python3-pyvo, python3-astropy)')(
  ASKED,
  ({ running }) =>
    served(running, async base => {
      const args = [base, `${CENTRE.ra}`, `${CENTRE.dec}`, `${RADIUS_DEG}`];
      const { out, errors, status } = await runBeside(python!, ['-c', ASK, ...args]);
      assert.is(status, 0, errors);
      const found = JSON.parse(out.replace(/\d{16,}/g, '"$&"'));
      for (const target of coneTargets(PROJECT_CATALOGS)) {
        const path = conePath(target);
        const { ids, kind, units } = found[path.replace('/vo/scs', '')];
        assert.equal(ids, await idsOf(running, `${path}?${CONE}`), target);
        assert.equal([kind, units], ['<i8', { ra: 'deg', separation_arcsec: 'arcsec' }]);
      }
      assert.is(found.capabilities.filter((id: string) => id === 'ivo://ivoa.net/std/ConeSearch').length, 5);
      assert.is(found.available, true);
      assert.equal(
        found.tables,
        coneTargets(PROJECT_CATALOGS).map(target => [
          `nearsky.${target}`,
          coneTable(target, 3, PROJECT_CATALOGS).columns.length,
        ]),
      );
      assert.match(found.error, /SR.*at most 0\.5/);
      assert.is(found.limited.rows, 3);
      assert.equal(found.binary2, await idsOf(running, `/vo/scs?${CONE}`));
      assert.equal(found.moc, { rows: 6, order: 2, first: 4 });
      const { text } = await running.app.get(`/vo/scs?${CONE}&MAXREC=3`);
      assert.equal(infosOf(text, 'QUERY_STATUS'), ['OK', 'OVERFLOW']);
    }),
);

test.run();
