/** A service with a catalog whose ids are texts. */
import { join } from 'node:path';
import { openTable } from '@nearsky/astrotables';
import * as assert from 'uvu/assert';
import { crossmatchNames, OBJECTS } from '../../capabilities/crossmatch/text_ids.ts';
import { inWorld, type World } from '../../capabilities/crossmatch/world.ts';
import { TestApp } from './support.ts';

/** The objects that have a source: their places in `OBJECTS`, and its id. */
export const NAMED = OBJECTS.flatMap(({ source }, at) => (source ? [{ at, id: source.id }] : []));
export const IDS = NAMED.map(({ id }) => id);
const LIMITS = { maxBytes: 1 << 24, maxRows: 1000, maxCells: 1e6, maxColumns: 1000 } as never;

export interface Named {
  readonly app: TestApp;
  readonly world: World;
  readonly ids: readonly bigint[];
  /** The body of an answer of status 200. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export function withNames(use: (named: Named) => Promise<void>, settings = {}): Promise<void> {
  return inWorld(async world => {
    const ids = await crossmatchNames(world);
    const data = join(world.directory, 'data');
    const app = await new TestApp(data, settings).ready();
    // The document that `TestApp.get` holds answers to does not name the catalog.
    const fetch = async (path: string, init?: RequestInit) => {
      const response = await app.app.fetch(new Request(`http://nearsky.test${path}`, init));
      assert.is(response.status, 200, `${path}: ${response.status === 200 ? '' : await response.text()}`);
      return response;
    };
    try {
      await use({ app, world, ids, fetch });
    } finally {
      await app.app.close();
    }
  });
}

/** The cells of a column of an answer, as the readers of tables that people send have them. */
export async function cellsOf(response: Response, name: string): Promise<unknown[]> {
  const table = await openTable(new Uint8Array(await response.arrayBuffer()), LIMITS, false);
  const at = table.columns.findIndex(column => column.name === name);
  assert.ok(at >= 0, `${name} is not among ${table.columns.map(column => column.name).join(' ')}`);
  const cells: unknown[] = [];
  for await (const block of table.blocks([at])) cells.push(...Array.from(block.cells[0]!));
  return cells;
}
