/** A service with the engine of TAP, queries of its clients, and the process of the engine. */
import { spawnSync } from 'node:child_process';
import * as assert from 'uvu/assert';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { eventually, type Running, startApp } from '../../core/http/support.ts';

export const MEMORY_MIB = 160;
/** The client whose small questions are answered meanwhile. */
export const OTHER = '192.0.2.2';

export async function startEngine(seconds: number, settings: Record<string, string> = {}): Promise<Running> {
  const running = await startApp(world => storeObjects(world, trueObjects(400)), {
    TAP_QUERY_SECONDS: `${seconds}`,
    TAP_MEMORY_MIB: `${MEMORY_MIB}`,
    ...settings,
  });
  await eventually('the tables', () =>
    small(running)
      .then(() => true)
      .catch(() => undefined),
  );
  return running;
}

export function ask({ app }: Running, query: string, client: string, init: RequestInit = {}) {
  const headers = { 'X-Forwarded-For': client };
  const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, FORMAT: 'csv' });
  return app.get('/vo/tap/sync', { method: 'POST', headers, body, ...init });
}

export async function small(running: Running): Promise<void> {
  const { status, text } = await ask(running, 'SELECT TOP 1 ra FROM objects', OTHER);
  assert.is(status, 200, text);
  assert.match(text, /^ra\n\d/);
}

/** The process of the engine, and the memory that is its own, MiB. */
export function engine(): { pid: number; mib: number } | undefined {
  const script = `for status in $(grep -l "^PPid:[[:space:]]${process.pid}$" /proc/[0-9]*/status 2>/dev/null); do
    process=$(dirname $status); grep -q src/capabilities/adql/[e]ngine_process $process/cmdline && echo $(basename $process) $(grep RssAnon $status); done`;
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  const [, pid, kib] = /^(\d+) RssAnon:\s+(\d+) kB/m.exec(stdout) ?? [];
  return pid ? { pid: Number(pid), mib: Number(kib) / 1024 } : undefined;
}

export const THREE = 'objects AS a, objects AS b, objects AS c';
/** It takes longer than a query may, and little memory. */
export const SLOW = `SELECT COUNT(*) FROM ${THREE}, objects AS d WHERE a.ra * b.ra * c.ra * d.ra < -5`;
/** It takes a second or so, and little memory. */
export const LONG = `SELECT COUNT(*) FROM ${THREE} WHERE a.ra + b.ra + c.ra < -5`;
