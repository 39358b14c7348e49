/** Requests byte by byte, as no client library would send them. */
import { connect, type Socket } from 'node:net';

/** The client that attacks. */
export const ATTACKER = '192.0.2.1';

export interface Sent {
  /** 0 where the connection ended without an answer. */
  readonly status: number;
  /** The beginning of the answer, with its headers. */
  readonly text: string;
}

const MOST_KEPT = 1 << 16;
const LIMIT_MS = 90_000;

/** A connection and what came in over it. */
export class Wire {
  readonly socket: Socket;
  readonly ended: Promise<Sent>;
  #text = '';

  /** @param isRead whether what comes in is read */
  constructor(url: string, isRead = true) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.ended = new Promise(resolve => {
      const timer = setTimeout(() => this.socket.destroy(), LIMIT_MS);
      this.socket
        .on('error', () => {})
        .on('close', () => {
          clearTimeout(timer);
          resolve(this.sent);
        });
    });
    if (!isRead) this.socket.pause();
    else
      this.socket.on('data', data => {
        if (this.#text.length < MOST_KEPT) this.#text += data.toString('latin1');
      });
  }

  get sent(): Sent {
    return { status: Number(/^HTTP\/1\.1 (?!100)(\d{3})/m.exec(this.#text)?.[1] ?? 0), text: this.#text };
  }

  /** Resolves when the system has taken the bytes, or the connection has ended. */
  write(bytes: string | Uint8Array): Promise<void> {
    if (this.socket.destroyed) return Promise.resolve();
    return new Promise(resolve => {
      this.socket.once('close', resolve);
      this.socket.write(bytes, () => {
        this.socket.off('close', resolve);
        resolve();
      });
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

export interface Message {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly client?: string;
}

/** The lines before the body of a message. */
export function headOf(path: string, { method, headers = {}, body, client = ATTACKER }: Message = {}): string {
  const length = body === undefined ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` };
  const all = { Host: 'x', Connection: 'close', 'X-Forwarded-For': client, ...length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method ?? (body === undefined ? 'GET' : 'POST')} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends a message and reads the answer to its end. */
export async function send(url: string, path: string, message: Message = {}): Promise<Sent> {
  const wire = new Wire(url);
  await wire.write(headOf(path, message));
  if (message.body !== undefined) await wire.write(message.body);
  return await wire.ended;
}
