/** Google Pub/Sub over its REST interface: `pull` and `acknowledge` of one subscription. */

import { messageOf } from '../../core/base/error_text.ts';
import type { JsonObject } from '../../core/base/json_reader.ts';
import { readText, TooLongError } from '../../core/base/response_body.ts';
import type { BatchLimits, Connection, Message } from './transport.ts';

export interface PubSubOptions {
  /** Scheme and host. */
  readonly endpoint: string;
  /** `projects/PROJECT/subscriptions/NAME` */
  readonly subscription: string;
  /** The headers with the credentials. They may change between requests. */
  readonly authorization: () => Promise<Readonly<Record<string, string>>>;
  readonly limits: BatchLimits;
}

export interface PubSubMessage extends Message {
  readonly origin: { readonly subscription: string; readonly message_id: string };
  readonly attributes: JsonObject;
  readonly ackId: string;
}

/** The maximum of the service. */
const MAX_MESSAGES = 1000;
/** The service delays its answer for a minute and a half if there is no message. */
const PULL_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Larger than any answer with one message, which has at most 10 MB, plus a third for base64. */
const MIN_ANSWER_BYTES = 16 * 2 ** 20;
const MAX_ERROR_BYTES = 65_536;
const SHOWN_CHARACTERS = 300;

/**
 * Resolves once the service has answered a first pull, whose messages `receive` returns. No other request is allowed to
 * every reader of a subscription.
 */
export async function connectPubSub(options: PubSubOptions, signal: AbortSignal): Promise<Connection<PubSubMessage>> {
  const connection = new PubSubConnection(options, signal);
  await connection.open();
  return connection;
}

interface ReceivedMessage {
  readonly ackId: string;
  readonly message?: {
    readonly data?: string;
    readonly attributes?: JsonObject;
    readonly messageId?: string;
  };
}

class PubSubConnection implements Connection<PubSubMessage> {
  readonly #options: PubSubOptions;
  readonly #signal: AbortSignal;
  readonly #maxAnswerBytes: number;
  #maxMessages: number;
  /** The messages of the first pull, until they are received. */
  #first: readonly PubSubMessage[] = [];

  constructor(options: PubSubOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#maxMessages = Math.min(MAX_MESSAGES, options.limits.messages);
    this.#maxAnswerBytes = Math.max(MIN_ANSWER_BYTES, 2 * options.limits.bytes);
  }

  async open(): Promise<void> {
    this.#first = await this.#pull();
  }

  async receive(): Promise<readonly PubSubMessage[]> {
    let messages = this.#first;
    this.#first = [];
    while (messages.length === 0 && !this.#signal.aborted) messages = await this.#pull();
    return messages;
  }

  /**
   * The messages that are available now; the service does not wait for more. If an answer is too long, fewer messages
   * are requested.
   */
  async #pull(): Promise<PubSubMessage[]> {
    try {
      const text = await this.#post('pull', { maxMessages: this.#maxMessages }, PULL_TIMEOUT_MS, this.#signal);
      const { receivedMessages = [] } = JSON.parse(text) as { receivedMessages?: ReceivedMessage[] };
      return receivedMessages.map(({ ackId, message }) => ({
        ackId,
        bytes: Buffer.from(message?.data ?? '', 'base64'),
        attributes: message?.attributes ?? {},
        origin: { subscription: this.#options.subscription, message_id: message?.messageId ?? '' },
      }));
    } catch (error) {
      if (this.#signal.aborted) return [];
      if (!(error instanceof TooLongError) || this.#maxMessages === 1) throw error;
      this.#maxMessages = Math.ceil(this.#maxMessages / 2);
      return [];
    }
  }

  async acknowledge(messages: readonly PubSubMessage[]): Promise<void> {
    const ackIds = messages.map(({ ackId }) => ackId);
    await this.#post('acknowledge', { ackIds }, REQUEST_TIMEOUT_MS);
  }

  async #post(method: string, body: unknown, timeoutMs: number, signal?: AbortSignal): Promise<string> {
    const { endpoint, subscription, authorization } = this.#options;
    const { request } = await import('undici');
    const authorized = await authorization();
    const response = await request(`${endpoint}/v1/${subscription}:${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorized },
      body: JSON.stringify(body),
      headersTimeout: timeoutMs,
      bodyTimeout: REQUEST_TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    }).catch(error => {
      throw new Error(`Cannot reach Pub/Sub at ${endpoint}: ${messageOf(error)}`, { cause: error });
    });
    if (response.statusCode === 200) return await readText(response, this.#maxAnswerBytes);
    const why = (await readText(response, MAX_ERROR_BYTES)).replace(/\s+/g, ' ').slice(0, SHOWN_CHARACTERS);
    throw new Error(`Pub/Sub answered ${response.statusCode} to ${method} ${subscription}: ${why}`);
  }

  async close(): Promise<void> {}
}

/**
 * The headers of Google's default credentials, either from the key file in GOOGLE_APPLICATION_CREDENTIALS or from the
 * machine. The token of a service account is signed with its key locally, without a request.
 */
export async function googleAuthorization(endpoint: string): Promise<PubSubOptions['authorization']> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth();
  return async () => {
    try {
      return Object.fromEntries(await auth.getRequestHeaders(`${endpoint}/`));
    } catch (error) {
      const file = process.env.GOOGLE_APPLICATION_CREDENTIALS;
      const where = file ? ` in ${file} (GOOGLE_APPLICATION_CREDENTIALS)` : '';
      throw new Error(`Cannot use the credentials of Google${where}: ${messageOf(error)}`, { cause: error });
    }
  };
}
