/** What remains of the service without one optional capability. */
import { CAPABILITIES } from '../../src/capabilities.ts';

/** A capability, and all that need it, directly or not. */
export function withNeeding(name: string): ReadonlySet<string> {
  const gone = new Set([name]);
  for (let size = 0; size < gone.size; ) {
    size = gone.size;
    for (const { name, needs } of CAPABILITIES) if (needs?.some(need => gone.has(need))) gone.add(name);
  }
  return gone;
}
