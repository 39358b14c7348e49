/** Asks a service with the types that openapi-typescript has made, and prints what it got, as JSON. Arguments: URL DIAOBJECTID */
import createClient from 'openapi-fetch';
import type { paths } from './made.d.ts';

const [url, known] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl: url });

/** An answer can be counts, or a table as text, too: this is the one with the key. */
function having<T extends object, K extends string>(
  answer: T | string | undefined,
  key: K,
): Extract<T, Record<K, unknown>> {
  if (typeof answer !== 'object' || !(key in answer)) throw new Error(`an answer without ${key}`);
  return answer as Extract<T, Record<K, unknown>>;
}

const details: Record<string, string[]> = {};
for (const detail of ['ids', 'position', 'matches', 'full'] as const) {
  const params = { path: { diaObjectId: known }, query: { detail } };
  const { results } = having((await client.GET('/api/objects/{diaObjectId}', { params })).data, 'results');
  const [found] = results[0]!.objects;
  if (found!.diaObjectId_str !== known) throw new Error('another object');
  details[detail] = (found!.matches ?? []).map(match =>
    'catalog_payload' in match ? 'LookupPublishedMatch' : 'LookupMatchSummary',
  );
}

const cone = { query: { ra: 150, dec: 2, radius_arcsec: 5 } };
const page = having((await client.GET('/api/cone', { params: cone })).data, 'next_cursor');
const truncated: false = page.truncated;
const { data } = await client.POST('/api/lookup', {
  body: {
    inputs: [
      { kind: 'id', diaObjectId: known },
      { kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 },
      { kind: 'tns', name: '2026abc' },
      { kind: 'position', ra: 999, dec: 2, radius_arcsec: 5 },
    ],
    detail: 'matches',
    response: 'objects',
  },
});
const { error } = await client.GET('/api/cone', { params: { query: { ...cone.query, ra: 999 } } });
const map = having((await client.GET('/api/sky-map')).data, 'by_status');
console.log(
  JSON.stringify({
    details,
    cone: page.results[0]!.objects.map(({ diaObjectId_str }) => diaObjectId_str),
    truncated,
    lookup: having(data, 'results').results.map(({ status }) => status),
    refused: error?.code,
    cells: map.cells.length === map.count,
  }),
);
