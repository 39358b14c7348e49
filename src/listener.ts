/** What `serve_node.ts` and `serve_deno.ts` have in common. */
import { messageOf } from './error_text.ts';

export interface ListenOptions {
  /** `peerAddress`: the IP address that the connection comes from. */
  readonly fetch: (request: Request, peerAddress?: string) => Promise<Response>;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface Listener {
  /** The one that is listened on. */
  readonly port: number;
  /** Stops accepting, and resolves when the requests that are running have been answered. */
  close(): Promise<void>;
}

/** How long a client may take for an answer that is under way when the service stops. */
export const SHUTDOWN_MS = 10_000;

export function listenError(host: string, port: number, error: unknown): Error {
  const why = messageOf(error);
  return new Error(`Cannot listen on ${host}:${port} as ${why}: give another --host or --port`, { cause: error });
}
