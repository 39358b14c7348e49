/** The headers of a crossmatched table. */
import { contentType, matchFormat } from '../../core/contract/formats.ts';
import { JOURNAL_ENTRY_HEADER, POSITION_WARNING_HEADER } from '../../core/contract/headers.ts';
import { dispositionOf, TABLE_HEADERS } from '../../core/http/table_response.ts';
import type { TableBegun } from './match_task.ts';

export type MatchedTable = TableBegun & { readonly outcome: 'begun' };

export function matchedHeaders({
  format,
  inputRows,
  rows,
  matches,
  dropped,
  ra,
  dec,
  frame,
  frameSource,
  journalEntry,
  warning,
}: MatchedTable): Record<string, string> {
  return {
    'Content-Type': contentType(matchFormat(format)),
    'Access-Control-Expose-Headers': `${TABLE_HEADERS}, X-Input-Row-Count, X-Match-Count, X-Position-Columns, X-Position-Frame, X-Dropped-Columns, ${POSITION_WARNING_HEADER}, ${JOURNAL_ENTRY_HEADER}`,
    'Content-Disposition': dispositionOf('crossmatch', matchFormat(format)),
    'X-Row-Count': `${rows}`,
    'X-Input-Row-Count': `${inputRows}`,
    'X-Match-Count': `${matches}`,
    'X-Position-Columns': [ra, dec].map(encodeURIComponent).join(' '),
    'X-Position-Frame': `${frame}; source=${frameSource}`,
    ...(journalEntry !== undefined && { [JOURNAL_ENTRY_HEADER]: `${journalEntry}` }),
    ...(warning !== undefined && { [POSITION_WARNING_HEADER]: warning }),
    ...(dropped.length > 0 && { 'X-Dropped-Columns': shownNames(dropped) }),
  };
}

/** The maximum number of names in a header, and of characters per name. */
const [MAX_NAMES, MAX_NAME] = [50, 64];

function shownNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map(name => encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed()));
  return [...shown, ...(names.length > MAX_NAMES ? [`and ${names.length - MAX_NAMES} more`] : [])].join(' ');
}
