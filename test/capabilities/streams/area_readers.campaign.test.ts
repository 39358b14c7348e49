/**
 * Many readers of the stream of objects, each with an area: each gets the objects of its area, once and in order. Prints
 * the times of small cones, without and with the readers. TEST_AREA_READERS sets the number of readers (8). If it is
 * set, there are three rounds of 15 s, and the readers run only when the processor is idle, as in stream_readers.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { startScript } from '../../core/store/script.ts';
import { delivery } from '../../core/store/support.ts';
import { coneTimes } from '../../e2e/measured.ts';
import { startServer, withDirectory } from '../../e2e/support.ts';
import { anywhere, seededRandom } from '../../oracle/skies.ts';
import { FIRST_ID, INGEST_US } from './support.ts';

const test = suite('capabilities/streams/area_readers');

const READERS = Number(process.env.TEST_AREA_READERS ?? 8);
const [SECONDS, ROUNDS, UNDER] = process.env.TEST_AREA_READERS ? [15, 3, ['chrt', '--idle', '0']] : [2, 1, []];
const RADIUS_DEG = 20;

test(`${READERS} readers with an area each: the objects of their areas`, () =>
  withDirectory(async directory => {
    const random = seededRandom(7);
    const centres = Array.from({ length: READERS }, () => anywhere(random));
    const areas = centres.map(({ ra, dec }) => `CIRCLE ${ra} ${dec} ${RADIUS_DEG}`);
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    const writer = new Writer(store);
    const stored: { id: bigint; ra: number; dec: number }[] = [];
    const add = async () => {
      const added = Array.from({ length: 10 }, (_, i) => ({
        id: FIRST_ID + BigInt(stored.length + i),
        ...anywhere(random),
      }));
      await writer.ingest(
        added.map(({ id, ...position }) => delivery(id, { position })),
        INGEST_US,
      );
      stored.push(...added);
    };
    await add();
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], {
      NEARSKY_WORKERS: '2',
    });
    const record = async () => {
      const endMs = performance.now() + 1000 * SECONDS;
      for (; performance.now() < endMs; await sleep(100)) await add();
    };
    let clients: ReturnType<typeof startScript> | undefined;
    try {
      for (let round = 0; round < ROUNDS; round++) {
        console.log(`without readers: ${await coneTimes(server, record)}`);
        clients = startScript(new URL('area_readers.ts', import.meta.url), [server.url, ...areas], {
          stdin: 'pipe',
          under: UNDER,
        });
        console.log(`with ${READERS} readers: ${await coneTimes(server, record)}`);
        const inside = centres.map(centre =>
          stored.filter(({ ra, dec }) => separationArcsec(centre.ra, centre.dec, ra, dec) <= 3600 * RADIUS_DEG),
        );
        clients.child.stdin!.end(JSON.stringify(inside.map(({ length }) => length)));
        const { code, output } = await clients.ended;
        assert.is(code, 0);
        assert.equal(
          JSON.parse(output),
          inside.map(objects => objects.map(({ id }) => `${id}`)),
        );
      }
      assert.ok(stored.length > 100);
    } finally {
      clients?.child.kill();
      await store.close();
      await server.stop();
    }
  }));

test.run();
