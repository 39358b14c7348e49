/** Shared by the tests of the connector: messages to a complete app, and its answers. */
import * as assert from 'uvu/assert';
import { QueryRunner } from '../../../src/core/answers/query_runner.ts';
import { type Json, type Settings, startApp, type TestApp, type World } from '../../core/http/support.ts';
import { LOOKUP } from './world.ts';

/** Settings with which a test only meets the limits that it tests. */
export const UNLIMITED: Settings = {
  MCP_IP_RATE: '1000/s burst 100000',
  MCP_MAX_CONCURRENT: '1000',
  MCP_MAX_CONCURRENT_PER_KEY: '1000',
};

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the connection. */
  readonly peer?: string;
}

export const STATELESS_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export class Connection {
  readonly app: TestApp;
  readonly #path: string;

  constructor(app: TestApp, path = '/mcp') {
    this.app = app;
    this.#path = path;
  }

  async send(init: RequestInit, { headers = {}, peer = '192.0.2.1' }: Sending = {}): Promise<Reply> {
    const request = new Request(`http://nearsky.test${this.#path}`, { ...init, headers });
    const response = await this.app.app.fetch(request, peer);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  /** @param message sent unchanged if it is a string, else as JSON */
  post(message: unknown, { headers = {}, ...sending }: Sending = {}): Promise<Reply> {
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    return this.send(
      { method: 'POST', body },
      { headers: { 'Content-Type': 'application/json', ...headers }, ...sending },
    );
  }

  request(method: string, params?: unknown, sending?: Sending): Promise<Reply> {
    return this.post({ jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) }, sending);
  }

  /** The result of a tool call, its text parsed. */
  async call(
    name: string,
    args?: unknown,
    sending?: Sending,
  ): Promise<{ isError: boolean; text: string; answer: Json }> {
    const { status, text, body } = await this.request('tools/call', { name, arguments: args }, sending);
    if (status !== 200 || !body.result) throw new Error(`calling ${name} gave ${status}: ${text}`);
    const { content, isError } = body.result;
    return { isError, text: content[0].text, answer: JSON.parse(content[0].text) };
  }

  /** The answer of the lookup tool, which must not be an error. */
  async lookup(identifiers: readonly unknown[]): Promise<Json> {
    const { isError, answer } = await this.call(LOOKUP, { identifiers });
    assert.is(isError, false);
    return answer;
  }
}

/** Runs a test with a new app. */
export async function withConnector(
  fill: (world: World) => Promise<void>,
  body: (connection: Connection, world: World) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const { app, world, close } = await startApp(fill, { ...UNLIMITED, ...settings });
  try {
    await body(new Connection(app), world);
  } finally {
    await close();
  }
}

/** Makes a call, and changes the archive between the first and the second query of its answer. */
export async function changedMeanwhile<T>(change: () => Promise<unknown>, call: () => Promise<T>): Promise<T> {
  const { run } = QueryRunner.prototype;
  QueryRunner.prototype.run = async function (...asked) {
    QueryRunner.prototype.run = run;
    const body = await run.apply(this, asked);
    await change();
    return body;
  };
  try {
    return await call();
  } finally {
    QueryRunner.prototype.run = run;
  }
}

export const EMPTY = async () => {};
