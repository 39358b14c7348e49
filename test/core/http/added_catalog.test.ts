/**
 * An added catalog with a description appears everywhere where the project's own catalogs do, also in a running
 * service.
 */

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { CATALOGS, Catalogs } from '../../../src/core/contract/catalogs.ts';
import { openApiDocument } from '../../../src/core/documents/openapi/document.ts';
import { Connection } from '../../capabilities/connector/support.ts';
import { LOOKUP } from '../../capabilities/connector/world.ts';
import { API } from '../../capabilities.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import { rowsOf } from '../tables/read_votable.ts';
import {
  configOf,
  crossmatched,
  delivery,
  eventually,
  type Json,
  match,
  NOW_US,
  PROVENANCE,
  searched,
  type TestApp,
  type World,
  withApp,
} from './support.ts';

const test = suite('http/added catalog');

const ID = 313637935709683761n;
const NAMES = CATALOGS.map(({ name }) => name);
const PAYLOAD = { ra: 150, dec: 2, vmag: 17.25, period: null, kind: 'RR, "Lyr"', isold: true, source_id: 9n };

/** Registers a small catalog of variable stars; its source 7 lies at the object. */
async function addCatalog({ directory, writer }: World, name: string): Promise<void> {
  const location = join(directory, `${name}-hats`);
  writeHats(location, {
    name,
    columns: [
      { name: 'ID', type: 'INT64', data: [7n, 8n] },
      { name: 'ra', type: 'DOUBLE', data: [150, 151] },
      { name: 'dec', type: 'DOUBLE', data: [2, 3] },
      { name: 'Vmag', type: 'FLOAT', data: [17.25, 18] },
      { name: 'Period', type: 'DOUBLE', data: [null, 0.5] },
      { name: 'Kind', type: 'STRING', data: ['RR, "Lyr"', 'M'] },
      { name: 'isOld', type: 'BOOLEAN', data: [true, false] },
      { name: 'source_id', type: 'INT64', data: [9n, 10n] },
    ],
    ra: 'ra',
    dec: 'dec',
  });
  const description = {
    release: 'Variable <stars>',
    colour: { light: '#123456', dark: '#abcdef' },
    chatKeys: ['vmag', 'kind'],
    reference: { home: 'https://stars.example', paper: 'Star & Star 2026', paperUrl: 'https://stars.example/p' },
  };
  await writer.putCatalog(
    await registerCatalog({ name, idColumn: 'ID', description }, location, { addedAtUs: NOW_US }),
  );
}

async function fill(world: World): Promise<void> {
  await world.writer.ingest([delivery(ID, { position: { ra: 150, dec: 2 } })], NOW_US);
}

async function addAndCrossmatch(world: World): Promise<void> {
  await addCatalog(world, 'stars');
  await crossmatched(world, ID, searched('stars'), [match('stars', '7', { ra: 150, dec: 2, payload: PAYLOAD })]);
}

/** The JSON of an answer that the document of the service itself describes, which names the catalog. */
async function jsonOf(app: TestApp, path: string): Promise<Json> {
  const response = await app.app.fetch(new Request(`http://nearsky.test${path}`));
  assert.is(response.status, 200, path);
  return await response.json();
}

/** Waits until the running service knows the catalog. */
const known = (app: TestApp) =>
  eventually(
    'the catalog is known',
    async () => (await jsonOf(app, '/api/describe')).catalogs.some(({ name }: Json) => name === 'stars') || undefined,
  );

test('a service that runs learns of it: description, document, filters, outcomes, provenance', () =>
  withApp(fill, async (app, world) => {
    const before = await jsonOf(app, '/openapi.json');
    assert.equal(before, JSON.parse(JSON.stringify(openApiDocument(API, configOf('.')))));
    await addAndCrossmatch(world);
    await known(app);
    const described = (await jsonOf(app, '/api/describe')).catalogs;
    assert.equal(
      described.map(({ name }: Json) => name),
      [...NAMES, 'stars'],
    );
    assert.match(described.at(-1).catalog_source_id.description, /^The ID of Variable <stars>, a 64-bit integer/);
    const document = await jsonOf(app, '/openapi.json');
    const parameters = document.paths['/api/cone'].get.parameters.map(({ name }: Json) => name);
    for (const name of ['stars.vmag_min', 'stars.period_max', 'stars.source_id_min'])
      assert.ok(parameters.includes(name), name);
    assert.ok(document.components.schemas.Filters.properties.catalog.enum.includes('stars'));

    const path = `/api/objects/${ID}?detail=full`;
    const { provenance, results } = await jsonOf(app, path);
    assert.equal(provenance.catalogs.at(-1), { name: 'stars', release: 'Variable <stars>' });
    const [object] = results[0].objects;
    assert.equal(Object.keys(object.crossmatch.catalog_outcomes), [...NAMES, 'stars']);
    assert.is(object.crossmatch.catalog_outcomes.stars, 'searched');
    assert.equal(object.matches[0].catalog_payload, { ...PAYLOAD, source_id: 9 });
    for (const [filter, qualifies] of [
      ['stars.vmag_max=17.25', true],
      ['stars.vmag_max=17.24', false],
      ['stars.period_min=-1e9', false],
      ['catalog=stars', true],
      ['catalog=gaia_dr3', false],
    ] as const)
      assert.is((await jsonOf(app, `${path}&${filter}`)).results[0].objects[0].qualifies, qualifies, filter);
    assert.is((await app.get(`${path}&stars.kind_min=1`)).body.code, 'invalid_parameter');
    assert.is((await app.get(`${path}&stars.vmag_max=1&gaia_dr3.ruwe_max=1`)).body.code, 'filters_span_catalogs');
  }));

