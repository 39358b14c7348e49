/**
 * Without an optional capability, and those that need it, the operations of the specification answer the same bytes. The
 * description of the service has no limits of what is not there.
 */
import { toJson } from '@nearsky/astrotables/json';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CAPABILITIES, OPTIONAL } from '../../src/capabilities.ts';
import { createApp } from '../../src/core/app.ts';
import type { Capability } from '../../src/core/host.ts';
import { loadApi, loadParts } from '../../src/core/loaded.ts';
import { openStore } from '../../src/core/store/store.ts';
import { Writer } from '../../src/core/store/writer.ts';
import { eventually, withDirectory } from '../directory.ts';
import { configOf } from './http/support.ts';
import { FIRST_ID, fillSky } from './store/filled_sky.ts';
import { withNeeding } from './without_capability.ts';

const test = suite('core/without_capability');

const OBJECTS = 40;
const JSON_BODY = { 'Content-Type': 'application/json' };
const rpc = (method: string, params = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const DESCRIBE = rpc('tools/call', { name: 'describe_crossmatch_service', arguments: {} });

/** @param ids of stored objects */
const requestsOf = (ids: readonly string[]): readonly (readonly [path: string, body?: unknown])[] => [
  ...ids.flatMap(id => ['ids', 'full'].map(detail => [`/api/objects/${id}?detail=${detail}`] as const)),
  [`/api/objects/${ids[0]}?format=csv`],
  ['/api/cone?ra=45&dec=41.81&radius_arcsec=60&detail=full'],
  ['/api/cone?ra=45&dec=41.81&radius_arcsec=60&page_size=2&gaia_dr3.ruwe_max=1'],
  [
    '/api/lookup',
    {
      inputs: [
        ...ids.map(diaObjectId => ({ kind: 'id', diaObjectId })),
        { kind: 'position', ra: 0, dec: 0, radius_arcsec: 60 },
        { kind: 'tns', name: 'SN2099aaa' },
      ],
    },
  ],
  ['/api/tns/SN2099aaa'],
  ['/api/recent-crossmatches?start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z'],
  ...['/api/describe', '/api/status', '/api/task/', '/api/nothing'].map(path => [path] as const),
  ['/mcp', rpc('tools/list')],
];

/** The time of the request stands in answers and their cursors. */
const withoutPresent = (text: string) => text.replaceAll(/("(?:as_of|next_cursor)": )"[^"]*"/g, '$1null');

/** The answers of a service with these capabilities, by request. */
async function answersOf(capabilities: readonly Capability[], directory: string, ids: readonly string[]) {
  const [api, parts] = await Promise.all([loadApi(capabilities), loadParts(capabilities)]);
  const app = createApp({
    config: configOf(directory),
    api,
    parts,
    log: () => {},
  });
  try {
    await eventually('the app is ready', async () => app.ready || undefined);
    const answers: [request: string, answer: string][] = [];
    for (const [path, body] of requestsOf(ids)) {
      const init = body === undefined ? {} : { method: 'POST', headers: JSON_BODY, body: toJson(body) };
      const response = await app.fetch(new Request(`http://nearsky.test${path}`, init));
      answers.push([`${path} ${toJson(body ?? null)}`, `${response.status} ${withoutPresent(await response.text())}`]);
    }
    const said = await app.fetch(
      new Request('http://nearsky.test/mcp', { method: 'POST', headers: JSON_BODY, body: toJson(DESCRIBE) }),
    );
    assert.is(said.status, 200);
    return answers;
  } finally {
    await app.close();
  }
}

const DESCRIBED = '/api/describe null';
const described = (answer: string) => JSON.parse(answer.slice(answer.indexOf('{')));

const limitsIn = (answers: readonly (readonly [request: string, answer: string])[]) =>
  new Set(Object.keys(described(answers.find(([request]) => request === DESCRIBED)![1]).limits));

/** The answer, with these limits alone if it is the description. */
function withLimits([request, answer]: readonly [string, string], kept: ReadonlySet<string>): string {
  if (request !== DESCRIBED) return answer;
  const all = described(answer);
  const limits = Object.fromEntries(Object.entries(all.limits).filter(([name]) => kept.has(name)));
  return `200 ${toJson({ ...all, limits })}`;
}

test('each optional capability in turn', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    await fillSky(new Writer(store), OBJECTS);
    await store.close();
    const ids = [0n, 1n, 8n].map(i => `${FIRST_ID + 7919n * i}`);
    const whole = await answersOf(CAPABILITIES, directory, ids);
    const refused = whole.filter(([, answer]) => !answer.startsWith('200 '));
    assert.equal(
      refused.map(([request]) => request),
      ['/api/nothing null'],
    );
    for (const { name } of OPTIONAL) {
      const gone = withNeeding(name);
      const rest = CAPABILITIES.filter(capability => !gone.has(capability.name));
      assert.ok(
        rest.length >= CAPABILITIES.length - OPTIONAL.length,
        'nothing that is specified needs what is optional',
      );
      const answers = await answersOf(rest, directory, ids);
      const limits = limitsIn(answers);
      for (const [i, [request, answer]] of answers.entries())
        assert.is(answer, withLimits(whole[i]!, limits), `${request} without ${[...gone].join(', ')}`);
    }
  }));

test.run();
