/**
 * The other client, as a process of its own: sends small requests in turn without a pause. For each line that it reads,
 * it prints its observations since the previous line as JSON, once they cover some rounds.
 *
 *   node test/neighbour/neighbour.ts URL
 */
import { createInterface } from 'node:readline';
import { request } from 'undici';

/** The observations about one kind of request. */
export interface Seen {
  readonly answers: number;
  readonly p99Ms: number;
  /** The answers that were not what the question has on an idle service, the first few of them. */
  readonly errors: readonly string[];
}

export const KINDS = ['object', 'cone', 'lookup', 'table', 'tap'] as const;
export type Report = Readonly<Record<(typeof KINDS)[number], Seen>>;

interface Question {
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
  readonly holds: RegExp;
}

const ID = '313637935709683761';
const TEN = Array.from({ length: 10 }, (_, i) => `{"kind":"id","diaObjectId":"${BigInt(ID) + BigInt(i)}"}`);
const ROWS = Array.from({ length: 10 }, (_, i) => `${221.596 + i},-40\n`);
const QUERY = new URLSearchParams({ LANG: 'ADQL', FORMAT: 'csv', QUERY: 'SELECT TOP 1 diaObjectId FROM objects' });

const QUESTIONS: Readonly<Record<(typeof KINDS)[number], Question>> = {
  object: { path: `/api/objects/${ID}`, holds: new RegExp(ID) },
  cone: { path: '/api/cone?ra=221.596&dec=-40&radius_arcsec=60', holds: /"results"/ },
  lookup: {
    path: '/api/lookup',
    type: 'application/json',
    body: `{"inputs":[${TEN.join()}]}`,
    holds: new RegExp(ID),
  },
  table: {
    path: '/api/crossmatch?format=csv',
    type: 'text/csv',
    body: `ra,dec\n${ROWS.join('')}`,
    holds: /^221.596,/m,
  },
  tap: { path: '/vo/tap/sync', type: 'application/x-www-form-urlencoded', body: `${QUERY}`, holds: /^diaObjectId\n\d/ },
};

const MAX_ERRORS = 3;
/** The minimum number of rounds in a report. */
const LEAST_ROUNDS = 4;

class Times {
  #times: number[] = [];
  #errors: string[] = [];

  add(milliseconds: number, error: string | undefined): void {
    this.#times.push(milliseconds);
    if (error !== undefined && this.#errors.length < MAX_ERRORS) this.#errors.push(error);
  }

  take(): Seen {
    const sorted = this.#times.sort((a, b) => a - b);
    const seen = {
      answers: sorted.length,
      p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? 0,
      errors: this.#errors,
    };
    this.#times = [];
    this.#errors = [];
    return seen;
  }
}

async function ask(url: string, { path, type, body, holds }: Question): Promise<string | undefined> {
  try {
    const headers = { 'X-Forwarded-For': '192.0.2.2', ...(type && { 'Content-Type': type }) };
    const answer = await request(url + path, { method: body ? 'POST' : 'GET', headers, body: body ?? null });
    const text = await answer.body.text();
    return answer.statusCode === 200 && holds.test(text)
      ? undefined
      : `${path}: ${answer.statusCode} ${text.slice(0, 600)}`;
  } catch (error) {
    return `${path}: ${error}`;
  }
}

async function main(url: string): Promise<void> {
  const times = Object.fromEntries(KINDS.map(kind => [kind, new Times()])) as Record<(typeof KINDS)[number], Times>;
  const lines = createInterface({ input: process.stdin });
  let wanted = 0;
  lines.on('line', () => wanted++);
  lines.on('close', () => process.exit());
  for (let rounds = 1; ; rounds++) {
    for (const kind of KINDS) {
      const begunMs = performance.now();
      const error = await ask(url, QUESTIONS[kind]);
      times[kind].add(performance.now() - begunMs, error);
    }
    if (wanted === 0 || rounds < LEAST_ROUNDS) continue;
    console.log(JSON.stringify(Object.fromEntries(KINDS.map(kind => [kind, times[kind].take()]))));
    wanted--;
    rounds = 0;
  }
}

const [, , url] = process.argv;
if (url?.startsWith('http')) await main(url);
