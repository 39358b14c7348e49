/** The lines of an archive, through the commands that export and import them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { nearsky } from './in_process.ts';

/** @param options of the export */
export async function exportLines(dataDir: string, ...options: readonly string[]): Promise<string[]> {
  const file = `${dataDir}.exported`;
  await nearsky('export', ...options, file, '--data', dataDir);
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/**
 * Returns the counts of the import.
 * @throws Error if a line is rejected
 */
export async function importLines(dataDir: string, lines: readonly string[]): Promise<Record<string, unknown>> {
  const file = `${dataDir}.imported`;
  writeFileSync(file, lines.map(line => `${line}\n`).join(''));
  return await nearsky('import', file, '--data', dataDir);
}
