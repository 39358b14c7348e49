/** Shared by the tests of publication: a sink for messages, and publications to it. */
import type { Sink } from '../../../src/capabilities/publish/kafka_sink.ts';
import { StoreLedger } from '../../../src/capabilities/publish/ledger.ts';
import { Publication, type PublicationOptions } from '../../../src/capabilities/publish/publication.ts';
import type { MatchMessage } from '../../../src/capabilities/streams/message.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { Writer } from '../../../src/core/store/writer.ts';
import { messagesOf, textOf } from '../streams/support.ts';

export const TOPIC = 'matches';

/** A sink that stores the messages. It can be told to fail. */
export class FakeSink implements Sink {
  readonly sent: string[] = [];
  /** The number of next calls that fail, after storing a part of the messages. */
  failures = 0;
  connections = 0;

  readonly connect = async (): Promise<Sink> => {
    this.connections++;
    return this;
  };

  async send(messages: readonly MatchMessage[]): Promise<void> {
    const fails = this.failures > 0;
    if (fails) this.failures--;
    this.sent.push(...messages.slice(0, fails ? messages.length >> 1 : undefined).map(textOf));
    if (fails) throw new Error('the broker is away');
  }

  async close(): Promise<void> {}
}

/** A publication of a store to that sink. */
export function publicationOf(
  store: Store,
  writer: Writer,
  sink: FakeSink,
  options: Partial<PublicationOptions> = {},
): Publication {
  return new Publication({
    topic: TOPIC,
    imported: false,
    store,
    ledger: new StoreLedger(store, writer, TOPIC),
    matches: messagesOf(store),
    connect: sink.connect,
    log: () => {},
    ...options,
  });
}
