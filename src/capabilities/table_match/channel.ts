import { channel } from '../../core/base/channel.ts';
import type { TableWritten } from './match_task.ts';
import type { TableAsked } from './table_matches.ts';

/** Null if the answer would exceed its budget. */
export const TABLE = channel<TableAsked, TableWritten | null>('table');
