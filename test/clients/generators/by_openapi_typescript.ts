/**
 * Queries a service with the types made by openapi-typescript, and prints the answers as JSON. Arguments: URL
 * DIAOBJECTID
 */
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
async function refusedStreams(kind: 'matches' | 'objects') {
  const params = { query: { area: 'CIRCLE 150 2 1', from: 'later' } };
  return {
    [`stream_${kind}`]: (await client.GET(`/api/stream/${kind}`, { params })).error?.code,
    [`stream_${kind}_in_area`]: (await client.POST(`/api/stream/${kind}`, { params })).error?.code,
  };
}
// The operations that nothing above calls.
const kept = having(
  (
    await client.POST('/api/samples', {
      params: { query: { title: 'mine' } },
      headers: { 'Content-Type': 'application/octet-stream' },
      body: 'ra,dec\n150,2\n10,20\n',
      bodySerializer: body => body as string,
    })
  ).data,
  'id',
);
const link = { params: { path: { id: kept.id } } };
const report = (await client.GET('/api/samples/{id}', link)).data;
const others = {
  get_openapi: (await client.GET('/openapi.json')).data?.openapi,
  resolve_tns: having((await client.GET('/api/tns/{name}', { params: { path: { name: '2026abc' } } })).data, 'results')
    .results[0]?.status,
  service_status: (await client.GET('/api/status')).data?.database,
  describe_service: (await client.GET('/api/describe')).data?.default_detail,
  ...(await refusedStreams('matches')),
  ...(await refusedStreams('objects')),
  find_sources: having((await client.GET('/api/sources', { params: cone })).data, 'count').count,
  find_objects_of_source: having(
    (
      await client.GET('/api/sources/{catalog}/{catalog_source_id}', {
        params: { path: { catalog: 'gaia_dr3', catalog_source_id: known } },
      })
    ).data,
    'count',
  ).count,
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
  report_sample: having(
    (
      await client.POST('/api/sample', {
        headers: { 'Content-Type': 'application/octet-stream' },
        body: 'ra,dec\n150,2\n10,20\n',
        bodySerializer: body => body as string,
      })
    ).data,
    'count',
  ).count,
  keep_sample: kept.title,
  report_kept_sample: typeof report === 'object' ? report.count : undefined,
  get_kept_sample_input: (await client.GET('/api/samples/{id}/input', { ...link, parseAs: 'text' })).data,
  get_match_feed: (await client.GET('/feeds/matches', { parseAs: 'text' })).data?.slice(0, 5),
  get_object_feed: (await client.GET('/feeds/objects', { parseAs: 'text' })).data?.slice(0, 5),
  get_sample_feed: (await client.GET('/feeds/samples/{id}', { ...link, parseAs: 'text' })).data?.slice(0, 5),
  delete_kept_sample: (await client.DELETE('/api/samples/{id}', link)).response.status,
  get_validation: (await client.GET('/api/validation')).data?.status,
  get_sky_map: map.layer,
  list_tasks: (await client.GET(tasks)).data?.length,
  head_tasks: (await client.HEAD(tasks)).response.status,
  describe_tasks: (await client.OPTIONS(tasks)).data?.parses,
};
// The operations of the Virtual Observatory, by name: whether each answers.
const answers: Record<string, boolean> = {};
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
const FORM = {
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  bodySerializer: (fields: object) =>
    new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, `${value}`])),
  parseAs: 'text',
} as const;
const TEXT = { parseAs: 'text' } as const;

async function called<T extends { response: Response }>(name: string, asking: Promise<T>): Promise<T> {
  const answer = await asking;
  answers[name] = answer.response.ok;
  return answer;
}

/** Changes a job. Other jobs may have ended, and then refuses. */
async function changed<T extends { response: Response }>(name: string, asking: Promise<T>): Promise<void> {
  const { response } = await called(name, asking);
  answers[name] ||= !name.includes('query') && response.status === 400;
}

