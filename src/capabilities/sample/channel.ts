import { channel } from '../../core/base/channel.ts';
import type { TaskData } from '../../core/pool/pool.ts';
import type { TableRefusal } from '../jobs/table_task.ts';
import type { KeptSample, NewSample } from './kept_store.ts';
import type { ListAsked, ListInput, ListInputs, ListWritten } from './lists.ts';
import type { SampleAnswer, SampleTask } from './sample_task.ts';

interface SampleAsked extends TaskData<SampleTask> {
  /** The name under which the report counts against the client's share. */
  readonly client: string;
}

export const SAMPLE = channel<SampleAsked, SampleAnswer>('sample');
export type KeepStep =
  /** A sample in a table is read first. */
  | { readonly step: 'keep'; readonly sample: NewSample; readonly table?: ListInput }
  | { readonly step: 'remove'; readonly id: string; readonly client: string };

export type KeepAnswer = { readonly outcome: 'kept'; readonly sample: KeptSample } | TableRefusal;

/** Null if reading the table exceeds its budget, or if there was no such sample. */
export const KEEP = channel<KeepStep, KeepAnswer | { readonly outcome: 'removed' } | null>('kept samples');
/** The inputs in a table. Null if reading it exceeds its budget. */
export const LIST_INPUTS = channel<ListInput, ListInputs | null>('sample inputs');
/** Null if the answer would exceed its budget. */
export const SAMPLE_LIST = channel<ListAsked, ListWritten | null>('sample list');