test('tables, the Virtual Observatory, sources, the map, pages and the connector', () =>
  withApp(
    async world => {
      await fill(world);
      await addAndCrossmatch(world);
    },
    async (app, world) => {
      await known(app);
      const csv = (await app.get(`/api/objects/${ID}?detail=full&format=csv`)).text;
      const [header, row] = csv.trim().split(/\r?\n/) as [string, string];
      assert.match(header, /,stars_outcome,.*,stars_matches,stars_source_id,stars_separation_arcsec,stars_release,/);
      assert.match(header, /,stars_ra,stars_dec,stars_vmag,stars_period,stars_kind,stars_isold,stars_source_id_2,/);
      assert.match(row, /,17\.25,,"RR, ""Lyr""",true,9,/);
      const parquet = await app.app.fetch(
        new Request(`http://nearsky.test/api/objects/${ID}?detail=full&format=parquet`),
      );
      assert.is(parquet.status, 200);

      const votable = (await app.get('/vo/scs/stars?RA=150&DEC=2&SR=0.001&VERB=3')).text;
      assert.match(votable, /name="id_2" [^>]*datatype="long"/);
      assert.match(votable, /<TD>7\/313637935709683761<\/TD><TD>7<\/TD>/);
      assert.match((await app.get('/vo/scs?RA=150&DEC=2&SR=0.001&VERB=3')).text, /name="stars_outcome"/);
      assert.match((await app.get('/vo/capabilities')).text, /Sources of Variable &lt;stars&gt;/);
      assert.is((await app.get('/vo/moc/stars.json')).status, 200);
      assert.is((await app.get('/vo/scs/planets?RA=150&DEC=2&SR=0.001')).status, 404);

      const near = await jsonOf(app, '/api/sources?ra=150&dec=2&radius_arcsec=1&catalog=stars');
      assert.equal(
        near.sources.map(({ catalog_source_id, catalog_payload }: Json) => [catalog_source_id, catalog_payload.kind]),
        [['7', 'RR, "Lyr"']],
      );
      assert.equal(near.catalogs[0].columns[2], { name: 'vmag', unit: null, ucd: '', description: 'Column Vmag' });

      // A busy machine may need longer than one request has.
      const map: Json = await eventually('the map is there', async () => {
        const request = new Request('http://nearsky.test/api/sky-map?layer=coverage&resolution=1');
        const answer = await app.app.fetch(request);
        const body = await answer.json();
        return answer.status === 200 ? body : undefined;
      });
      assert.equal(Object.keys(map.by_catalog), ['stars']);
      assert.equal(map.provenance.catalogs.at(-1).name, 'stars');

      const page = (await app.get('/catalogs')).text;
      assert.match(page, /<h2 id="stars">.*Variable &lt;stars&gt;/);
      assert.match(page, /Star &amp; Star 2026/);
      const style = /href="(\/assets\/\w+\/style\.css)"/.exec(page)![1]!;
      assert.match((await app.get(style)).text, /\.stars \{\s*--catalog: light-dark\(#123456, #abcdef\)/);
      assert.match((await app.get('/recent')).text, /<option value="stars">/);
      assert.match((await app.get('/llms.txt')).text, /`stars` \(Variable <stars>\)/);
      assert.match((await app.get('/metrics')).text, /crossmatch_catalog_skips_total\{catalog="stars"\} 0/);

      const { answer } = await new Connection(app).call(LOOKUP, { identifiers: [`${ID}`] });
      const [summary] = answer.results[0].objects[0].coincident_sources;
      assert.equal([summary.catalog, summary.nearest[0].values], ['stars', { vmag: 17.25, kind: 'RR, "Lyr"' }]);
      assert.is(new Catalogs(world.store.catalogs()).all.length, NAMES.length + 1);
    },
  ));

test('where the next release has integer ids, its matches replace older ones with other ids', () =>
  withApp(
    async world => {
      await fill(world);
      await addCatalog(world, 'stars');
      const of = (release: string) => ({ ...PROVENANCE, catalogs: [{ name: 'stars', release }] });
      const older = [match('stars', 'é 7', { ra: 150, dec: 2, payload: PAYLOAD })];
      await crossmatched(world, ID, searched('stars'), older, of('Older'));
      const matches = [match('stars', '7', { ra: 150, dec: 2, payload: PAYLOAD })];
      const result = { diaObjectId: ID, catalogOutcomes: searched('stars'), matches };
      await world.writer.recordCrossmatches([result], of('Variable <stars>'), NOW_US, true);
    },
    async app => {
      await known(app);
      const { results } = await jsonOf(app, `/api/objects/${ID}?detail=full`);
      assert.equal(
        results[0].objects[0].matches.map((each: Json) => [each.catalog_source_id, each.catalog_release]),
        [['7', 'Variable <stars>']],
      );
      const rows = rowsOf((await app.get('/vo/scs/stars?RA=150&DEC=2&SR=0.001&VERB=3')).text);
      assert.equal(
        rows.map(row => [row.id, row.id_2, row.catalog_release]),
        [[`7/${ID}`, '7', 'Variable <stars>']],
      );
    },
  ));

test.run();
