import { channel } from '../../core/base/channel.ts';
import type { ListAsked, ListWritten } from './lists.ts';
import type { SampleAnswer } from './sample_task.ts';
import type { SampleAsked } from './samples.ts';

export const SAMPLE = channel<SampleAsked, SampleAnswer>('sample');
/** Null if the answer would exceed its budget. */
export const SAMPLE_LIST = channel<ListAsked, ListWritten | null>('sample list');
