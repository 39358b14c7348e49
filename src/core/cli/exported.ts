/** What the formats of `nearsky export` share: the moment that is exported, and the note for the report of the night. */
import { resolve } from 'node:path';
import { messageOf } from '../base/error_text.ts';
import { JOURNAL_ENTRY } from '../documents/kinds.ts';
import { whyNotInHistory } from '../store/history.ts';
import { noteChore } from '../store/noting.ts';
import type { Store } from '../store/store.ts';
import { type Invocation, type Option, tell, UsageError } from './command.ts';

export const AT: Option = { value: 'SEQUENCE', help: 'the objects as they were after this journal entry' };

export const AT_PARAGRAPH = `--at SEQUENCE exports the objects as they were after that journal entry, if the history reaches back
to it (NEARSKY_HISTORY). While the registered catalogs stay the same, the files are the same each
time. Catalogs and the TNS registry have no history: the columns are for the catalogs registered
now, and lines omit the registry.`;

export const ENTRY = { ...JOURNAL_ENTRY, must: 'a journal entry, 0 or more' };

/** Notes that an export was written. A failure is only reported, because the export itself is complete. */
export async function noteExport({ config }: Invocation, target: string): Promise<void> {
  const noted = noteChore(config.NEARSKY_DATA, 'export', resolve(target));
  await noted.catch(error => tell(`nearsky export: ${messageOf(error)}`));
}

/** @throws UsageError if the history does not have the entry */
export function requireEntry(store: Store, at: number | undefined): void {
  const why = at === undefined ? undefined : whyNotInHistory(store.databases, at);
  if (why !== undefined) throw new UsageError(`--${why}`);
}
