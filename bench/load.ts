/**
 * Generates load on an HTTP server: with wrk if it is installed, else with undici in this process, which itself uses
 * more of the machine.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { quantile } from './report.ts';

export interface Load {
  readonly url: string;
  /** A file of requests, sent in turn: lines `GET PATH` or `POST PATH BODY`. */
  readonly file: string;
  readonly connections: number;
  readonly seconds: number;
  /** The mean pause of each connection before each request, milliseconds; 0 by default: no pause. */
  readonly delayMs?: number;
}

export interface Loaded {
  readonly requests: number;
  readonly seconds: number;
  /** The bytes of answers, with their headers. */
  readonly bytes: number;
  /** The number of requests that were not answered with 200. */
  readonly failed: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
}

const script = fileURLToPath(new URL('./load.lua', import.meta.url));

function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' });
  } catch (error) {
    // wrk prints its version and exits with 1.
    return (error as { code?: string }).code !== 'ENOENT';
  }
  return true;
}

const wrk = hasWrk();
export const loadedBy = wrk ? 'wrk' : 'undici';

export async function load(options: Load): Promise<Loaded> {
  const loaded = await (wrk ? loadByWrk(options) : loadByUndici(options));
  if (loaded.failed > 0) throw new Error(`${loaded.failed} of ${loaded.requests} requests to ${options.url} failed`);
  return loaded;
}

async function loadByWrk({ url, file, connections, seconds, delayMs = 0 }: Load): Promise<Loaded> {
  const size = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'];
  const { stdout } = await promisify(execFile)('wrk', [...size, '-s', script, url, '--', file, `${delayMs}`]);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

/** The bytes of a status line and headers in the form in which they were sent. */
function headBytes(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  return Object.entries(headers).reduce(
    (sum, [name, value]) => sum + `${name}: ${value}\r\n`.length,
    'HTTP/1.1 200 OK\r\n\r\n'.length,
  );
}

async function loadByUndici({ url, file, connections, seconds, delayMs = 0 }: Load): Promise<Loaded> {
  const requests = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => {
      const [, method, path, body] = /^(\S+) (\S+)(?: (.+))?$/.exec(line)!;
      const headers = body ? { 'Content-Type': 'application/json' } : {};
      return { method: method as 'GET' | 'POST', path: path!, body: body ?? null, headers };
    });
  const pool = new Pool(url, { connections, pipelining: 1 });
  const start = performance.now();
  const latencies: number[] = [];
  let next = 0;
  let bytes = 0;
  let failed = 0;
  const client = async () => {
    while (performance.now() < start + seconds * 1000) {
      if (delayMs > 0) await sleep(2 * delayMs * Math.random());
      const sent = performance.now();
      const { statusCode, headers, body } = await pool.request(requests[next++ % requests.length]!);
      bytes += headBytes(headers) + (await body.arrayBuffer()).byteLength;
      latencies.push(performance.now() - sent);
      if (statusCode !== 200) failed++;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  const elapsed = (performance.now() - start) / 1000;
  await pool.close();
  const [p50_ms, p99_ms, max_ms] = [0.5, 0.99, 1].map(q => quantile(latencies, q)) as [number, number, number];
  return { requests: latencies.length, seconds: elapsed, bytes, failed, p50_ms, p99_ms, max_ms };
}
