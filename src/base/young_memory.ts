import { setFlagsFromString } from 'node:v8';

/** The half of the memory for new objects of each thread that starts later, MiB. */
const SEMI_SPACE_MIB = 8;

/**
 * Keeps the memory for new objects small in all threads of this process. Without a limit Node's V8 lets it grow to 128
 * MiB in each, and keeps it. The main thread of a service has few objects but passes on large buffers.
 */
export function limitYoungMemory(): void {
  setFlagsFromString(`--min-semi-space-size=${SEMI_SPACE_MIB}`);
  setFlagsFromString('--semi-space-growth-factor=1');
}
