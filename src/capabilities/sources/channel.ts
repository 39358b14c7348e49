import { channel } from '../../core/base/channel.ts';
import type { TaskData } from '../../core/pool/pool.ts';
import type { SourcesAnswer, SourcesTask } from './near_task.ts';

interface SourcesAsked extends TaskData<SourcesTask> {
  /** The name under which the search counts against the client's share. */
  readonly client: string;
}

export const SOURCES = channel<SourcesAsked, SourcesAnswer>('sources');
