/** The areas that the streams of a thread follow, in one index. Streams with equal areas share an entry. */
import { AreaIndex, type Region } from '@nearsky/sky-index/areas';
import type { SkyPosition } from '../../core/store/types.ts';

/** An area that streams follow. */
export interface FollowedArea {
  /** Equal for equal areas. */
  readonly digest: string;
  readonly region: Region;
}

export class FollowedAreas {
  readonly #index = new AreaIndex<string>();
  /** The number of streams that follow each area. */
  readonly #streams = new Map<string, number>();
  #version = 0;

  /** A version, which changes when an area is added. */
  get version(): number {
    return this.#version;
  }

  add({ digest, region }: FollowedArea): void {
    const streams = this.#streams.get(digest) ?? 0;
    this.#streams.set(digest, streams + 1);
    if (streams > 0) return;
    this.#index.add(digest, region);
    this.#version++;
  }

  delete({ digest }: FollowedArea): void {
    const streams = this.#streams.get(digest)! - 1;
    if (streams > 0) return void this.#streams.set(digest, streams);
    this.#streams.delete(digest);
    this.#index.delete(digest);
  }

  /**
   * Finds the areas that contain each position: for each area, by its digest, the indexes of the positions. A missing
   * position is in no area.
   */
  placesOf(positions: readonly (SkyPosition | null)[]): ReadonlyMap<string, readonly number[]> {
    const places = new Map<string, number[]>();
    if (this.#index.size === 0) return places;
    for (const [i, position] of positions.entries()) {
      if (!position) continue;
      for (const digest of this.#index.at(position.ra, position.dec)) {
        const known = places.get(digest);
        if (known) known.push(i);
        else places.set(digest, [i]);
      }
    }
    return places;
  }
}
