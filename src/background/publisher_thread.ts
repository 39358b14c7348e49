/** The thread of `serve` that publishes. It only reads the database; the writer thread stores its progress. */
import type { MessagePort } from 'node:worker_threads';
import { MatchMessages } from '../answers/match_messages.ts';
import { SharedFragments } from '../answers/shared_fragments.ts';
import { logTo } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { answerSettings } from '../crossmatch/provenance.ts';
import type { Task } from '../pool/pool.ts';
import { openStore } from '../store/store.ts';
import { kafkaSink } from '../stream/kafka_sink.ts';
import { RemoteLedger } from '../stream/ledger.ts';
import { Publication } from '../stream/publication.ts';
import type { PublishSettings } from '../stream/publish_settings.ts';

export interface PublishTask extends Task<undefined> {
  readonly kind: 'publish';
  readonly config: Config;
  readonly settings: PublishSettings;
  /** The port to the writer thread. */
  readonly ledger: MessagePort;
  /** Any message on this port ends the publication. */
  readonly link: MessagePort;
}

/** An event for the log. */
export interface FromPublisher {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** Resolves after the signal to stop, when no work is in progress. */
export async function runPublisher({ config, settings, ledger, link }: PublishTask): Promise<undefined> {
  const stop = new AbortController();
  link.on('message', () => stop.abort());
  const store = openStore(config.NEARSKY_DATA, 'read');
  const publication = new Publication({
    topic: settings.topic,
    imported: settings.imported,
    store,
    ledger: new RemoteLedger(ledger),
    matches: new MatchMessages(store, new SharedFragments(answerSettings(config))),
    connect: () => kafkaSink(settings),
    log: logTo((event, fields) => link.postMessage({ event, fields } satisfies FromPublisher)),
  });
  await publication.run(stop.signal);
  await store.close();
  ledger.close();
  link.close();
  return undefined;
}
