/**
 * Checks the messages of Arrow before the library reads them. The library trusts every count, and would read some
 * damaged tables forever (Arrow columnar format 1.5, "Serialization and Interprocess Communication").
 */
import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch';
import type { Field } from 'apache-arrow/fb/field';
import { Footer } from 'apache-arrow/fb/footer';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Schema } from 'apache-arrow/fb/schema';
import { Type } from 'apache-arrow/fb/type';
import { ByteBuffer } from 'flatbuffers';
import { isAllocationFailure } from '../bytes.ts';
import type { FieldMetadata } from './file_metadata.ts';
import { checkRows, TableError, type TableLimits } from './input_table.ts';

/** The marker before the length of a message. */
const CONTINUATION = -1;

/**
 * Checks a stream to its end.
 * @throws TableError if a message is incomplete, or states more data than it contains
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

/** Replaces the errors of the libraries about damaged bytes, which would not help a user. */
export function damaged(error: unknown): unknown {
  return error instanceof TableError || isAllocationFailure(error)
    ? error
    : new TableError('it is damaged, or not an Arrow table');
}

/**
 * The metadata of fields, by field name; of fields whose types cannot be read, too.
 * @param bytes the message of a schema
 * @throws TableError if it is damaged
 */
export function fieldsOfSchema(bytes: Uint8Array): ReadonlyMap<string, FieldMetadata> {
  try {
    const schema: Schema | null | undefined = messageAt(bytes, 0)?.message.header(new Schema());
    const each = Array.from({ length: schema?.fieldsLength() ?? 0 }, (_, i) => schema!.fields(i)!);
    return new Map(each.map(field => [`${field.name()}`, metadataOf(field)]));
  } catch (error) {
    throw damaged(error);
  }
}

function metadataOf(field: Field): FieldMetadata {
  const pairs = Array.from({ length: field.customMetadataLength() }, (_, i) => field.customMetadata(i)!);
  return new Map(pairs.map(pair => [`${pair.key()}`, `${pair.value()}`]));
}

/** The end of a file is its index, followed by the length of the index in 4 bytes, and a marker of 6 bytes. */
const FILE_END = 10;

/**
 * Checks a file. The library reads only its index and the messages that the index names. (Polars writes a first message
 * without its length.)
 * @throws TableError if the index, or a message that it names, is damaged
 */
export function checkedFile(bytes: Uint8Array, limits: TableLimits): Uint8Array {
  const end = bytes.length - FILE_END;
  const start = end - (end > 0 ? viewOf(bytes).getInt32(end, true) : 0);
  if (!(start > 0 && start < end)) throw unsound();
  const footer = Footer.getRootAsFooter(new CheckedBuffer(bytes.subarray(start, end)));
  checkSchema(footer.schema());
  // This limit also covers an index that names the same message many times.
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
  /** The offset after the message's body. */
  readonly end: number;
}

/** The message at an offset; undefined at the end of a stream. */
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

/**
 * Checks one message.
 * @returns the number of its rows
 */
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

/** The types that the library reads. It ends with an error at any other, such as ListView and RunEndEncoded. */
const READ = new Set([...Array(Type.RunEndEncoded).keys(), Type.BinaryView, Type.Utf8View]);

/**
 * Checks a field. A field that is its own child exceeds the limit on all lists of the message.
 * @throws TableError if its type cannot be read
 */
function checkField(field: Field, column = `${field.name()}`): void {
  const type = field.typeType();
  if (!READ.has(type))
    throw new TableError(
      `its column ${column.slice(0, 64)} has the Arrow type ${Type[type] ?? type}, which cannot be read: leave the column out, or cast it to a plain type`,
    );
  field.customMetadataLength();
  for (let i = 0, children = field.childrenLength(); i < children; i++) checkField(field.children(i)!, column);
}

/**
 * Checks the counts of a batch, because the library would search as many bits for nulls as the batch states values.
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

/**
 * The bytes of a message or an index. Each list in it is checked against their length, and so is the sum of all lists.
 */
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
