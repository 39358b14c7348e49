/** The publications of this service: of matches, and of changes of objects, each with its own position in the journal. */

import { SharedFragments } from '../../core/answers/shared_fragments.ts';
import type { Log } from '../../core/base/log.ts';
import type { Config } from '../../core/config/config.ts';
import { Catalogs } from '../../core/contract/catalogs.ts';
import { readCatalogs } from '../../core/store/catalog_registration.ts';
import { answerSettings } from '../../core/store/provenance.ts';
import type { Store } from '../../core/store/store.ts';
import type { EventKind } from '../streams/event_test.ts';
import { MatchMessages } from '../streams/match_messages.ts';
import { ObjectMessages } from '../streams/object_messages.ts';
import { kafkaSink } from './kafka_sink.ts';
import type { Ledger } from './ledger.ts';
import { Publication } from './publication.ts';
import { type PublishSettings, publicationNames } from './publish_settings.ts';
import { readWatches, WatchedMessages } from './watches.ts';

interface PublicationsOptions {
  readonly config: Config;
  readonly settings: PublishSettings;
  readonly store: Store;
  /** The ledger of the publication with that name. */
  readonly ledger: (name: string) => Ledger;
  readonly from?: number | 'now' | undefined;
  readonly log: Log;
}

/** @throws ConfigError for watches that cannot be used */
export async function openPublications(options: PublicationsOptions): Promise<readonly Publication[]> {
  const { config, settings, store, ledger, from, log } = options;
  const catalogs = new Catalogs(readCatalogs(store.databases));
  const { PUBLISH_WATCHES: file, NEARSKY_MAX_STREAM_AREAS: maxAreas } = config;
  const watches = file === null ? [] : await readWatches(file, catalogs, maxAreas);
  const fragments = new SharedFragments(answerSettings(config, catalogs), () =>
    log('publish_left_out', { reason: 'a source was imported without a position' }),
  );
  const sources = {
    matches: { matches: new MatchMessages(store, fragments) },
    objects: {
      matches: new ObjectMessages(store, fragments),
      entries: (...after: Parameters<Store['changesAfter']>) => store.changesAfter(...after),
    },
  } satisfies Record<EventKind, object>;
  return publicationNames(settings).flatMap(({ kind, name }) => {
    const topic = kind === 'matches' ? settings.topic : undefined;
    const ofKind = watches.filter(({ stream }) => stream === kind);
    if (topic === undefined && ofKind.length === 0) return [];
    const source = sources[kind];
    return new Publication({
      ...source,
      matches: new WatchedMessages(store, source.matches, topic, ofKind),
      topic: name,
      imported: settings.imported,
      ...(from !== undefined && { from }),
      store,
      ledger: ledger(name),
      connect: () => kafkaSink(settings),
      log,
    });
  });
}
