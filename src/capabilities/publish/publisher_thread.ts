/** The thread of `serve` that publishes. It only reads the database; the writer thread stores its progress. */
import type { MessagePort } from 'node:worker_threads';
import { logTo } from '../../core/base/log.ts';
import type { Config } from '../../core/config/config.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { openStore } from '../../core/store/store.ts';
import { RemoteLedger } from './ledger.ts';
import { openPublications } from './publications.ts';
import type { PublishSettings } from './publish_settings.ts';

export interface PublishTask extends Task<undefined> {
  readonly module: 'src/capabilities/publish/publisher_thread';
  readonly kind: 'publish';
  readonly config: Config;
  readonly settings: PublishSettings;
  /** The ports to the writer thread, by the name of the publication. Deno transfers no port in a Map. */
  readonly ledgers: Readonly<Record<string, MessagePort>>;
  /** Any message on this port ends the publication. */
  readonly link: MessagePort;
}

/** An event for the log. */
export interface FromPublisher {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

export const tasks: Tasks<PublishTask> = { publish: runPublisher };

/** Resolves after the signal to stop, when no work is in progress. */
async function runPublisher({ config, settings, ledgers, link }: PublishTask): Promise<undefined> {
  const stop = new AbortController();
  link.on('message', () => stop.abort());
  await using store = openStore(config.NEARSKY_DATA, 'read');
  try {
    const publications = await openPublications({
      config,
      settings,
      store,
      ledger: name => new RemoteLedger(ledgers[name]!),
      log: logTo((event, fields) => link.postMessage({ event, fields } satisfies FromPublisher)),
    });
    await Promise.all(publications.map(each => each.run(stop.signal)));
  } finally {
    for (const ledger of Object.values(ledgers)) ledger.close();
    link.close();
  }
  return undefined;
}
