/** Disk space or memory that clients share. One client gets at most half of it. */
import { Unavailable } from './refusal.ts';

interface ClientRoomOptions {
  readonly maxBytes: number;
  /** Completes "Cannot answer because ..." if the whole space, or this client's half, is used up. */
  readonly isFull: string;
  readonly isHalf: string;
}

export class ClientRoom {
  readonly #options: ClientRoomOptions;
  #bytes = 0;
  readonly #bytesOf = new Map<string, number>();

  constructor(options: ClientRoomOptions) {
    this.#options = options;
  }

  /** The number of bytes in use. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of bytes that a client may still take. */
  left(client: string): number {
    const { maxBytes } = this.#options;
    return Math.min(maxBytes - this.#bytes, maxBytes / 2 - (this.#bytesOf.get(client) ?? 0));
  }

  /** @throws Unavailable */
  take(client: string, bytes: number): void {
    const { maxBytes, isFull, isHalf } = this.#options;
    const own = (this.#bytesOf.get(client) ?? 0) + bytes;
    if (this.#bytes + bytes > maxBytes) throw new Unavailable(isFull);
    if (own > maxBytes / 2) throw new Unavailable(isHalf);
    this.#bytes += bytes;
    this.#bytesOf.set(client, own);
  }

  free(client: string, bytes: number): void {
    this.#bytes -= bytes;
    const own = this.#bytesOf.get(client)! - bytes;
    if (own === 0) this.#bytesOf.delete(client);
    else this.#bytesOf.set(client, own);
  }
}
