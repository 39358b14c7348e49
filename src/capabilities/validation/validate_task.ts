/** The task `validate`. */
import { collectWhenQuiet } from '../../core/base/shared_memory.ts';
import type { Config } from '../../core/config/config.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import { makeValidation, type Validation } from './make_validation.ts';
import { readValidation, saveValidation } from './validation_file.ts';

/** Needs a pool of `crossmatchPool`. The validation is saved in the data directory. */
export interface ValidateTask extends Task<Validated> {
  readonly module: 'src/capabilities/validation/validate_task';
  readonly kind: 'validate';
  readonly config: Config;
  /** A validation that is younger than this is not made again. */
  readonly keptMs: number;
}

export interface Validated {
  readonly validation: Validation;
  /** Why files could not be read, for the log. */
  readonly problems: readonly string[];
}

export const tasks: Tasks<ValidateTask> = { validate: runValidate };

async function runValidate({ config, keptMs }: ValidateTask): Promise<Validated> {
  const known = readValidation(config.NEARSKY_DATA, currentStore());
  if (known && Date.now() - Date.parse(known.made) < keptMs) return { validation: known, problems: [] };
  const validated = await makeValidation(config);
  saveValidation(config.NEARSKY_DATA, currentStore(), validated.validation);
  collectWhenQuiet();
  return validated;
}