const query = { LANG: 'ADQL', QUERY: 'SELECT COUNT(*) AS n FROM nearsky.objects' } as const;
const inCsv = { ...query, RESPONSEFORMAT: 'csv' };
const ask = () => called('query', client.GET('/vo/tap/sync', { params: { query: inCsv }, ...TEXT }));
let asked = await ask();
// The first query begins to make the tables.
for (; !asked.response.ok; asked = await ask()) await pause(200);
await called('query_by_form', client.POST('/vo/tap/sync', { body: query, ...FORM }));
await called('tap_entrance', client.GET('/vo/tap', TEXT));
for (const name of ['capabilities', 'availability', 'tables', 'examples'] as const)
  await called(`tap_${name}`, client.GET(`/vo/tap/${name}`, TEXT));
await called(
  'tap_table',
  client.GET('/vo/tap/tables/{name}', { params: { path: { name: 'nearsky.objects' } }, ...TEXT }),
);

async function newQuery(): Promise<string> {
  // `fetch` follows the redirection to the job.
  const { response } = await called('create_query_job', client.POST('/vo/tap/async', { body: query, ...FORM }));
  return response.url.split('/').at(-1)!;
}

async function newTable(path: '/api/crossmatch' | '/api/sample'): Promise<string> {
  const { response } = await client.POST(path, {
    params: { header: { Prefer: 'respond-async' } },
    headers: { 'Content-Type': 'application/octet-stream' },
    body: 'ra,dec\n150,2\n',
    bodySerializer: body => body,
    parseAs: 'text',
  });
  return response.headers.get('Location')!.split('/').at(-1)!;
}

for (const [job, base, make] of [
  ['query_job', '/vo/tap/async', newQuery],
  ['table_job', '/vo/jobs', () => newTable('/api/crossmatch')],
  ['sample_job', '/vo/samples', () => newTable('/api/sample')],
] as const) {
  const [first, second] = [await make(), await make()];
  const of = (id: string) => ({ params: { path: { id } } });
  if (base === '/vo/tap/async')
    await called(
      `set_${job}_parameters`,
      client.POST(`${base}/{id}/parameters`, { ...of(first), body: { MAXREC: 5 }, ...FORM }),
    );
  await changed(
    `set_${job}_executionduration`,
    client.POST(`${base}/{id}/executionduration`, { ...of(first), body: { EXECUTIONDURATION: 60 }, ...FORM }),
  );
  await changed(
    `set_${job}_phase`,
    client.POST(`${base}/{id}/phase`, { ...of(first), body: { PHASE: 'RUN' }, ...FORM }),
  );
  const phase = () => called(`get_${job}_phase`, client.GET(`${base}/{id}/phase`, { ...of(first), ...TEXT }));
  while ((await phase()).data !== 'COMPLETED') await pause(50);
  for (const part of ['executionduration', 'destruction', 'quote', 'owner', 'error', 'parameters', 'results'] as const)
    await called(`get_${job}_${part}`, client.GET(`${base}/{id}/${part}`, { ...of(first), ...TEXT }));
  await called(`get_${job}_result`, client.GET(`${base}/{id}/results/result`, { ...of(first), ...TEXT }));
  await called(
    `get_${job}`,
    client.GET(`${base}/{id}`, { params: { path: { id: first }, query: { WAIT: 1 } }, ...TEXT }),
  );
  await called(`list_${job}s`, client.GET(base, TEXT));
  const DESTRUCTION = new Date(Date.now() + 3_600_000).toISOString();
  await called(
    `set_${job}_destruction`,
    client.POST(`${base}/{id}/destruction`, { ...of(second), body: { DESTRUCTION }, ...FORM }),
  );
  await called(`change_${job}`, client.POST(`${base}/{id}`, { ...of(first), body: { ACTION: 'DELETE' }, ...FORM }));
  await called(`delete_${job}`, client.DELETE(`${base}/{id}`, { ...of(second), ...TEXT }));
}

console.log(
  JSON.stringify({
    details,
    cone: page.results[0]!.objects.map(({ diaObjectId_str }) => diaObjectId_str),
    truncated,
    lookup: having(data, 'results').results.map(({ status }) => status),
    refused: error?.code,
    cells: map.cells.length === map.count && recent.count === recent.objects.length,
    others,
    rows: asked.data,
    answers,
  }),
);
