/**
 * The OpenAPI document and the tables are made from the fields in src/core/contract/object_fields.ts. The JSON writer is
 * written by hand, for speed. It must agree with the fields in names, level of detail, type and unit, and with the
 * document in the order.
 */

import type { Column } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectTable } from '../../../src/capabilities/tables/object_table.ts';
import { CATALOGS, PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { DETAIL_LEVELS, type DetailLevel } from '../../../src/core/contract/enums.ts';
import {
  crossmatched,
  delivery,
  type Json,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
} from '../http/support.ts';

interface Seen {
  running: Running;
  readonly schemas: Json;
  /** An object with everything, at each level, found by position under a filter. */
  readonly objects: Readonly<Record<DetailLevel, Json>>;
}
const test = suite<Seen>('answers/object fields');

const LEVELS = DETAIL_LEVELS.map(({ name }) => name);
const names = CATALOGS.map(({ name }) => name);

test.before(async context => {
  const running = await startApp(async world => {
    await loadRegistry(world, NOW_US, [{ name: '2026abc', ra: 150, dec: 2 }]);
    await world.writer.ingest([delivery(7n)], NOW_US);
    const matches = names.map((name, i) => match(name, `${i}`));
    await crossmatched(world, 7n, searched(...names), matches);
  });
  context.running = running;
  const { app } = running;
  const objects: Record<string, Json> = {};
  for (const detail of LEVELS) {
    const found = await app.lookup([{ kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 }], {
      detail,
      filters: { reliability_min: 0 },
    });
    objects[detail] = found.results[0].objects[0];
  }
  Object.assign(context, { objects, schemas: (await app.get('/openapi.json')).body.components.schemas });
});

test.after(({ running }) => running.close());

/** The properties of a schema that are among the keys. */
const documented = (schema: Json, keys: readonly string[]) =>
  Object.keys(schema.properties).filter(name => keys.includes(name));

test('JSON has the documented keys in the documented order, and levels are cumulative [Objects; What a match is worth]', ({
  objects,
  schemas,
}) => {
  let before: string[] = [];
  for (const level of LEVELS) {
    const keys = Object.keys(objects[level]);
    assert.equal(keys, documented(schemas.LookupObject, keys), level);
    assert.equal(
      before.filter(key => !keys.includes(key)),
      [],
    );
    before = keys;
  }
  assert.equal(before, Object.keys(schemas.LookupObject.properties));
  const { crossmatch } = objects.full;
  assert.equal(Object.keys(crossmatch), documented(schemas.Crossmatch, Object.keys(crossmatch)));
  const published = Object.keys(objects.full.matches[0]).filter(key => key !== 'provenance_set');
  assert.equal(published, documented(schemas.PublishedMatch, published));
});

/** Keys of JSON that tables have in another form: as a string beside the integer, or spread over several columns. */
const SPREAD = ['diaObjectId_str', 'crossmatch', 'matches', 'tns'];

const TYPES: Readonly<Record<string, (schema: Json) => boolean>> = {
  int64: ({ $ref, type }) => `${$ref}`.endsWith('/DiaObjectId') || type?.includes('integer'),
  int32: ({ type }) => type.includes('integer'),
  float64: ({ type }) => type.includes('number'),
  time: ({ format }) => format === 'date-time',
  boolean: ({ type }) => type.includes('boolean'),
  text: ({ $ref, type, enum: values }) => $ref !== undefined || values !== undefined || /string|array/.test(`${type}`),
};

/** The `x-unit` of a schema, as VOUnits spell it. */
const unitOf = ({ 'x-unit': unit }: Json): string => (unit === 'degrees' || unit === 'degree' ? 'deg' : unit);

function assertLike(column: Column, schema: Json): void {
  assert.ok(TYPES[column.type]!(schema), `${column.name}: ${column.type}, ${JSON.stringify(schema)}`);
  if (column.unit !== undefined) assert.is(column.unit, unitOf(schema), column.name);
}

for (const level of LEVELS) {
  test(`the table at ${level} has every field of the JSON, with its type and unit, and no other`, context => {
    const { schemas } = context;
    const object = context.objects[level];
    const { columns } = new ObjectTable(
      { of: 'cone', detail: level, hasFilters: true, catalogs: PROJECT_CATALOGS },
      () => {},
    );
    const columnOf = (name: string) => columns.find(column => column.name === name);
    for (const key of Object.keys(object).filter(each => !SPREAD.includes(each))) {
      const column = columnOf(key);
      assert.ok(column, `${key} has no column at ${level}`);
      assertLike(column!, schemas.LookupObject.properties[key]);
    }
    const nested: Record<string, readonly [schema: Json, key: string]> = {};
    for (const [key, schema] of Object.entries(schemas.Crossmatch.properties)) nested[key] = [schema, 'crossmatch'];
    for (const [key, schema] of Object.entries(schemas.ObjectTns.properties)) nested[`tns_${key}`] = [schema, 'tns'];
    for (const column of columns) {
      const { name } = column;
      if (name in object) continue;
      const found = nested[name];
      if (found) {
        assert.ok(found[1] in object, `${name} is not in the JSON at ${level}`);
        assertLike(column, found[0]);
      } else {
        // Each of the other columns belongs to one catalog.
        assert.ok(name === 'match_count' || names.some(catalog => name.startsWith(`${catalog}_`)), name);
      }
    }
  });
}

test.run();
