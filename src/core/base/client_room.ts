/** Disk space or memory that clients share. One client gets at most half of it. */
import { Unavailable } from './refusal.ts';
import { Share } from './share.ts';

interface ClientRoomOptions {
  readonly maxBytes: number;
  /** The bytes that can still be used, if they may be fewer than `maxBytes` promises. */
  readonly spareBytes?: () => number;
  /** Completes "Cannot answer because ..." if the whole space, or this client's half, is used up. */
  readonly isFull: string;
  readonly isHalf: string;
}

export class ClientRoom extends Share {
  readonly #options: ClientRoomOptions;

  constructor(options: ClientRoomOptions) {
    const { maxBytes, spareBytes = () => maxBytes } = options;
    super(held => Math.min(maxBytes, held + spareBytes()));
    this.#options = options;
  }

  /** @throws Unavailable */
  take(client: string, bytes: number): void {
    const { isFull, isHalf } = this.#options;
    if (bytes > this.left(client)) throw new Unavailable(bytes > this.left() ? isFull : isHalf);
    this.add(client, bytes);
  }
}
