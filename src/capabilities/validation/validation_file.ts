/**
 * The validation is kept beside the caches made from the database, in DATA/index/validation.json, because making it may
 * take minutes: it survives a restart. The mark of the journal protects against the validation of another database.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INDEX_DIRECTORY, makeIndexDirectory } from '../../core/store/data_files.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import type { Validation } from './make_validation.ts';

const FILE = 'validation.json';
const VERSION = 1;

export const validationPath = (dataDir: string) => join(dataDir, INDEX_DIRECTORY, FILE);

export function saveValidation(dataDir: string, store: StoreReader, validation: Validation): void {
  const mark = store.markOf(validation.journal_entry);
  const aside = join(makeIndexDirectory(dataDir), `${FILE}.${process.pid}.tmp`);
  try {
    writeFileSync(aside, JSON.stringify({ version: VERSION, mark, validation }), { mode: 0o600 });
    renameSync(aside, validationPath(dataDir));
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** The validation that was made last; undefined unless it exists, can be read, and belongs to this database. */
export function readValidation(dataDir: string, store: StoreReader): Validation | undefined {
  try {
    const { version, mark, validation } = JSON.parse(readFileSync(validationPath(dataDir), 'utf8'));
    const isOwn = version === VERSION && store.journalMark(validation.journal_entry) === mark;
    return isOwn ? validation : undefined;
  } catch {
    return undefined;
  }
}
