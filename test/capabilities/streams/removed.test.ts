/** Removed objects in streams. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type EventReader, readEvents } from '../../core/http/event_reader.ts';
import { crossmatched, delivery, match, NOW_US, searched, type TestApp, withApp } from '../../core/http/support.ts';

const test = suite('streams/removed');

const read = (app: TestApp, path: string, count: number, after?: string) =>
  readEvents(app, path, count, after === undefined ? {} : { headers: { 'Last-Event-ID': after } });

const changes = (reader: EventReader) =>
  reader.texts
    .map(text => JSON.parse(text))
    .map(({ change, diaObjectId, status, ra }) => `${change} ${diaObjectId} ${status} ${ra}`);
const removed = 'removed 1 not_in_service 150';
const of2 = ['stored 2 crossmatch_pending 150', 'crossmatched 2 coincident_sources 150'];

test('the stream of objects says what was removed, in its area; neither stream has more of it [Stream of objects]', () =>
  withApp(
    async world => {
      for (const id of [1n, 2n]) {
        await world.writer.ingest([delivery(id)], NOW_US + Number(id));
        await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', '1'), match('skymapper_dr4', '2')]);
      }
    },
    async (app, world) => {
      const matches = '/api/stream/matches';
      const objects = '/api/stream/objects?from=beginning';
      // The thread keeps these events for the readers that come later.
      await read(app, `${matches}?from=beginning`, 4);
      await read(app, objects, 4);
      await world.writer.remove([1n], 'wrong');
      assert.equal(changes(await read(app, objects, 3)), [...of2, removed]);
      await world.writer.ingest([delivery(1n, { position: { ra: 10, dec: 20 } })], NOW_US + 9);
      await crossmatched(world, 1n, searched('gaia_dr3'), [match('gaia_dr3', '3')]);
      // A reader that has the first match of the removed object gets all of the next one's.
      const { texts } = await read(app, matches, 3, '1.0.1');
      assert.equal(
        texts
          .map(text => JSON.parse(text))
          .map(({ diaObjectId, catalog_source_id }) => [diaObjectId, catalog_source_id]),
        [
          [2, '1'],
          [2, '2'],
          [1, '3'],
        ],
      );
      const restored = ['stored 1 crossmatch_pending 10', 'crossmatched 1 coincident_sources 10'];
      assert.equal(changes(await read(app, objects, 5)), [...of2, removed, ...restored]);
      const area = encodeURIComponent('CIRCLE 150 2 1');
      assert.equal(changes(await read(app, `${objects}&area=${area}`, 3)), [...of2, removed]);
      assert.equal(changes(await read(app, `${objects}&status=crossmatch_pending`, 2)), [of2[0], restored[0]]);
      assert.equal(changes(await read(app, `${objects}&reliability_min=0.5`, 4)), [...of2, ...restored]);
    },
  ));

test.run();
