/** Objects at one place, and queries of them whose time is spent. */
import { ByteSink } from '@nearsky/astrotables/bytes';
import { Arena, buildArena, SkyIndex } from '@nearsky/sky-index';
import * as assert from 'uvu/assert';
import { Clock, type QueryContext, type Steps } from '../../../src/core/answers/context.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { ObjectView } from '../../../src/core/store/object_record.ts';
import { currentProvenance, PROVENANCE_RECORDING_RELEASE } from '../../../src/core/store/provenance.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { withStore } from '../store/support.ts';
import { configOf, delivery, match, NOW_US, PROVENANCE, searched } from './support.ts';

export const OBJECTS = 300;

/** A clock that advances by a millisecond at each check; the budget is 400. */
class Costly extends Clock {
  #ms = 0;

  constructor() {
    super();
    this.begin({ startMs: 0, deadlineMs: 400 });
  }

  protected override now(): number {
    return this.#ms++;
  }
}

export function finish(steps: Steps): void {
  while (!steps.next().done);
}

export interface Stored {
  readonly store: Store;
  readonly ids: readonly bigint[];
  contextOf(store: Store, clock: Clock): QueryContext;
}

/** Objects at one place, each with a source. */
export const withObjects = (body: (stored: Stored) => void) =>
  withStore(async (store, writer) => {
    const ids = Array.from({ length: OBJECTS }, (_, i) => BigInt(i));
    await writer.ingest(
      ids.map(id => delivery(id)),
      NOW_US,
    );
    const results = ids.map(diaObjectId => ({
      diaObjectId,
      catalogOutcomes: searched('gaia_dr3'),
      matches: [match('gaia_dr3', '1')],
    }));
    await writer.recordCrossmatches(results, PROVENANCE, NOW_US);
    const points = { ra: 150, dec: 2, time: NOW_US };
    const column = (name: keyof typeof points) => new Float64Array(OBJECTS).fill(points[name]);
    const arena = buildArena({
      ra: column('ra'),
      dec: column('dec'),
      time: column('time'),
      id: BigInt64Array.from(ids),
    });
    const config = configOf('unused');
    const fragments = new SharedFragments({
      catalogs: PROJECT_CATALOGS,
      provenance: currentProvenance(config),
      recordingRelease: PROVENANCE_RECORDING_RELEASE,
      tnsUrlTemplate: config.TNS_OBJECT_URL_TEMPLATE,
      tnsSnapshotMaxAgeSeconds: config.TNS_SNAPSHOT_MAX_AGE_SECONDS,
    });
    const index = new SkyIndex([new Arena(arena)]);
    const contextOf = (store: Store, clock: Clock): QueryContext => {
      const sinks = { out: new ByteSink(), body: new ByteSink(), past: undefined };
      const [sequence, object] = [store.lastSequence(), new ObjectView()];
      return { store, stored: store, fragments, index, sequence, purgedTo: [sequence], object, clock, ...sinks };
    };
    body({ store, ids, contextOf });
  });

/** Walks a listing, each page of which ends when half of its time is spent: together they have all objects. */
export function assertPages(
  { store, ids, contextOf }: Stored,
  page: (cursor: string | undefined, context: QueryContext) => Steps,
): void {
  const found: string[] = [];
  let cursor: string | undefined;
  let count = 0;
  do {
    const context = contextOf(store, new Costly());
    finish(page(cursor, context));
    const { objects, next_cursor } = JSON.parse(Buffer.from(context.out.take()).toString());

    for (const { diaObjectId_str } of objects) found.push(diaObjectId_str);
    cursor = next_cursor ?? undefined;
    count++;
  } while (cursor !== undefined);
  assert.equal(
    found,
    ids.map(id => `${id}`),
  );
  assert.ok(count > 2 && count < 20, `${count} pages`);
}
