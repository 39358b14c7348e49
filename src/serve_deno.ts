/** HTTP under Deno. */
import { type Listener, type ListenOptions, listenError, SHUTDOWN_MS } from './listener.ts';

interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): Promise<void>;
}

interface DenoServeOptions {
  readonly hostname: string;
  readonly port: number;
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
  try {
    const server = Deno.serve({ hostname: host, port, onListen: () => {} }, (request, { remoteAddr }) =>
      fetch(request, remoteAddr.hostname),
    );
    return { port: server.addr.port, close: () => closeGently(server) };
  } catch (error) {
    throw listenError(host, port, error);
  }
}

/** Takes no more connections, and lets running requests finish, for a while. Aborting them then would throw (Deno 2.9.5). */
async function closeGently(server: DenoServer): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const longEnough = new Promise<void>(resolve => {
    timer = setTimeout(resolve, SHUTDOWN_MS);
  });
  await Promise.race([server.shutdown(), longEnough]);
  clearTimeout(timer);
}
