/** A file host that answers range requests, and fails, like real hosts. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/**
 * `drop`: the connection ends without an answer; `truncate`: within the body; `short`: the
 * body ends early, as if that were all; `slow`: the answer comes late; `error`: 503;
 * `busy`: 429 with Retry-After; `missing`: 404 of a file that is there; `whole`: 200 with the whole file; `other range`:
 * 206 of bytes that were not asked for; `encoded`: Content-Encoding gzip; `forbidden`: 403; `silent`: no answer ever.
 */
export type Fault =
  | 'drop'
  | 'truncate'
  | 'short'
  | 'slow'
  | 'error'
  | 'busy'
  | 'missing'
  | 'whole'
  | 'other range'
  | 'encoded'
  | 'forbidden'
  | 'silent';

export interface Asked {
  readonly path: string;
  readonly range: string | undefined;
  readonly conditional: boolean;
}

export interface RangeServer {
  readonly url: string;
  /** The requests, in order; tests empty the list. */
  readonly asked: Asked[];
  /** Bytes of bodies sent. */
  bytes: number;
  /** The fault of the next answer; called once per request. */
  fault: (asked: Asked, number: number) => Fault | undefined;
  /** The headers that state the version of a file. */
  validators: { etag: boolean; lastModified: boolean };
  /** The target of redirects; undefined for none. */
  redirect: (path: string) => string | undefined;
  /** How long each answer takes at least, like one of a distant host. */
  delayMs: number;
  /** The status for a file that does not exist: Amazon S3 answers 403 where the bucket may not be listed. */
  missing: 404 | 403;
  /** Whether the host supports `bytes=-N`. */
  suffixRanges: boolean;
  close(): Promise<void>;
}

const SLOW_MS = 300;

/** Serves the files below a directory on a free port. Close it when done. */
export async function serveFiles(directory: string): Promise<RangeServer> {
  const http = createServer((request, response) => {
    answer(server, directory, request, response).catch(error => response.destroy(error));
  });
  const server = {
    url: '',
    asked: [] as Asked[],
    bytes: 0,
    fault: (): Fault | undefined => undefined,
    validators: { etag: true, lastModified: true },
    redirect: (): string | undefined => undefined,
    delayMs: 0,
    missing: 404 as 404 | 403,
    suffixRanges: true,
    close: () =>
      new Promise<void>(resolve => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return server;
}

async function answer(
  server: RangeServer,
  directory: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = decodeURIComponent(new URL(request.url!, 'http://host').pathname);
  const { range } = request.headers;
  const conditional = 'if-none-match' in request.headers || 'if-modified-since' in request.headers;
  const asked = { path, range, conditional };
  server.asked.push(asked);
  if (server.delayMs > 0) await new Promise(resolve => setTimeout(resolve, server.delayMs));
  const target = server.redirect(path);
  if (target !== undefined) return refuse(response, 302, { location: target });
  const fault = server.fault(asked, server.asked.length);
  if (fault === 'silent') return;
  if (fault === 'drop') return void response.destroy();
  if (fault === 'slow') await new Promise(resolve => setTimeout(resolve, SLOW_MS));
  if (fault === 'error') return refuse(response, 503);
  if (fault === 'busy') return refuse(response, 429, { 'retry-after': '1' });
  if (fault === 'forbidden') return refuse(response, 403);
  const file = join(directory, path);
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile();
  if (!isFile || fault === 'missing') return refuse(response, server.missing);
  send(server, file, request, response, fault);
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  const body = `<html>${status}</html>`;
  response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

function send(
  server: RangeServer,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): void {
  const descriptor = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(descriptor);
    const etag = `"${size.toString(16)}-${mtimeMs.toString(16)}"`;
    const headers: Record<string, string> = { 'accept-ranges': 'bytes' };
    if (server.validators.etag) headers.etag = etag;
    if (server.validators.lastModified) headers['last-modified'] = new Date(mtimeMs).toUTCString();
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end();
    const found = fault === 'whole' ? [0, size] : rangeOf(request.headers.range, size, server.suffixRanges);
    if (!found) {
      refuse(response, 416, { 'content-range': `bytes */${size}` });
      return;
    }
    const shift = fault === 'other range' && found[0]! > 0 ? 1 : 0;
    const [start, end] = [found[0]! - shift, found[1]! - shift];
    const isPart = request.headers.range !== undefined && fault !== 'whole';
    if (isPart) headers['content-range'] = `bytes ${start}-${end - 1}/${size}`;
    if (fault === 'encoded') headers['content-encoding'] = 'gzip';
    const bytes = new Uint8Array(end - start);
    readSync(descriptor, bytes, 0, bytes.length, start);
    if (fault !== 'short') headers['content-length'] = `${bytes.length}`;
    response.writeHead(isPart ? 206 : 200, headers);
    server.bytes += bytes.length;
    if (fault === 'short') return void response.end(bytes.subarray(0, bytes.length >> 1));
    if (fault !== 'truncate') return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
  } finally {
    closeSync(descriptor);
  }
}

/** [start, end), or undefined if there is no such range. */
function rangeOf(range: string | undefined, size: number, suffixRanges: boolean): [number, number] | undefined {
  if (range === undefined) return [0, size];
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (first === '')
    return last !== '' && suffixRanges && size > 0 ? [Math.max(0, size - Number(last)), size] : undefined;
  return Number(first) < size ? [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)] : undefined;
}

/** Every Nth request fails, with the `faults` in turn. */
export function everyNth(n: number, faults: readonly Fault[]): RangeServer['fault'] {
  return (_, number) => (number % n === 0 ? faults[(number / n) % faults.length] : undefined);
}
