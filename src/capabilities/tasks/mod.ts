/** The list of the processing tasks of a transient. */
import type { Capability } from '../../core/host.ts';

export const taskList: Capability = {
  name: 'tasks',
  serve: () => import('./serve.ts'),
};
