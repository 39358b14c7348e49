/** nearsky in a TOM: its data service and the tab of a target, as a user of the TOM sees them. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePorts } from '../capabilities/consume/kafka_server.ts';
import { root, startServer, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('clients/tom');
const MODULES = 'tom_dataservices, tom_targets';
const whyNot =
  whyNoPython(MODULES) && 'there is no Python with a TOM: pip install tomtoolkit, and name it in TEST_PYTHON';
const ID = '313637935709683761';
const FOUND = `${ID} 61.62227592104076 -49.29512529953388 coincident_sources`;

needs(test, whyNot)('its targets show the catalog sources, what was not searched, and when nobody could look', () =>
  withDirectory(async directory => {
    const demo = await startServer(['demo', '--port', '0']);
    const [closed] = await freePorts(1);
    const args = [join(root, 'test/clients/tom.py'), demo.url, `http://127.0.0.1:${closed}`, directory];
    const variables = { PYTHONPATH: join(root, 'clients/python') };
    const seen = JSON.parse(await runPython(pythonWith(MODULES)!, args, { variables }));
    assert.equal(seen.aliases, [ID, 'SN 2099aaa']);
    assert.equal(seen['by name'], ['', FOUND]);
    assert.equal(seen['by position'], ['', FOUND]);
    assert.match(seen.unknown.join(), /registry of transients does not have this name/);
    assert.is(seen['nothing asked'], 1);
    assert.equal(seen.target, [61.62227592104076, -49.29512529953388, ['SN 2099aaa']]);
    assert.match(
      seen.tab,
      /^Catalog sources 4 sources within 2 arcsec of the target, from gaia_dr3, des_y6_gold, delve/,
    );
    assert.match(seen.tab, /gaia_dr3 9000000000001000001 0\.12 20\.33 G star classprob_dsc_combmod_star 1/);
    assert.match(seen.tab, new RegExp(`Rubin objects there: ${ID}`));
    assert.match(seen.elsewhere, /^Catalog sources 0 sources within 2 arcsec of the target, from no catalog\./);
    assert.match(seen.elsewhere, /gaia_dr3 was not searched here: outside_footprint/);
    for (const text of seen.away) assert.match(text, /Cannot get an answer from/);
    assert.match(seen.away[0], /no evidence of an empty position/);
    assert.is((await demo.stop()).code, 0);
  }),
);

test.run();
