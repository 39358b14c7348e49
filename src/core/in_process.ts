/** Answers the requests of a command in its own process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limited, logToStderr } from './base/log.ts';
import { answered, type InProcess, requestOf } from './cli/asking.ts';
import type { Capability } from './host.ts';
import { loadApi, loadParts } from './loaded.ts';
import { openStore } from './store/store.ts';

const READY_POLL_MS = 5;
/** Log events that are irrelevant to someone who asks a single question. */
const QUIET_EVENTS: ReadonlySet<string> = new Set(['index_ready', 'index_loaded', 'slow_request']);

/** @throws Error if the data directory cannot be read */
export const inProcess =
  (capabilities: readonly Capability[]): InProcess =>
  async (config, use, onProgress) => {
    // Opening the store first gives a clear error if the data cannot be read.
    await using store = openStore(config.NEARSKY_DATA, 'read');
    const log = limited((event, fields) => {
      if (!QUIET_EVENTS.has(event)) logToStderr(event, fields);
    });
    // A command that asks a service does not load one.
    const { createApp } = await import('./app.ts');
    const [api, parts] = await Promise.all([loadApi(capabilities), loadParts(capabilities)]);
    const app = createApp({ config, api, parts, log, onProgress });
    try {
      while (!app.ready) await sleep(READY_POLL_MS);
      return await use(async asked => {
        const answer = await answered(await app.fetch(requestOf(asked)), asked);
        store.requireUndisturbed();
        return answer;
      });
    } finally {
      await app.close();
    }
  };
