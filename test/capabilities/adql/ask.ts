/** Queries of an app over HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Running } from '../../core/http/support.ts';

/** A form's answer; while the engine cannot answer, for example because it was ended, it is asked again. */
export async function ask({ app }: Pick<Running, 'app'>, query: string, more: Readonly<Record<string, string>> = {}) {
  for (;;) {
    const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, ...more }).toString();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await app.get('/vo/tap/sync', { method: 'POST', headers, body });
    if (answer.status !== 503) return answer;
    await sleep(200);
  }
}

export async function csv(running: Running, query: string): Promise<string[][]> {
  const { text, status } = await ask(running, query, { RESPONSEFORMAT: 'csv' });
  assert.is(status, 200, text);
  const lines = text.trimEnd().split('\n').slice(1);
  return lines.map(line => line.split(','));
}
