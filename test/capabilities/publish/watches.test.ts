/** Watches: which events are published to which topics, and files of watches that cannot be used. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readWatches, WatchedMessages } from '../../../src/capabilities/publish/watches.ts';
import { MatchMessages } from '../../../src/capabilities/streams/match_messages.ts';
import { ObjectMessages } from '../../../src/capabilities/streams/object_messages.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { Catalogs } from '../../../src/core/contract/catalogs.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';
import { delivery, failure, provenance, withStore } from '../../core/store/support.ts';
import { HARD_PLACES, offset } from '../../oracle/skies.ts';
import { crossmatch } from '../streams/support.ts';

const test = suite('publish/watches');
const catalogs = new Catalogs([]);

test('each event goes to the topics whose watch has its position, filters and status, and once to each topic', () =>
  withStore(async (store, writer, directory) => {
    // At each position: an object 0.9", one 1.1" and one 80" away; they have 0 to 4 matches in turn.
    const objects = HARD_PLACES.flatMap((place, i) =>
      [0.9, 1.1, 80].map((arcsec, j) => ({
        id: BigInt(3 * i + j + 1),
        arcsec,
        position: offset(place, arcsec, i + j),
      })),
    );
    await writer.ingest(
      objects.map(({ id, position }) => delivery(id, { position })),
      1,
    );
    await writer.recordCrossmatches(
      objects.map(({ id }) => crossmatch(id, Number(id % 5n))),
      provenance,
      2,
    );
    const rows = HARD_PLACES.map(({ ra, dec }) => `${ra},${dec}`);
    writeFileSync(join(directory, 'targets.csv'), `ra,dec\n${rows.join('\n')}\n`);
    const file = join(directory, 'watches.json');
    writeFileSync(
      file,
      JSON.stringify([
        { name: 'near', topic: 'near', file: 'targets.csv', radius_arcsec: 1 },
        { name: 'near, Gaia', topic: 'gaia', file: 'targets.csv', radius_arcsec: 1, filters: { catalog: 'gaia_dr3' } },
        { name: 'near again', topic: 'near', stream: 'matches', area: 'CIRCLE 0 90 0.001' },
        { name: 'DES', topic: 'des', filters: { catalog: 'des_y6_gold', separation_arcsec_max: 0.25 } },
        { name: 'none', topic: 'none', stream: 'objects', status: 'no_coincident_source' },
        { name: 'near objects', topic: 'objects', stream: 'objects', file: 'targets.csv', radius_arcsec: 1 },
      ]),
    );
    const watches = await readWatches(file, catalogs, 4);
    const fragments = new SharedFragments(answerSettings(loadConfig(), catalogs));
    const of = (stream: string) => watches.filter(watch => watch.stream === stream);
    const matches = new MatchMessages(store, fragments);
    const byObject = new Map(objects.map(({ id, arcsec }) => [id, arcsec]));
    for (const topic of ['all', undefined]) {
      const watched = new WatchedMessages(store, matches, topic, of('matches'));
      for (const [id, arcsec] of byObject) {
        const expected = matches.messages(id, 1).flatMap(({ catalogName }) => {
          const isNear = arcsec === 0.9;
          const topics = [
            ...(isNear ? ['near'] : []),
            ...(isNear && catalogName === 'gaia_dr3' ? ['gaia'] : []),
            ...(catalogName === 'des_y6_gold' ? ['des'] : []),
            ...(topic ? [topic] : []),
          ];
          // 1.1" from the pole is within 0.001 degrees of it.
          if (!isNear && arcsec === 1.1 && id <= 6n) topics.push('near');
          return topics.length > 0 ? [`${catalogName} ${topics.sort()}`] : [];
        });
        const told = watched.messages(id, 1).map(({ catalogName, topics }) => `${catalogName} ${topics!.toSorted()}`);
        assert.equal(told, expected, `${id}`);
      }
    }
    const changes = new WatchedMessages(store, new ObjectMessages(store, fragments), undefined, of('objects'));
    for (const [id, arcsec] of byObject) {
      const topics = [...(id % 5n === 0n ? ['none'] : []), ...(arcsec === 0.9 ? ['objects'] : [])];
      const told = changes.messages(id, 1);
      assert.equal(
        told.map(message => message.topics!.toSorted()),
        topics.length > 0 ? [topics] : [],
        `${id}`,
      );
    }
  }));

test('a file of watches that cannot be used is an error that names the watch, the field and its bound', () =>
  withStore(async (_store, _writer, directory) => {
    const file = join(directory, 'watches.json');
    const why = async (text: string) => {
      writeFileSync(file, text);
      const { name, message } = await failure(() => readWatches(file, catalogs, 1));
      assert.is(name, 'ConfigError', message);
      return message;
    };
    const one = (fields: object) => why(JSON.stringify([{ name: 'a', topic: 'b', ...fields }]));
    for (const [told, expected] of [
      [await why('[{'), 'it cannot be read'],
      [await why('{}'), 'a JSON list of objects'],
      [await why('[1]'), 'a JSON list of objects'],
      [await why('[{"topic": "b"}]'), 'of watch 1: it has no name'],
      [await why('[{"name": "a"}]'), 'of watch 1: it has no topic'],
      [await one({ topic: 'a b' }), 'topic must be the name of a topic'],
      [await one({ aera: 'CIRCLE 1 2 3' }), 'aera is not a key of a watch; the keys are name, topic, stream, area'],
      [await one({ stream: 'alerts' }), 'stream must be one of matches, objects (alerts was given)'],
      [await one({ area: 'CIRCLE 1 95 3' }), 'of watch 1: '],
      [await one({ area: 'CIRCLE 1 2 3', file: 'x' }), 'both an area and a file'],
      [await one({ level: 0.5 }), 'level and radius_arcsec need a file'],
      [await one({ file: 'missing.fits' }), 'there is no such file'],
      [await one({ file: 'watches.json', radius_arcsec: -1 }), 'radius_arcsec must be '],
      [await one({ status: 'no_coincident_source' }), 'status is allowed for the stream of objects'],
      [await one({ stream: 'objects', status: 'lost' }), 'status must be one of'],
      [await one({ filters: { 'gaia_dr3.no_such_max': 1 } }), 'there is no such filter'],
      [await one({ filters: { separation_arcsec_max: 'far' } }), 'separation_arcsec_max must be '],
      [await one({ filters: { catalog: 'usno' } }), 'catalog must be one of'],
      [await one({ filters: [] }), 'filters must be a JSON object'],
      [await why('[{"name": "a", "topic": "b"}, {"name": "a", "topic": "c"}]'), 'two watches have the name a'],
      [
        await why(JSON.stringify(['a', 'b'].map(name => ({ name, topic: name, area: 'CIRCLE 1 2 3' })))),
        'it has 2 areas, but NEARSKY_MAX_STREAM_AREAS allows 1',
      ],
    ] as const)
      assert.ok(told.includes(expected), `${told}: ${expected}`);
    assert.match(
      await failure(() => readWatches(join(directory, 'none.json'), catalogs, 1)).then(e => e.message),
      'no such file',
    );
  }));

test.run();
