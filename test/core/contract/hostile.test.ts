/**
 * Random and hostile requests, made from the OpenAPI document: no 5xx, every 4xx with the right code and parameter, every 200 as
 * documented. TEST_HOSTILE=100000 for more of them; TEST_HOSTILE_SEED for others.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type OpenApiDocument, openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { createApp } from '../../../src/core/app.ts';
import type { Config } from '../../../src/core/config/config.ts';
import { API, PARTS } from '../../capabilities.ts';
import { eventually } from '../../directory.ts';
import { configOf } from '../http/support.ts';
import { storeLines } from '../store/store_lines.ts';
import { ANYTHING } from './hostile/bodies.ts';
import { type Cursors, type HostileRequest, isFilter, randomRequest } from './hostile/requests.ts';
import { BROKEN_BODIES, HOSTILE_JSON, Random } from './hostile/values.ts';
import { PLACES, snapshotLine, WINDOW, worldLines } from './suite/world.ts';
import { assertDocumented } from './validate.ts';

const test = suite('contract/hostile');

const COUNT = Number(process.env.TEST_HOSTILE ?? 300);
const SEED = Number(process.env.TEST_HOSTILE_SEED ?? 1);
const IN_FLIGHT = 32;
const STATUS_OF: Readonly<Record<string, number>> = {
  not_found: 404,
  method_not_allowed: 405,
  service_unavailable: 503,
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Ask = (request: Pick<HostileRequest, 'method' | 'target' | 'headers' | 'body'>) => Promise<Answer>;

async function inWorld(body: (ask: Ask, config: Config) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-hostile-'));
  const lines = [...worldLines(), snapshotLine(Date.now() * 1000)];
  await storeLines(join(directory, 'data'), lines);
  // No request here is too expensive, however busy the machine is.
  const config = configOf(join(directory, 'data'), { API_REQUEST_BUDGET_SECONDS: '600' });
  const faults: unknown[] = [];
  const app = createApp({
    config,
    api: API,
    parts: PARTS,
    log: (event, fields) => event === 'internal_error' && faults.push(fields),
  });
  try {
    await eventually('the app is ready', async () => app.ready || undefined);
    await body(async ({ method, target, headers, body }) => {
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
      const request = new Request(`http://nearsky.test${target}`, {
        method,
        headers,
        body: bytes ?? null,
      });
      const response = await app.fetch(request);
      const text = await response.text();
      assertDocumented(request, response, text, config);
      return { status: response.status, text };
    }, config);
    assert.equal(faults, []);
  } finally {
    await app.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Real cursors, from pages within the world. */
async function cursorsFrom(ask: Ask, document: OpenApiDocument): Promise<Cursors> {
  const cursorOf = async (target: string, method = 'GET') =>
    JSON.parse((await ask({ method, target, headers: {} })).text).next_cursor;
  const window = `${new URLSearchParams(WINDOW)}`;
  const { ra, dec } = PLACES.crowd;
  const levels = ['ids', 'full'];
  const cone = levels.map(level =>
    cursorOf(`/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=10&page_size=20&detail=${level}`),
  );
  const recent = levels.map(level => cursorOf(`/api/recent-crossmatches?${window}&page_size=20&detail=${level}`));
  const cursors: Record<string, readonly string[]> = {
    '/api/cone': await Promise.all(cone),
    '/api/recent-crossmatches': await Promise.all(recent),
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      const takes = (wanted: string) => parameters.some(({ name }) => name === wanted);
      const area = takes('area') ? '&area=0/0-11' : '';
      if (takes('cursor') && !cursors[path])
        cursors[path] = [await cursorOf(`${path}?page_size=2${area}`, method.toUpperCase())];
    }
  return cursors;
}

/** @throws Error if the answer is not one that the request may have */
function check(request: HostileRequest, { status, text }: Answer): void {
  if (status < 400) {
    assert.is(status, 200);
    assert.not(request.refused, 'it must be refused');
    if (request.malformed && text.includes('"results"')) checkResults(request.malformed, JSON.parse(text).results);
    return;
  }
  if (text === '' && request.method === 'HEAD') return;
  const { code, param, params } = JSON.parse(text);
  assert.ok(request.codes.has(code), `the code is none of ${[...request.codes]}`);
  assert.is(status, STATUS_OF[code] ?? 400);
  const blamed: string[] = params ?? (param === undefined ? [] : [param]);
  assert.is(blamed.length > 0, status === 400, `blamed: ${blamed}`);
  if (request.suspects === ANYTHING) return;
  const isRight = {
    filters_span_catalogs: isFilter,
    unsupported_parameter: (name: string) => isFilter(name) || name === 'response' || name === 'at',
  }[code as string];
  for (const name of blamed)
    assert.ok(isRight ? isRight(name) : request.suspects.has(name), `${name} is blamed, in vain`);
}

function checkResults(
  malformed: readonly (boolean | undefined)[],
  results: readonly { readonly status: string }[],
): void {
  assert.is(results.length, malformed.length);
  for (const [i, isMalformed] of malformed.entries()) {
    if (isMalformed !== undefined) assert.is(results[i]!.status === 'invalid_input', isMalformed, `the result ${i}`);
  }
}

function shown({ method, target, headers, body, suspects }: HostileRequest): string {
  const sent = typeof body === 'string' ? body : body && Buffer.from(body).toString('latin1');
  return [`${method} ${target}`, JSON.stringify(headers), sent?.slice(0, 3000), `suspects: ${[...suspects]}`].join(
    '\n',
  );
}

test(`${COUNT} random requests [Errors]`, () =>
  inWorld(async (ask, config) => {
    const document = openApiDocument(API, config);
    const cursors = await cursorsFrom(ask, document);
    const random = new Random(SEED);
    const seen = new Map<number, number>();
    let made = 0;
    const keepAsking = async () => {
      while (made < COUNT) {
        const number = ++made;
        const request = randomRequest(random, document, cursors);
        try {
          const answer = await ask(request);
          seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
          check(request, answer);
        } catch (error) {
          throw new Error(`request ${number} of seed ${SEED}: ${(error as Error).message}\n${shown(request)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, keepAsking));
    const figures = [...seen].toSorted().map(([status, count]) => `${count} of ${status}`);
    if (process.env.TEST_HOSTILE) console.log(`${COUNT} requests of seed ${SEED}: ${figures.join(', ')}`);
    for (const status of [200, 400, 404, 405]) assert.ok((seen.get(status) ?? 0) > COUNT / 50, `${status}: ${figures}`);
  }));

test('the connector, too, takes whatever body without a fault', () =>
  inWorld(async ask => {
    const nested = HOSTILE_JSON.flatMap(json => [json, `{"jsonrpc": "2.0", "id": 1, "method": ${json}}`, `[${json}]`]);
    const calls = HOSTILE_JSON.map(json => `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ${json}}`);
    const listed = HOSTILE_JSON.map(
      json =>
        `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "lookup_rubin_transients", "arguments": {"identifiers": ${json}}}}`,
    );
    for (const body of [...BROKEN_BODIES, ...nested, ...calls, ...listed]) {
      const { status, text } = await ask({
        method: 'POST',
        target: '/mcp',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      assert.ok([200, 202, 400].includes(status), `${status} to ${body}: ${text}`);
    }
  }));

test.run();
