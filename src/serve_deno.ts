/** HTTP under Deno. */
import { type Listener, type ListenOptions, listenError, SHUTDOWN_MS } from './listener.ts';

interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): Promise<void>;
}

interface DenoServeOptions {
  readonly hostname: string;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly onListen: () => void;
}

interface DenoServeInfo {
  readonly remoteAddr: { readonly hostname: string };
}

declare const Deno: {
  serve(options: DenoServeOptions, handler: (request: Request, info: DenoServeInfo) => Promise<Response>): DenoServer;
};

/** @throws Error when the address cannot be listened on */
export async function listen({ fetch, host, port }: ListenOptions): Promise<Listener> {
  const abort = new AbortController();
  try {
    const server = Deno.serve(
      { hostname: host, port, signal: abort.signal, onListen: () => {} },
      (request, { remoteAddr }) => fetch(request, remoteAddr.hostname),
    );
    return { port: server.addr.port, close: () => closeGently(server, abort) };
  } catch (error) {
    throw listenError(host, port, error);
  }
}

/** Takes no more connections, lets running requests finish, and after a while ends what is left. */
async function closeGently(server: DenoServer, abort: AbortController): Promise<void> {
  const force = setTimeout(() => abort.abort(), SHUTDOWN_MS);
  await server.shutdown();
  clearTimeout(force);
}
