/** The data for the response headers of a table. Between threads, they are sent before the bytes of the table. */
import { type ByteSink, latin1 } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';

export interface TableHead {
  /** `lookup`, `cone`, `recent`, `sources` and so on. */
  readonly name: string;
  readonly rows: number;
  /** For a cone, the number of objects within the radius, on all pages together. */
  readonly total: number | null;
  /** For a walk, the cursor of the next page. */
  readonly nextCursor: string | null;
  /** For a walk, the time of its first page, as it is written in answers. */
  readonly asOf: string | null;
  /** For a lookup or a list of sources, whether a limit left out rows; null for other tables. */
  readonly truncated: boolean | null;
}

const LENGTH_BYTES = 4;

export function writeTableHead(out: ByteSink, head: TableHead): void {
  const text = toJson(head);
  const length = new DataView(new ArrayBuffer(LENGTH_BYTES));
  length.setUint32(0, text.length);
  out.fragment(new Uint8Array(length.buffer));
  out.longText(text);
}

/** Splits the bytes that a thread has written into head and table. */
export function splitTable(bytes: Uint8Array<ArrayBuffer>): { head: TableHead; table: Uint8Array<ArrayBuffer> } {
  const { buffer, byteOffset } = bytes;
  const end = LENGTH_BYTES + new DataView(buffer, byteOffset).getUint32(0);
  return { head: JSON.parse(latin1(bytes.subarray(LENGTH_BYTES, end))), table: bytes.subarray(end) };
}
