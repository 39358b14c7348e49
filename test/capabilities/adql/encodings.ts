/**
 * Catalogs with each encoding and type that pyarrow, lsdb, Polars and fastparquet write. The values are those that
 * pyarrow reads (test/fixtures/encodings).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const fixtures = fileURLToPath(new URL('../../fixtures/encodings', import.meta.url));
export const NAMES = readdirSync(fixtures).flatMap(name => /^(\w+)\.json$/.exec(name)?.[1] ?? []);

type Values = Readonly<Record<string, readonly unknown[]>>;

/** The rows of `id` in ascending order, each value as a string; integers have all their digits. */
export function rowsOf(values: Values): Map<string, Record<string, string>> {
  const columns = Object.entries(values);
  return new Map(
    values.id!.map((id, row) => [
      `${id}`,
      Object.fromEntries(columns.map(([name, cells]) => [name, Object.is(cells[row], -0) ? '-0' : `${cells[row]}`])),
    ]),
  );
}

export const expectedOf = (name: string): Values => JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8'));
