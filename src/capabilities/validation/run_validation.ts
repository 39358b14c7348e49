import type { Config } from '../../core/config/config.ts';
import { crossmatchPool } from '../crossmatch/crossmatch_pool.ts';
import type { Validated, ValidateTask } from './validate_task.ts';

/**
 * Makes the validation in a thread of its own, which ends with it.
 * @param keptMs a validation that is younger than this is returned instead
 * @param ends ends the thread
 * @throws PoolError, StoreError
 */
export async function runValidation(
  config: Config,
  keptMs: number,
  { isBackground, ends }: { readonly isBackground: boolean; readonly ends?: AbortSignal },
): Promise<Validated> {
  const pool = crossmatchPool(config, 1, { isBackground });
  try {
    const task: ValidateTask = {
      module: 'src/capabilities/validation/validate_task',
      kind: 'validate',
      config,
      keptMs,
    };
    return await pool.run(task, { timeoutMs: Number.POSITIVE_INFINITY, ...(ends && { ends }) });
  } finally {
    await pool.close();
  }
}
