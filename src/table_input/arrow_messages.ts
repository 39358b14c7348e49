/**
 * The messages of Arrow, looked at before the library reads them: it believes every count, and would read some damaged
 * tables without an end (Arrow columnar format 1.5, "Serialization and Interprocess Communication").
 */
import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch';
import type { Field } from 'apache-arrow/fb/field';
import { Footer } from 'apache-arrow/fb/footer';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Schema } from 'apache-arrow/fb/schema';
import { ByteBuffer } from 'flatbuffers';
import { checkRows, TableError, type TableLimits } from './input_table.ts';

/** Before the length of a message. */
const CONTINUATION = -1;

/**
 * The stream up to its end.
 * @throws TableError where a message is not whole, or says that it has more than fits into it
 */
export function checkedStream(bytes: Uint8Array, limits: TableLimits): Uint8Array {
  let at = 0;
  while (at + 8 <= bytes.length) {
    const message = messageAt(bytes, at);
    if (!message) return bytes.subarray(0, at + 8);
    if ((message.kind === MessageHeader.Schema) !== (at === 0)) throw unsound();
    checkMessage(message, limits);
    at = message.end;
  }
  if (at === 0) throw unsound();
  return bytes;
}

/** A file ends with its index, the length of that in 4 bytes, and a mark in 6. */
const FILE_END = 10;

/**
 * The file. The library reads its index and what that names, nothing else: Polars writes a first message without its length.
 * @throws TableError where the index is damaged, or a message that it names
 */
export function checkedFile(bytes: Uint8Array, limits: TableLimits): Uint8Array {
  const end = bytes.length - FILE_END;
  const start = end - (end > 0 ? viewOf(bytes).getInt32(end, true) : 0);
  if (!(start > 0 && start < end)) throw unsound();
  const footer = Footer.getRootAsFooter(new CheckedBuffer(bytes.subarray(start, end)));
  checkSchema(footer.schema());
  // A message that the index names many times would be read as often.
  let left = bytes.length;
  let rows = 0;
  for (const [kind, count, blockAt] of [
    [MessageHeader.DictionaryBatch, footer.dictionariesLength(), (i: number) => footer.dictionaries(i)],
    [MessageHeader.RecordBatch, footer.recordBatchesLength(), (i: number) => footer.recordBatches(i)],
  ] as const)
    for (let i = 0; i < count; i++) {
      const at = Number(blockAt(i)!.offset());
      const message = messageAt(bytes, at);
      if (message?.kind !== kind) throw unsound();
      left -= message.end - at;
      if (left < 0) throw unsound();
      rows += checkMessage(message, limits);
    }
  checkRows(rows, limits);
  return bytes;
}

interface FoundMessage {
  readonly kind: MessageHeader;
  readonly message: Message;
  readonly bodyBytes: number;
  /** The offset behind its body. */
  readonly end: number;
}

/** The message at an offset; undefined where the end of a stream is there. */
function messageAt(bytes: Uint8Array, at: number): FoundMessage | undefined {
  if (!(at >= 0 && at + 8 <= bytes.length)) throw unsound();
  const view = viewOf(bytes);
  const start = view.getInt32(at, true) === CONTINUATION ? at + 8 : at + 4;
  const length = view.getInt32(start - 4, true);
  if (length === 0) return undefined;
  if (!(length > 0 && start + length <= bytes.length)) throw unsound();
  const message = Message.getRootAsMessage(new CheckedBuffer(bytes.subarray(start, start + length)));
  const bodyBytes = Number(message.bodyLength());
  const end = start + length + bodyBytes;
  if (!(bodyBytes >= 0 && end <= bytes.length)) throw unsound();
  return { kind: message.headerType(), message, bodyBytes, end };
}

/** @returns the number of its rows */
function checkMessage({ kind, message, bodyBytes }: FoundMessage, limits: TableLimits): number {
  message.customMetadataLength();
  if (kind === MessageHeader.RecordBatch) {
    const rows = checkBatch(message.header(new RecordBatch()), bodyBytes, limits);
    checkRows(rows, limits);
    return rows;
  }
  if (kind === MessageHeader.DictionaryBatch) {
    const dictionary: DictionaryBatch | null = message.header(new DictionaryBatch());
    checkBatch(dictionary?.data(), bodyBytes, limits);
  } else if (kind === MessageHeader.Schema) checkSchema(message.header(new Schema()));
  else throw unsound();
  return 0;
}

function checkSchema(schema: Schema | null): void {
  if (!schema) throw unsound();
  schema.customMetadataLength();
  for (let i = 0, fields = schema.fieldsLength(); i < fields; i++) checkField(schema.fields(i)!);
}

/** A field that is its own child is found by the count of all that is listed in the message. */
function checkField(field: Field): void {
  field.customMetadataLength();
  for (let i = 0, children = field.childrenLength(); i < children; i++) checkField(field.children(i)!);
}

/**
 * The library would look through as many bits as there are values, for those that are null.
 * @returns the number of values
 */
function checkBatch(batch: RecordBatch | null | undefined, bodyBytes: number, limits: TableLimits): number {
  if (!batch) throw unsound();
  // A column of nulls takes no bytes.
  const most = Math.max(limits.maxRows, 8 * (batch.compression() ? limits.maxBytes : bodyBytes));
  const isCount = (count: bigint) => count >= 0n && count <= most;
  for (let i = 0, nodes = batch.nodesLength(); i < nodes; i++) {
    const node = batch.nodes(i)!;
    if (!isCount(node.length()) || !isCount(node.nullCount())) throw unsound();
  }
  let buffers = BigInt(batch.buffersLength());
  for (let i = 0, counts = batch.variadicBufferCountsLength(); i < counts; i++) {
    const count = batch.variadicBufferCounts(i)!;
    if (count < 0n || (buffers -= count) < 0n) throw unsound();
  }
  if (batch.length() < 0n) throw unsound();
  return Number(batch.length());
}

/** The bytes of a message, or of an index, of which nothing is believed to be longer than they are, nor all of it together. */
class CheckedBuffer extends ByteBuffer {
  #left = this.capacity();

  override __vector_len(offset: number): number {
    const length = super.__vector_len(offset);
    if (length < 0 || (this.#left -= length) < 0)
      throw new TableError('it is damaged Arrow: a list in it is longer than the message');
    return length;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array) => new DataView(buffer, byteOffset, length);

function unsound(): TableError {
  return new TableError('it is damaged Arrow: a message in it is not whole');
}
