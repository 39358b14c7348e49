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
const recent = having((await client.GET('/api/recent-crossmatches')).data, 'next_cursor');
const map = having((await client.GET('/api/sky-map')).data, 'by_status');
const tasks = '/api/task/';
// The operations that nothing above calls.
const others = {
  get_openapi: (await client.GET('/openapi.json')).data?.openapi,
  resolve_tns: having((await client.GET('/api/tns/{name}', { params: { path: { name: '2026abc' } } })).data, 'results')
    .results[0]?.status,
  service_status: (await client.GET('/api/status')).data?.database,
  describe_service: (await client.GET('/api/describe')).data?.default_detail,
  stream_matches: (await client.GET('/api/stream/matches', { params: { query: { from: 'later' } } })).error?.code,
  find_sources: (await client.GET('/api/sources', { params: cone })).data?.count,
  find_objects_of_source: (
    await client.GET('/api/sources/{catalog}/{catalog_source_id}', {
      params: { path: { catalog: 'gaia_dr3', catalog_source_id: known } },
    })
  ).data?.count,
  search_area: [
    await client.POST('/api/area', { params: { query: { area: 'CIRCLE 150 2 1' } } }),
    await client.POST('/api/area', {
      headers: { 'Content-Type': 'application/octet-stream' },
      body: 'CIRCLE 150 2 1',
      bodySerializer: body => body,
    }),
  ].map(({ data }) => having(data, 'next_cursor').count),
  list_objects: having((await client.GET('/api/objects')).data, 'next_cursor').count,
  crossmatch_table: (
    await client.POST('/api/crossmatch', {
      params: { query: { format: 'csv', rows: 'matched' } },
      headers: { 'Content-Type': 'application/octet-stream' },
      body: 'ra,dec\n150,2\n10,20\n',
      bodySerializer: body => body,
      parseAs: 'text',
    })
  ).data
    ?.trimEnd()
    .split('\n'),
  get_sky_map: map.layer,
  list_tasks: (await client.GET(tasks)).data?.length,
  head_tasks: (await client.HEAD(tasks)).response.status,
  describe_tasks: (await client.OPTIONS(tasks)).data?.parses,
};
console.log(
  JSON.stringify({
    details,
    cone: page.results[0]!.objects.map(({ diaObjectId_str }) => diaObjectId_str),
    truncated,
    lookup: having(data, 'results').results.map(({ status }) => status),
    refused: error?.code,
    cells: map.cells.length === map.count && recent.count === recent.objects.length,
    others,
  }),
);
