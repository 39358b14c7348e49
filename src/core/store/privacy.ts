/** Checks whether other users have access to a data directory. nearsky creates it for its own user only. */
import { statSync } from 'node:fs';
import type { Log } from '../base/log.ts';

/** Any permission of the group or of others. */
const OTHERS = 0o077;

/**
 * Logs, once, if the group or others have access to the data directory. Permissions are not changed, because they may
 * be intended.
 */
export function warnIfOpenToOthers(dataDir: string, log: Log): void {
  const mode = statSync(dataDir).mode & 0o777;
  if ((mode & OTHERS) !== 0) {
    log('data_directory_open_to_others', { mode: mode.toString(8), mend: 'chmod 700 on the data directory' });
  }
}
