/** Queries of an engine in the process of the test. */

import type { Engine } from '../../../src/capabilities/adql/engine.ts';
import { tapFormat } from '../../../src/capabilities/adql/tap_formats.ts';
import { eventually } from '../../directory.ts';

let lastQuery = 0;

/** Closes the engine when it has ended what it does beside queries. */
export async function closed(engine: Engine): Promise<void> {
  await eventually('the engine to close', async () => engine.close() || undefined);
}

/** The answer as CSV, part by part. */
export async function* partsOf(engine: Engine, query: string, at?: number, client = ''): AsyncGenerator<Uint8Array> {
  const number = ++lastQuery;
  const state = at === undefined ? {} : { at };
  const asked = { query, maxRecords: 1_000_000, format: tapFormat('csv')!, seconds: 60, ...state };
  const begun = await engine.begin(number, asked, { client, key: client });
  if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
  yield begun.part;
  for (let part = begun.isWhole ? null : await engine.part(number); part; part = await engine.part(number)) yield part;
}

export async function answerOf(engine: Engine, query: string, at?: number, client?: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(partsOf(engine, query, at, client))).toString();
}
