/**
 * Reads areas that are compressed with gzip. A single-order map is read while it is decompressed, so it may be larger
 * than memory.
 */
import { createGunzip } from 'node:zlib';
import { AreaError, invalidArea } from '../../core/base/area_error.ts';
import { MAX_UNPACKED_AREA_BYTES } from '../../core/contract/limits.ts';
import { flatMapAt } from '../catalogs/area_fits.ts';
import type { FlatMap } from '../catalogs/flat_map.ts';

/** The number of bytes that are decompressed at a time. Reading them takes less than a millisecond. */
const PART_BYTES = 65_536;
/** A single-order map is read during decompression if it begins within this many bytes, and is longer than that. */
const HEAD_BYTES = 1 << 20;
/** The minimum number of bytes of rows that are passed to a map at once. */
const ROWS_BYTES = 65_536;

export class PackedArea {
  readonly #gunzip = createGunzip({ chunkSize: PART_BYTES });
  readonly #parts: AsyncIterator<Uint8Array>;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #map: ReturnType<typeof flatMapAt>;

  private constructor(packed: Uint8Array) {
    this.#gunzip.end(packed);
    this.#parts = this.#gunzip[Symbol.asyncIterator]();
  }

  /** Decompresses the beginning. The caller must close the result. @throws AreaError */
  static async open(packed: Uint8Array): Promise<PackedArea> {
    const area = new PackedArea(packed);
    try {
      await area.#hold(HEAD_BYTES);
      if (area.#heldBytes >= HEAD_BYTES) area.#map = flatMapAt(area.#joined());
      return area;
    } catch (error) {
      area.close();
      throw error;
    }
  }

  close(): void {
    this.#gunzip.destroy();
  }

  /** Whether the area is a map for `readMap`. For anything else, call `readAll`. */
  get isMap(): boolean {
    return this.#map !== undefined;
  }

  /** @throws AreaError */
  async readAll(): Promise<Uint8Array> {
    await this.#hold(MAX_UNPACKED_AREA_BYTES + 1);
    if (this.#heldBytes > MAX_UNPACKED_AREA_BYTES) throw damaged();
    return this.#joined();
  }

  /** The map, with all its rows. @throws AreaError */
  async readMap(): Promise<FlatMap> {
    const { map, dataStart } = this.#map!;
    const head = this.#joined();
    this.#held = [];
    const rows = new RowTaker(map);
    rows.add(head.subarray(dataStart));
    for (let part = await this.#next(); part; part = await this.#next()) {
      rows.add(part);
      // The rest is read because the checksum at the end must be verified.
      if (rows.bytesAfter > MAX_UNPACKED_AREA_BYTES) throw damaged();
    }
    rows.end();
    return map;
  }

  async #hold(bytes: number): Promise<void> {
    while (this.#heldBytes < bytes) {
      const part = await this.#next();
      if (!part) return;
      this.#held.push(part);
      this.#heldBytes += part.length;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#parts.next();
      return done ? undefined : value;
    } catch (error) {
      throw error instanceof AreaError ? error : damaged();
    }
  }

  #joined(): Uint8Array {
    return Buffer.concat(this.#held, this.#heldBytes);
  }
}

function damaged(): AreaError {
  return invalidArea(
    `its gzip is damaged, or it has more than ${MAX_UNPACKED_AREA_BYTES} bytes when decompressed, which is only allowed for a map with one NSIDE`,
  );
}

/** Passes whole rows to a map, from chunks of any length. */
class RowTaker {
  readonly #map: FlatMap;
  readonly #block: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  #filled = 0;
  #rowsLeft: number;
  /** The bytes after the last whole row. */
  bytesAfter = 0;

  /** @throws AreaError */
  constructor(map: FlatMap) {
    if (map.width > MAX_UNPACKED_AREA_BYTES) throw damaged();
    this.#map = map;
    this.#rowsLeft = map.rows;
    this.#block = new Uint8Array(map.width * Math.max(1, Math.floor(ROWS_BYTES / map.width)));
    this.#view = new DataView(this.#block.buffer);
  }

  add(part: Uint8Array): void {
    for (let at = 0; at < part.length; ) {
      if (this.#rowsLeft === 0) {
        this.bytesAfter += part.length - at;
        return;
      }
      const wanted = Math.min(this.#block.length, this.#rowsLeft * this.#map.width);
      const taken = part.subarray(at, at + wanted - this.#filled);
      this.#block.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled < wanted) return;
      const rows = wanted / this.#map.width;
      this.#map.take(this.#view, rows);
      this.#rowsLeft -= rows;
      this.#filled = 0;
    }
  }

  /** @throws AreaError if rows are missing */
  end(): void {
    if (this.#rowsLeft > 0) throw invalidArea('the file ends early: send all of it');
  }
}
