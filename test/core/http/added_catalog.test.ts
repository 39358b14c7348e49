/**
 * An added catalog with a description appears everywhere where the project's own catalogs do, also in a running
 * service.
 */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { CATALOGS, Catalogs } from '../../../src/core/contract/catalogs.ts';
import { readCatalogs } from '../../../src/core/store/catalog_registration.ts';
import { Connection } from '../../capabilities/connector/support.ts';
import { LOOKUP } from '../../capabilities/connector/world.ts';
import { API } from '../../capabilities.ts';
import { addAndCrossmatch, fill, ID, jsonOf, known, PAYLOAD, replaceMatches, withStars } from './added_catalog.ts';
import { configOf, type Json, withApp } from './support.ts';

const test = suite('http/added catalog');

const NAMES = CATALOGS.map(({ name }) => name);

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

test('tables, the list for language models, metrics and the connector', () =>
  withStars(async (app, world) => {
    const csv = (await app.get(`/api/objects/${ID}?detail=full&format=csv`)).text;
    const [header, row] = csv.trim().split(/\r?\n/) as [string, string];
    assert.match(header, /,stars_outcome,.*,stars_matches,stars_source_id,stars_separation_arcsec,stars_release,/);
    assert.match(header, /,stars_ra,stars_dec,stars_vmag,stars_period,stars_kind,stars_isold,stars_source_id_2,/);
    assert.match(row, /,17\.25,,"RR, ""Lyr""",true,9,/);
    const parquet = await app.app.fetch(
      new Request(`http://nearsky.test/api/objects/${ID}?detail=full&format=parquet`),
    );
    assert.is(parquet.status, 200);

    assert.match((await app.get('/llms.txt')).text, /`stars` \(Variable <stars>\)/);
    assert.match((await app.get('/metrics')).text, /crossmatch_catalog_skips_total\{catalog="stars"\} 0/);

    const { answer } = await new Connection(app).call(LOOKUP, { identifiers: [`${ID}`] });
    const [summary] = answer.results[0].objects[0].coincident_sources;
    assert.equal([summary.catalog, summary.nearest[0].values], ['stars', { vmag: 17.25, kind: 'RR, "Lyr"' }]);
    assert.is(new Catalogs(readCatalogs(world.store.databases)).all.length, NAMES.length + 1);
  }));

test('where the next release has integer ids, its matches replace older ones with other ids', () =>
  withApp(replaceMatches, async app => {
    await known(app);
    const { results } = await jsonOf(app, `/api/objects/${ID}?detail=full`);
    assert.equal(
      results[0].objects[0].matches.map((each: Json) => [each.catalog_source_id, each.catalog_release]),
      [['7', 'Variable <stars>']],
    );
  }));

test.run();
