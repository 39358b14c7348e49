/**
 * Limits the number and the memory of the areas that streams follow. There is one such limit per process, and one
 * client gets at most half of it.
 */
import { ClientAdmission, type ClientSlots } from '../base/client_admission.ts';
import { ClientRoom } from '../base/client_room.ts';

export interface AreaFollowed {
  readonly client: string;
  /** The memory that the area takes. */
  readonly bytes: number;
}

export class AreaSlots {
  readonly #slots: ClientSlots;
  readonly #room: ClientRoom;
  readonly #leave = new Map<number, () => void>();
  #count = 0;

  constructor(slots: number, maxBytes: number) {
    const isFull = 'too many streams, or too many of this client, follow an area';
    this.#slots = new ClientAdmission().slots({ slots, isFull });
    const isLarge = 'the areas of all streams, or those of this client, take all the memory for such areas';
    this.#room = new ClientRoom({ maxBytes, isFull: isLarge, isHalf: isLarge });
  }

  /** @throws Unavailable */
  enter({ client, bytes }: AreaFollowed): number {
    const leave = this.#slots.enterNow(client);
    try {
      this.#room.take(client, bytes);
    } catch (error) {
      leave();
      throw error;
    }
    const slot = ++this.#count;
    this.#leave.set(slot, () => {
      leave();
      this.#room.free(client, bytes);
    });
    return slot;
  }

  leave(slot: number): void {
    this.#leave.get(slot)?.();
    this.#leave.delete(slot);
  }
}
