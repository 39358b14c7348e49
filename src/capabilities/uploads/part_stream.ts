/** A body that is produced in parts. Each part is made when the client has read the previous one. */
import { type FileHandle, open } from 'node:fs/promises';
import type { StreamClient, StreamedBody } from '../../core/answers/body.ts';

export class PartStream implements StreamedBody {
  readonly #next: () => Promise<Uint8Array | null>;
  readonly #end: () => void;
  #client: StreamClient | undefined;
  #isGone = false;
  #isAsking = false;

  /**
   * @param next returns the next part; null at the end
   * @param end called if the client disconnects, or a part fails
   */
  constructor(next: () => Promise<Uint8Array | null>, end: () => void) {
    this.#next = next;
    this.#end = end;
  }

  begin(client: StreamClient): void {
    this.#client = client;
    void this.#send();
  }

  written(): void {
    void this.#send();
  }

  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#end();
  }

  async #send(): Promise<void> {
    if (this.#isGone || this.#isAsking || !this.#client) return;
    this.#isAsking = true;
    try {
      const part = await this.#next();
      this.#isAsking = false;
      if (this.#isGone) return;
      if (part) this.#client.write(part as Uint8Array<ArrayBuffer>);
      else this.#client.end();
    } catch {
      this.#client.fail();
      this.gone();
    }
  }
}

const FILE_PART_BYTES = 1 << 18;
const NOTHING = { bytesRead: 0, buffer: new Uint8Array() };

/**
 * Streams the current bytes of a file, which may be deleted meanwhile.
 * @param onEnd called once, when all bytes were read or the client has disconnected
 */
export async function fileStream(path: string, onEnd: () => void = () => {}): Promise<PartStream> {
  let file: FileHandle | undefined;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    void file?.close().catch(() => {});
    onEnd();
  };
  try {
    const opened = (file = await open(path, 'r'));
    let left = (await opened.stat()).size;
    const next = async () => {
      // Most answers are small. A large buffer for each would make the garbage collector run every few requests.
      const part = Math.min(left, FILE_PART_BYTES);
      const { bytesRead, buffer } = part > 0 ? await opened.read(new Uint8Array(part)) : NOTHING;
      left -= bytesRead;
      if (bytesRead > 0) return buffer.subarray(0, bytesRead);
      end();
      return null;
    };
    return new PartStream(next, end);
  } catch (error) {
    end();
    throw error;
  }
}
