/** Answers in Parquet, as the tests of values read them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openParquet } from '@nearsky/astrotables/parquet';
import type { TestApp } from './core/http/support.ts';

/** The values of each column, by name. */
export async function columnsOfParquet(answer: ArrayBuffer): Promise<Map<string, unknown[]>> {
  const bytes = new Uint8Array(answer);
  const file = await openParquet({
    name: 'the answer',
    byteLength: bytes.length,
    read: async (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
    close: () => {},
  });
  const all = Array.from({ length: file.rows }, (_, row) => row);
  const names = [...file.columns.keys()];
  return new Map(await Promise.all(names.map(async name => [name, await file.readValues(name, all)] as const)));
}

/** The columns of a service's answer. While it makes the tables for ADQL, it answers 503. */
export async function columnsAt(app: TestApp, path: string, init?: RequestInit): Promise<Map<string, unknown[]>> {
  for (let tries = 0; ; tries++) {
    const response = await app.app.fetch(new Request(`http://nearsky.test${path}`, init));
    if (response.status === 200) return await columnsOfParquet(await response.arrayBuffer());
    if (response.status !== 503 || tries >= 300) throw new Error(await response.text());
    await sleep(200);
  }
}

/** The columns of a query in ADQL. */
export const columnsOfQuery = (app: TestApp, query: string) =>
  columnsAt(app, `/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', QUERY: query, FORMAT: 'parquet' })}`);
