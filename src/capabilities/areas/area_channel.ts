import { channel } from '../../core/base/channel.ts';
import type { AreaAsked } from './area_reader.ts';
import type { AreaWritten } from './area_task.ts';

/** Null if the answer would exceed its budget. */
export const AREA = channel<AreaAsked, AreaWritten | null>('area');
