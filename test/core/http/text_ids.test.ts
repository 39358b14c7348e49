/** A catalog whose ids are texts, in answers: each id is there with all its characters. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OBJECTS } from '../../capabilities/crossmatch/text_ids.ts';
import type { Json } from './support.ts';
import { cellsOf, IDS, NAMED, withNames } from './text_ids.ts';

const test = suite('http/text ids');

const inputsOf = (ids: readonly bigint[]) =>
  JSON.stringify({ inputs: ids.map(id => ({ kind: 'id', diaObjectId: `${id}` })), detail: 'full' });
const post = (body: string, type = 'application/json') => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});

test('answers in JSON [Catalogs]', () =>
  withNames(async ({ ids, fetch }) => {
    const looked: Json = await (await fetch('/api/lookup', post(inputsOf(ids)))).json();
    const matches = looked.results.map(({ objects }: Json) => objects[0].matches.map((m: Json) => m.catalog_source_id));
    assert.equal(
      matches,
      OBJECTS.map(({ source }) => (source ? [source.id] : [])),
    );
    const described: Json = await (await fetch('/api/describe')).json();
    assert.match(described.catalogs.at(-1).catalog_source_id.description, /^The name of quasars, a text; unique/);
  }));

test('tables of objects in each format', () =>
  withNames(async ({ ids, fetch }) => {
    const named = NAMED.map(({ at }) => ids[at]!);
    for (const format of ['csv', 'ndjson', 'votable', 'parquet', 'arrow']) {
      const response = await fetch(`/api/lookup?format=${format}`, post(inputsOf(named)));
      assert.equal(await cellsOf(response, 'quasars_source_id'), IDS, format);
    }
  }));

test.run();
