/**
 * Limits the number and the memory of the areas that streams follow. There is one such limit per process, and one
 * client gets at most half of it.
 */
import { channel } from '../../core/base/channel.ts';
import { ClientRoom } from '../../core/base/client_room.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { Share } from '../../core/base/share.ts';

export interface AreaFollowed {
  readonly client: string;
  /** The memory that the area takes. */
  readonly bytes: number;
}

/** Takes a slot for an area that a stream follows. @throws Unavailable if there is none */
export const FOLLOW_AREA = channel<AreaFollowed, number>('follow area', { isHeld: true });

export class AreaSlots {
  readonly #maxAreas: number;
  readonly #room: ClientRoom;
  /** The areas by their slots. */
  readonly #areas = new Map<number, AreaFollowed>();
  #count = 0;

  constructor(maxAreas: number, maxBytes: number) {
    this.#maxAreas = maxAreas;
    const isLarge = 'the areas of all streams, or those of this client, take all the memory for such areas';
    this.#room = new ClientRoom({ maxBytes, isFull: isLarge, isHalf: isLarge });
  }

  /** @throws Unavailable */
  enter(area: AreaFollowed): number {
    if (new Share(this.#maxAreas, this.#areas.values()).left(area.client) <= 0)
      throw new Unavailable('too many streams, or too many of this client, follow an area');
    this.#room.take(area.client, area.bytes);
    this.#areas.set(++this.#count, area);
    return this.#count;
  }

  leave(slot: number): void {
    const area = this.#areas.get(slot);
    if (area && this.#areas.delete(slot)) this.#room.free(area.client, area.bytes);
  }
}
