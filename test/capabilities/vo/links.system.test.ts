/** How programs of astronomers follow the links of objects from a row of a VOTable. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CENTRES, storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { eventually, type Running, startApp } from '../../core/http/support.ts';
import { withServer } from '../../core/server/support.ts';
import { hasStilts, python, runBeside, votlint } from '../../core/tables/clients.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite<{ running: Running }>('vo/links of programs');
const OBJECTS = trueObjects(50);
const [FIRST, SECOND] = OBJECTS as [(typeof OBJECTS)[0], (typeof OBJECTS)[0]];
const [CENTRE] = CENTRES as [(typeof CENTRES)[number]];
const CONE = `RA=${CENTRE.ra}&DEC=${CENTRE.dec}&SR=0.2`;
const FIRST_QUERY = 'SELECT TOP 1 ra FROM objects';
/** Cone searches must have UCD1 in three columns. */
const UCD1 = /\b(ID|POS_EQ_RA|POS_EQ_DEC)_MAIN\b/;
const noEngine = duckdbObstacle();

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, OBJECTS));
});

test.after(({ running }) => running.close());

/** Runs with the address of the service over HTTP. */
function served({ app }: Running, body: (base: string) => Promise<void>): Promise<void> {
  return withServer(
    (request, peer) => app.app.answer(request, peer),
    ({ port }) => body(`http://127.0.0.1:${port}`),
  );
}

needs(test, hasStilts ? undefined : 'there is no stilts here (Debian package stilts)')(
  'datalinklint finds no fault with links, and votlint none with a reference to them',
  ({ running }) =>
    served(running, async base => {
      const document = `${base}/vo/links?ID=${FIRST.id}&ID=${SECOND.id}&ID=1&ID=x`;
      const { out, errors } = await runBeside('stilts', ['datalinklint', `votable=${document}`]);
      assert.match(`${out}${errors}`, /^Totals: Errors: 0; Warnings: 0;/m, `${out}${errors}`);
      assert.equal(
        votlint((await running.app.get(`/vo/scs/gaia_dr3?${CONE}`)).text).filter(line => !UCD1.test(line)),
        [],
      );
    }),
);

/** Follows the links of a row of a cone search, whose results have no method for that, and of the rows of a query. */
const FOLLOW = `
import json, sys
from urllib.request import urlopen
import pyvo
from pyvo.dal.adhoc import DatalinkQuery
base, ra, dec = sys.argv[1], *map(float, sys.argv[2:])
cone = pyvo.dal.SCSService(base + "/vo/scs").search(pos=(ra, dec), radius=0.2)
service = next(each for each in cone.votable.resources if each.type == "meta" and each.utype == "adhoc:service")
rows = pyvo.dal.TAPService(base + "/vo/tap").run_sync("SELECT TOP 3 ra, diaObjectId AS oid FROM objects ORDER BY oid")
describe = lambda links: [[each.semantics, each.content_type] for each in links]
this = next(each for each in rows[0].getdatalink() if each.semantics == "#this")
data = json.load(urlopen(this.access_url))
print(json.dumps([describe(DatalinkQuery.from_resource(cone[0], service).execute()), describe(rows[0].getdatalink()),
                  int(rows[0]["oid"]) == data["results"][0]["objects"][0]["diaObjectId"],
                  len([row.getdatalink() for row in rows])]))
`;

needs(test, python ? noEngine : 'there is no Python with pyvo here (Debian package python3-pyvo)')(
  'pyvo follows the links of a row, and reads the object',
  ({ running }) =>
    served(running, async base => {
      await eventually('queries are answered', async () => {
        const { status } = await running.app.get(
          `/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', QUERY: FIRST_QUERY })}`,
        );
        return status === 200 || undefined;
      });
      const { out, errors, status } = await runBeside(python!, ['-c', FOLLOW, base, `${CENTRE.ra}`, `${CENTRE.dec}`]);
      assert.is(status, 0, errors);
      const links = [
        ['#this', 'application/json'],
        ['#auxiliary', 'text/html'],
      ];
      assert.equal(JSON.parse(out), [links, links, true, 3]);
    }),
);

test.run();
