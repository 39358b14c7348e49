/** Reads the headers of FITS files (FITS standard 4.0, section 4), and finds the tables of a file by their headers. */
import { BLOCK, CARD, wholeBlocks } from './write_header.ts';

/** No header is longer than this many blocks (2.9 MB). */
const MAX_HEADER_BLOCKS = 1000;
/** The maximum number of axes, and of columns of a table, by the standard. */
const MAX_COUNT = 999;
/** The maximum length of a value in a message. */
const MAX_SHOWN = 80;

/** A file that is damaged, or not a FITS file. The message gives the reason as a clause: "it is not a FITS file". */
export class FitsError extends Error {
  override name = 'FitsError';
}

/**
 * A card's value. An integer beyond 2^53 is a bigint. A value that is not a quoted string, a number or a logical is its
 * own text.
 */
export type CardValue = string | number | bigint | boolean;

export class FitsHeader {
  readonly #values = new Map<string, CardValue>();
  /** The contents of the COMMENT cards in their order, without blanks at the end. */
  readonly comments: string[] = [];
  /** The string that a CONTINUE card continues, without its `&`. */
  #open: { readonly keyword: string; readonly text: string } | undefined;

  /** Takes the next card, 80 characters. Of two cards with one keyword, the first counts. */
  add(card: string): void {
    const keyword = card.slice(0, 8).trimEnd();
    const open = this.#open;
    this.#open = undefined;
    if (keyword === 'COMMENT') this.comments.push(card.slice(8).trimEnd());
    else if (keyword === 'CONTINUE' && open) this.#continue(open.keyword, open.text, cardValue(card.slice(8)));
    else if (card.slice(8, 10) === '= ' && !this.#values.has(keyword))
      this.#continue(keyword, '', cardValue(card.slice(10)));
  }

  #continue(keyword: string, start: string, value: CardValue | undefined): void {
    if (typeof value !== 'string') {
      if (value !== undefined && start === '') this.#values.set(keyword, value);
      return;
    }
    this.#values.set(keyword, start + value);
    if (value.endsWith('&')) this.#open = { keyword, text: start + value.slice(0, -1) };
  }

  get(keyword: string): CardValue | undefined {
    return this.#values.get(keyword);
  }

  /** The value as text; undefined if there is none. */
  text(keyword: string): string | undefined {
    return this.#values.get(keyword)?.toString();
  }

  /** @throws FitsError if the value is not a number */
  number(keyword: string, otherwise: number): number | bigint {
    const value = this.#values.get(keyword) ?? otherwise;
    if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return value;
    throw new FitsError(`${keyword} must be a number (${shown(value)} was found)`);
  }

  /** An integer of 0 or more; 0 where the keyword is missing. @throws FitsError */
  count(keyword: string, most = Number.MAX_SAFE_INTEGER): number {
    const value = this.#values.get(keyword) ?? 0;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
    throw new FitsError(`${keyword} must be an integer from 0 to ${most} (${shown(value)} was found)`);
  }
}

/** A value for a message; CONTINUE cards can make it megabytes. */
export function shown(value: CardValue): string {
  return `${value}`.slice(0, MAX_SHOWN);
}

/** The value of a card's text after the `=`, without the comment after `/`. Undefined if there is no value. */
function cardValue(text: string): CardValue | undefined {
  const quoted = /^\s*'((?:[^']|'')*)'/.exec(text);
  if (quoted) return quoted[1]!.replaceAll("''", "'").trimEnd();
  const bare = text.split('/', 1)[0]!.trim();
  if (bare === '') return undefined;
  if (bare === 'T' || bare === 'F') return bare === 'T';
  if (/^[+-]?\d+$/.test(bare)) {
    const number = Number(bare);
    return Number.isSafeInteger(number) ? number : BigInt(bare.replace('+', ''));
  }
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[ED][+-]?\d+)?$/i.test(bare) ? Number(bare.replace(/D/i, 'E')) : bare;
}

/** A header, and the position of its data in bytes from the start of the file. */
export interface Hdu {
  readonly header: FitsHeader;
  readonly dataStart: number;
  /** The length of the data, without the padding of the last block. */
  readonly dataBytes: number;
}

/** A range of bytes: `start` inclusive, `end` exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the first wanted header. It yields the byte ranges that it needs, which ascend and do not overlap, and receives
 * their bytes, or fewer at the end of the file.
 * @returns undefined if the file has no such header
 * @throws FitsError
 */
export function* findHdu(isWanted: (header: FitsHeader) => boolean): Generator<ByteRange, Hdu | undefined, Uint8Array> {
  for (let start = 0; ; ) {
    const header = new FitsHeader();
    const end = yield* readHeader(header, start);
    if (end === undefined) return undefined;
    const dataBytes = dataBytesOf(header);
    if (isWanted(header)) return { header, dataStart: end, dataBytes };
    start = end + wholeBlocks(dataBytes);
  }
}

/** Fills a header. Returns the offset after it, or undefined if the file ends at its start. */
function* readHeader(header: FitsHeader, start: number): Generator<ByteRange, number | undefined, Uint8Array> {
  for (let at = start; at < start + MAX_HEADER_BLOCKS * BLOCK; at += BLOCK) {
    const bytes = yield { start: at, end: at + BLOCK };
    if (at === start && start > 0 && bytes.length === 0) return undefined;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    if (at === 0 && !isFits(bytes)) throw new FitsError('it is no FITS file');
    for (let card = 0; card + CARD <= text.length; card += CARD) {
      if (text.slice(card, card + 8).trimEnd() === 'END') return at + BLOCK;
      header.add(text.slice(card, card + CARD));
    }
    if (bytes.length < BLOCK) break;
  }
  throw new FitsError(`one of its headers does not end within the file and ${MAX_HEADER_BLOCKS} blocks`);
}

/** Whether bytes begin like a FITS file. */
export function isFits(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 9)).toString('latin1') === 'SIMPLE  =';
}

/** The size of the data in bytes (FITS standard 4.0, section 4.4.1). */
function dataBytesOf(header: FitsHeader): number {
  const axes = header.count('NAXIS', MAX_COUNT);
  if (axes === 0) return 0;
  const lengths = Array.from({ length: axes }, (_, i) => header.count(`NAXIS${i + 1}`));
  const isGroups = lengths[0] === 0 && header.get('GROUPS') === true;
  const values = (isGroups ? lengths.slice(1) : lengths).reduce((product, each) => product * each, 1);
  const groups = header.get('GCOUNT') === undefined ? 1 : header.count('GCOUNT');
  const bytes = (Math.abs(Number(header.number('BITPIX', 8))) / 8) * groups * (header.count('PCOUNT') + values);
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new FitsError(`one of its headers gives its data ${bytes} bytes`);
}

/** Like `findHdu`, for a file in memory. */
export function findHduOf(bytes: Uint8Array, isWanted: (header: FitsHeader) => boolean): Hdu | undefined {
  const search = findHdu(isWanted);
  for (let step = search.next(); ; ) {
    if (step.done) return step.value;
    step = search.next(bytes.subarray(step.value.start, step.value.end));
  }
}
