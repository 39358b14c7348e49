/** The jobs of a process. */
import { memoized } from '../../core/base/memoized.ts';
import type { MainHost } from '../../core/host.ts';
import type { JobKind } from './job_queue.ts';
import { JobStore } from './job_store.ts';

/** Their store, and the kinds of jobs that can run, which the parts of other capabilities add. */
export const jobsOf = memoized(({ config }: Pick<MainHost, 'config'>) => {
  const kinds: Record<string, JobKind> = {};
  return {
    store: new JobStore(config.NEARSKY_DATA),
    kinds: kinds as Readonly<typeof kinds>,
    /** @throws Error if another capability has jobs of this kind */
    add(kind: string, how: JobKind): void {
      if (Object.hasOwn(kinds, kind)) throw new Error(`another capability has jobs of the kind ${kind}, too`);
      kinds[kind] = how;
    },
  };
});
