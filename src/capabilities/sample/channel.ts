import { channel } from '../../core/base/channel.ts';
import type { TaskData } from '../../core/pool/pool.ts';
import type { ListAsked, ListWritten } from './lists.ts';
import type { SampleAnswer, SampleTask } from './sample_task.ts';

interface SampleAsked extends TaskData<SampleTask> {
  /** The name under which the report counts against the client's share. */
  readonly client: string;
}

export const SAMPLE = channel<SampleAsked, SampleAnswer>('sample');
/** Null if the answer would exceed its budget. */
export const SAMPLE_LIST = channel<ListAsked, ListWritten | null>('sample list');
