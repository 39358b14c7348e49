/** The work of a thread that serves all capabilities. */
import { CAPABILITIES, OUTSIDE } from './capabilities.ts';
import { loadApi } from './core/loaded.ts';
import type { Tasks } from './core/pool/pool.ts';
import { runServer, type ServeTask } from './core/server/server_thread.ts';

export const tasks: Tasks<ServeTask> = { serve };

async function serve(task: ServeTask): Promise<undefined> {
  try {
    // A module from outside may have changed since the main thread loaded it.
    if (OUTSIDE instanceof Error) throw OUTSIDE;
    return await runServer(task, await loadApi(CAPABILITIES));
  } finally {
    // The main thread waits for this port to close.
    task.link.close();
  }
}
