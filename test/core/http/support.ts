/** Shared by the tests of the API: a whole app, over a real store and real threads, without a socket. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toJson } from '@nearsky/astrotables/json';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { type App, createApp } from '../../../src/core/app.ts';
import type { Config } from '../../../src/core/config/config.ts';
import { Coordinator } from '../../../src/core/coordinator.ts';
import type { Coordination } from '../../../src/core/service/coordination.ts';
import { encodeKey, encodeObject } from '../../../src/core/store/records.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type {
  CrossmatchResult,
  Delivery,
  MatchSource,
  ProvenanceSet,
  StoredObject,
  TnsRecord,
} from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { API, configWith, PARTS, type Settings } from '../../capabilities.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { assertDocumented } from '../contract/validate.ts';

export { eventually, type Settings, withDirectory };

// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of an answer and fails where it is not there
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if it is not JSON. Integers beyond 2^53 are bigints. */
  readonly body: Json;
}

export function configOf(directory: string, settings: Settings = {}): Config {
  return configWith({ NEARSKY_DATA: directory, NEARSKY_WORKERS: '1', ...settings });
}

/** What a service has once per process. */
export function coordinatorOf(config: Config): Coordinator {
  const threads = () => ({ threads: [], operations: [], replaced: 0 });
  return new Coordinator({ parts: PARTS, config, log: () => {}, threads });
}

export class TestApp {
  readonly app: App;
  /** The logged events with their fields. */
  readonly logged: (readonly [event: string, fields: unknown])[] = [];
  readonly config: Config;

  constructor(directory: string, settings: Settings = {}, coordination?: Coordination) {
    const log = (event: string, fields?: unknown) => this.logged.push([event, fields]);
    // A busy machine must not fail a test.
    this.config = configOf(directory, { API_REQUEST_BUDGET_SECONDS: '120', ...settings });
    this.app = createApp({
      config: this.config,
      api: API,
      parts: PARTS,
      log,
      ...(coordination && { coordination }),
    });
  }

  async ready(): Promise<this> {
    await eventually('the app is ready', async () => this.app.ready || undefined);
    return this;
  }

  async get(path: string, init?: RequestInit): Promise<Answer> {
    const request = new Request(`http://nearsky.test${path}`, init);
    const response = await this.app.fetch(request);
    const text = await response.text();
    assertDocumented(request, response, text, this.config);
    const { status, headers } = response;
    const isJson = headers.get('Content-Type') === 'application/json' && text !== '';
    let body: unknown;
    return {
      status,
      headers,
      text,
      // Many tests compare texts, and parsing with exact integers is slow.
      get body() {
        return isJson ? (body ??= parseExact(text)) : undefined;
      },
    };
  }

  /** @param body sent unchanged if it is a string, else as JSON */
  async post(path: string, body: unknown, type: string | null = 'application/json'): Promise<Answer> {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : toJson(body);
    // A string would set its own type.
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : (text as Uint8Array<ArrayBuffer>);
    return this.get(path, { method: 'POST', body: bytes, ...(type !== null && { headers: { 'Content-Type': type } }) });
  }

  /** The results of a lookup of these inputs. */
  async lookup(inputs: readonly unknown[], request: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    const { status, text, body } = await this.post('/api/lookup', { inputs, ...request });
    if (status !== 200) throw new Error(`the lookup gave ${status}: ${text}`);
    return body;
  }

  /** The one result of a lookup-shaped answer. */
  async result(path: string): Promise<Json> {
    const { status, text, body } = await this.get(path);
    if (status !== 200) throw new Error(`GET ${path} gave ${status}: ${text}`);
    return body.results[0];
  }
}

function parseExact(text: string): unknown {
  // Most answers have no such integer, and a reviver takes ten times as long.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context!.source!)
      : value,
  );
}

export interface World {
  readonly directory: string;
  readonly store: Store;
  readonly writer: Writer;
}

export interface Running {
  readonly app: TestApp;
  readonly world: World;
  close(): Promise<void>;
}

/** Starts an app over a new data directory, which `fill` fills first. */
export async function startApp(fill: (world: World) => Promise<void>, settings: Settings = {}): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const store = openStore(directory, 'write');
  const world = { directory, store, writer: new Writer(store) };
  await fill(world);
  const app = await new TestApp(directory, settings).ready();
  const close = async () => {
    await app.app.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { app, world, close };
}

/** Runs a test with a new app. */
export async function withApp(
  fill: (world: World) => Promise<void>,
  body: (app: TestApp, world: World) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const { app, world, close } = await startApp(fill, settings);
  try {
    await body(app, world);
  } finally {
    await close();
  }
}

/** Changes the record of an object beside the writer: its bytes, or undefined to remove it. */
export function putBytes({ databases }: Store, diaObjectId: bigint, bytes: Uint8Array | undefined): void {
  const key = encodeKey(diaObjectId);
  const table = databases.pending.doesExist(key) ? databases.pending : databases.objects;
  databases.objects.transactionSync(() => {
    if (bytes) table.put(key, bytes);
    else table.remove(key);
    // Nothing is returned, because a promise would delay the commit.
  });
}

/** Changes a stored object as an importer could, into states that ingest and crossmatch here do not produce. */
export function reshape({ store }: World, diaObjectId: bigint, changes: Partial<StoredObject>): void {
  putBytes(store, diaObjectId, encodeObject({ ...store.getObject(diaObjectId)!, ...changes }));
}

export const PROVENANCE: ProvenanceSet = {
  crossmatch_radius_arcsec: 1,
  catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR3' }],
  reliability_cuts: [
    { broker: 'lasair', min_reliability: 0.5, enforced_by: 'broker', status: 'declared', as_of: '2026-01-02' },
  ],
};

export const NOW_US = 1_790_000_000_123_456;

export function delivery(diaObjectId: bigint, fields: Partial<Delivery> = {}): Delivery {
  return {
    diaObjectId,
    position: { ra: 150, dec: 2 },
    reliability: 0.75,
    eventTimeUs: NOW_US - 5e6,
    broker: 'lasair',
    ...fields,
  };
}

type Outcomes = CrossmatchResult['catalogOutcomes'];
type Match = CrossmatchResult['matches'][number];

export function searched(...catalogs: readonly string[]): Outcomes {
  return catalogs.map(name => [name, 'searched'] as const);
}

export function match(catalogName: string, catalogSourceId: string, source: Partial<MatchSource> = {}): Match {
  const defaults = { ra: 150.0001, dec: 2.0001, payload: { ra: 150.0001, ruwe: 1.5 } };
  return { catalogName, catalogSourceId, separationArcsec: 0.25, source: { ...defaults, ...source } };
}

/** Records one crossmatch of a pending object. */
export async function crossmatched(
  { writer }: World,
  diaObjectId: bigint,
  catalogOutcomes: Outcomes,
  matches: readonly Match[] = [],
  provenance = PROVENANCE,
): Promise<void> {
  await writer.recordCrossmatches([{ diaObjectId, catalogOutcomes, matches }], provenance, NOW_US);
}

/** Publishes a snapshot of the registry. */
export async function loadRegistry(
  { writer }: World,
  epochUs: number,
  records: readonly (Partial<TnsRecord> & { readonly name: string })[],
): Promise<void> {
  const load = await writer.commit({ kind: 'begin_registry' });
  const filled = records.map((record, i) => ({
    objid: 1000 + i,
    namePrefix: 'AT',
    ra: 150,
    dec: 2,
    classification: null,
    redshift: null,
    ...record,
  }));
  await writer.commit({ kind: 'stage_registry', load, records: filled });
  await publishLoad(writer, load, epochUs);
}
