/**
 * Prints, as one line of JSON, where the program shows a catalog and a broker. one_file.test.ts runs it in a copy of
 * the program to which both were added.
 */
import { settingsPage } from '../../../../docs/settings.ts';
import { feedOf } from '../../../../src/capabilities/consume/feeds.ts';
import { normaliserOf } from '../../../../src/capabilities/ingest/brokers.ts';
import { highlights } from '../../../../src/capabilities/pages/browser/payload.js';
import { catalogData } from '../../../../src/capabilities/pages/page_data.ts';
import type { BrokerName } from '../../../../src/core/contract/brokers.ts';
import { catalogDefinition } from '../../../../src/core/contract/catalogs.ts';
import { registrationOf } from '../../../core/catalogs/registration.ts';
import { configOf, crossmatched, delivery, match, NOW_US, searched, startApp } from '../../../core/http/support.ts';
import { Connection } from '../../connector/support.ts';
import { LOOKUP } from '../../connector/world.ts';

const [catalog, broker] = process.argv.slice(2) as [string, BrokerName];
const ID = 313637935709683761n;
const PAYLOAD = { mag_vis: 21.25, magerr_vis: 0.02, point_like: 0.95 };

const message = { 'i:diaObjectId': 7, 'i:ra': 10, 'i:dec': -5, 'i:reliability': 0.9, 'i:midpointMjdTai': 61000 };
const normalised = normaliserOf(broker, 0.6)(JSON.stringify(message), NOW_US);

const running = await startApp(async world => {
  await world.writer.commit({ kind: 'register_catalog', registration: registrationOf(catalogDefinition(catalog)!) });
  await world.writer.ingest([delivery(ID, { broker })], NOW_US);
  const payload = { ra: 150, dec: 2, payload: PAYLOAD };
  await crossmatched(world, ID, searched(catalog), [match(catalog, '42', payload)]);
});
const { app } = running;
const document = (await app.get('/openapi.json')).body;
const filters = `${catalog}.point_like_min`;
const { results } = await app.lookup([{ kind: 'id', diaObjectId: `${ID}` }], {
  detail: 'full',
  filters: { [filters]: 0.9 },
});
const below = await app.lookup([{ kind: 'id', diaObjectId: `${ID}` }], { filters: { [filters]: 0.99 } });
const stylesheet = /href="(\/assets\/\w+\/style\.css)"/.exec((await app.get('/catalogs')).text)![1]!;
const settings = settingsPage().matchAll(/`([A-Z_]+)`/g);
const feed = feedOf(
  broker,
  configOf('.', { [`${broker.toUpperCase()}_TOPICS`]: 'a', [`${broker.toUpperCase()}_GROUP_ID`]: 'b' }),
  {},
  () => {},
);

const found = {
  normalised: normalised.kind === 'delivery' ? { ...normalised.delivery, diaObjectId: 'read' } : normalised,
  parameters: document.paths['/api/cone'].get.parameters.map(({ name }: { name: string }) => name),
  describedCatalogs: (await app.get('/api/describe')).body.catalogs,
  cuts: (await app.get('/api/describe')).body.reliability_cuts,
  match: results[0].objects[0].matches[0],
  brokers: results[0].objects[0].brokers,
  qualifies: [results[0].objects[0].qualifies, below.results[0].objects[0].qualifies],
  votable: (await app.get(`/vo/scs/${catalog}?RA=150&DEC=2&SR=0.001&VERB=3`)).text,
  csv: (await app.get(`/api/objects/${ID}?detail=full&format=csv`)).text,
  catalogsPage: (await app.get('/catalogs')).text,
  brokersPage: (await app.get('/brokers')).text,
  style: (await app.get(stylesheet)).text,
  llms: (await app.get('/llms.txt')).text,
  lines: highlights(
    catalogData().find(({ name }) => name === catalog),
    PAYLOAD,
  ),
  connector: (await new Connection(app).call(LOOKUP, { identifiers: [`${ID}`] })).answer.results[0].objects[0],
  settings: [...settings].map(([, name]) => name),
  isFed: typeof feed.connect === 'function',
};
await running.close();
process.stdout.write(`${JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}\n`);
