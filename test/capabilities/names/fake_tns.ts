/** A server that offers the public files like the TNS, with the faults of real hosts on demand. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { csvOf, zipOf } from './support.ts';

export const BOT = { id: 142_993, name: 'sky "bot" é', apiKey: 'a secret & more' };
const MARKER = 'tns_marker{"tns_id":142993,"type":"bot","name":"sky \\"bot\\" \\u00e9"}';

/** The events that may precede the answer to a request; a number is a status. */
export type Trouble =
  | 'drop'
  | 'truncate'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

interface Served {
  readonly bytes: Buffer;
  readonly etag: string;
}

export class FakeTns {
  readonly #server: Server;
  readonly #files = new Map<string, Served>();
  readonly #troubles = new Map<string, Trouble[]>();
  readonly requests: string[] = [];
  mostAtOnce = 0;
  #atOnce = 0;
  #versions = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<FakeTns> {
    const tns = new FakeTns();
    tns.#server.listen(0, '127.0.0.1');
    await once(tns.#server, 'listening');
    return tns;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/system/files/tns_public_objects/`;
  }

  /** Puts a file there: `''` is the whole one, else the hour. */
  put(hour: string, timeLine: string, records: readonly TnsRecord[]): void {
    // An hour without changes is its time line alone.
    const csv = hour !== '' && records.length === 0 ? `"${timeLine}"\n` : csvOf(timeLine, records);
    this.putBytes(hour, zipOf([{ name: 'tns_public_objects.csv', content: csv }]));
  }

  putBytes(hour: string, bytes: Buffer): void {
    this.#files.set(nameOf(hour), { bytes, etag: `"${++this.#versions}"` });
  }

  remove(hour: string): void {
    this.#files.delete(nameOf(hour));
  }

  /** The next requests for a file meet these faults. */
  trouble(hour: string, ...troubles: readonly Trouble[]): void {
    this.#troubles.set(nameOf(hour), [...troubles]);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
    response.on('close', () => this.#atOnce--);
    let body = '';
    for await (const piece of request) body += piece;
    const name = request.url!.split('/').at(-1)!;
    this.requests.push(name);
    const refuse = (status: number, headers = {}) => response.writeHead(status, headers).end(`refused: ${status}`);
    if (request.method !== 'POST') return void refuse(405);
    if (request.headers['user-agent'] !== MARKER) return void refuse(403);
    if (new URLSearchParams(body).get('api_key') !== BOT.apiKey) return void refuse(401);
    const file = this.#files.get(name);
    const trouble = this.#troubles.get(name)?.shift();
    if (typeof trouble === 'object') return void refuse(trouble.status, trouble.headers);
    if (trouble === 'drop') return void request.socket.destroy();
    if (!file) return void refuse(404);
    const { bytes, etag } = file;
    if (request.headers['if-none-match'] === etag) return void refuse(name.endsWith('s.csv.zip') ? 304 : 412);
    response.writeHead(200, { 'content-type': 'application/zip', 'content-length': bytes.length, etag });
    if (trouble !== 'truncate') return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
  }
}

const nameOf = (hour: string) => `tns_public_objects${hour && `_${hour}`}.csv.zip`;
