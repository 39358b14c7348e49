/** The statements of a response's headers about the table; between threads they are put before the table. */
import { type ByteSink, latin1 } from '../base/bytes.ts';
import { toJson } from '../base/json_text.ts';

export interface TableHead {
  /** `lookup`, `cone` or `recent`. */
  readonly name: string;
  readonly rows: number;
  /** For a cone: the number of objects inside the radius, on all pages. */
  readonly total: number | null;
  /** For a walk: the cursor of the next page. */
  readonly nextCursor: string | null;
  /** For a walk: the time of its first page, as answers write it. */
  readonly asOf: string | null;
  /** For a lookup: whether a limit cut the objects of some input. */
  readonly truncated: boolean;
}

const LENGTH_BYTES = 4;

export function writeTableHead(out: ByteSink, head: TableHead): void {
  const text = toJson(head);
  const length = new DataView(new ArrayBuffer(LENGTH_BYTES));
  length.setUint32(0, text.length);
  out.fragment(new Uint8Array(length.buffer));
  out.longText(text);
}

/** The head and the table, from the bytes that a thread has written. */
export function splitTable(bytes: Uint8Array<ArrayBuffer>): { head: TableHead; table: Uint8Array<ArrayBuffer> } {
  const { buffer, byteOffset } = bytes;
  const end = LENGTH_BYTES + new DataView(buffer, byteOffset).getUint32(0);
  return { head: JSON.parse(latin1(bytes.subarray(LENGTH_BYTES, end))), table: bytes.subarray(end) };
}
