/** The pages of events that the readers of a thread share: which ones are cached. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FollowedAreas } from '../../../src/capabilities/streams/followed_areas.ts';
import {
  type EventPage,
  eventSelection,
  joined,
  positionAfter,
  StreamEvents,
} from '../../../src/capabilities/streams/stream_events.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';
import { delivery, provenance, withStore } from '../../core/store/support.ts';
import { crossmatch, FIRST_ID } from './support.ts';

const test = suite('answers/stream_events');

const OBJECTS = 60;
const LONG = 'x'.repeat(100_000);
const BEGIN = positionAfter('0')!;

test('the pages that were used last are kept, in bounded memory, with what meets filters', () =>
  withStore(async (store, writer) => {
    const ids = Array.from({ length: OBJECTS }, (_, i) => FIRST_ID + BigInt(i));
    await writer.ingest(
      ids.map(id => delivery(id)),
      1,
    );
    const results = ids.map(id => {
      const { matches, ...others } = crossmatch(id, 2);
      return {
        ...others,
        matches: matches.map(match => ({ ...match, source: { ...match.source, payload: { long: LONG } } })),
      };
    });
    await writer.recordCrossmatches(results, provenance, 1);
    const fragments = new SharedFragments(answerSettings(loadConfig()));
    /** Reads everything. Returns the bytes of the newest pages, up to the first page that is no longer cached. */
    const keptAfter = (use: (events: StreamEvents, page: EventPage) => void) => {
      const events = new StreamEvents(store, fragments, false, new FollowedAreas());
      const pages: EventPage[] = [];
      for (let page = events.after(BEGIN); page; page = events.after(page.end)) {
        pages.push(page);
        use(events, page);
      }
      const count = pages.reduce((sum, page) => sum + page.count, 0);
      assert.is(count, 2 * OBJECTS);
      const oldest = pages.findLastIndex(page => events.after(page.begin) !== page);
      return pages.slice(oldest + 1).reduce((sum, { bytes }) => sum + bytes.length, 0);
    };
    const all = keptAfter(() => {});
    assert.ok(all > 7.9e6 && all < 8.4e6, `${all}`);
    // Every event meets the filter, so the filtered copy of a page is as long as the page: half as many pages fit.
    const half = keptAfter((events, page) => {
      const selected = events.selected(page, eventSelection([['separation_arcsec_max', 1]])!);
      assert.is(joined(selected).count, page.count);
    });
    assert.ok(half > 3.9e6 && half < 4.2e6, `${half}`);
  }));

test.run();
