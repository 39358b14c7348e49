/**
 * A consumer of Kafka that returns no records of aborted transactions. The client's own filter (2.12) lets some through:
 * if a producer has two aborted transactions in one fetch, and if a fetch does not reach the end of the transaction.
 */
import { type CallbackWithPromise, Consumer, FetchIsolationLevels, IS_CONTROL } from '@platformatic/kafka';

type Bytes = Consumer<Buffer, Buffer, Buffer, Buffer>;
type Options = Parameters<Bytes['fetch']>[0];
type Fetched = Awaited<ReturnType<Bytes['fetch']>>;
type Partition = Fetched['responses'][number]['partitions'][number];

/** The client's streams call `fetch`, too. */
export class CommittedConsumer extends Consumer<Buffer, Buffer, Buffer, Buffer> {
  override fetch(options: Options, callback: CallbackWithPromise<Fetched>): void;
  override fetch(options: Options): Promise<Fetched>;
  override fetch(options: Options, callback?: CallbackWithPromise<Fetched>): Promise<Fetched> | undefined {
    const committed = { ...options, isolationLevel: FetchIsolationLevels.READ_COMMITTED };
    if (!callback) return super.fetch(committed).then(withoutAborted);
    super.fetch(committed, (error, response) => callback(error, response && withoutAborted(response)));
    return undefined;
  }
}

function withoutAborted(response: Fetched): Fetched {
  for (const { partitions } of response.responses) for (const partition of partitions) emptyAborted(partition);
  return response;
}

/**
 * Empties the batches of aborted transactions. The batches remain, because the client takes the next offset from the
 * last one. The broker lists each aborted transaction that overlaps the fetch; its end is the producer's next abort
 * marker, or lies beyond the fetch. Under read_committed the broker returns only transactions that have ended.
 */
function emptyAborted({ abortedTransactions, records: batches }: Partition): void {
  const listed = (abortedTransactions ?? []).toSorted((a, b) => Number(a.firstOffset - b.firstOffset));
  const aborting = new Set<bigint>();
  for (const batch of batches ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    while (listed[0] && listed[0].firstOffset <= last) aborting.add(listed.shift()!.producerId);
    if (!(batch.attributes & IS_CONTROL)) {
      if (aborting.has(batch.producerId)) batch.records = [];
    } else if (isAbortMarker(batch.records[0]?.key)) aborting.delete(batch.producerId);
  }
}

/** The key of a control record holds a version and a type, each of two bytes. Type 0 ends an aborted transaction. */
const isAbortMarker = (key: Buffer | null | undefined) => key?.readInt16BE(2) === 0;
