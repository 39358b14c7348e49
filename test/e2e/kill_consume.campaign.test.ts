/**
 * kill -9 of `consume` at random moments, beside Kafka itself and servers that fail now and then: no acknowledged
 * message is lost, nothing is duplicated, and the result equals that of an undisturbed run. TEST_KILLS sets how many times (2).
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { readDump } from './dump.ts';
import { assertKept, killAfter, kills, random } from './kill_support.ts';
import { brokersIn, brokersOf, Consumption, idOf, LiveBrokers } from './live_brokers.ts';

const test = suite('e2e/kill_consume');
const real = needs(test, whyNoKafka);

const OBJECTS = 600;

/** Kills the process again and again, then lets it finish. Returns the number of kills. */
async function killAndFinish(consumption: Consumption, most: number): Promise<number> {
  let killed = 0;
  while (killed < most && !(await consumption.isDone())) {
    const commits = 1 + Math.floor(12 * random());
    const options = { variables: consumption.variables, idleMs: 5000 };
    const seen = await killAfter(commits, consumption.data, consumption.args, options);
    assert.ok(seen, 'it ended by itself');
    killed++;
    assertKept(seen, await readDump(consumption.data));
    await consumption.assertAcknowledgedIsThere();
  }
  await consumption.finish();
  return killed;
}

real(`consume of three brokers, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const places = Array.from({ length: OBJECTS }, (_, object) => ({ ra: object / 2, dec: object / 10 - 30 }));
    const brokers = await LiveBrokers.start(directory, places);
    try {
      const undisturbed = await Consumption.start(brokers, directory, 'undisturbed');
      await undisturbed.send();
      await undisturbed.finish();
      const whole = await readDump(undisturbed.data);
      const expected = places.map((_, object) => [idOf(object), brokersOf(object)] as const);
      assert.equal(
        [...brokersIn(whole)],
        expected.filter(([, brokers]) => brokers.length > 0),
      );
      await undisturbed.close();
      for (let killed = 0, run = 0; killed < kills; run++) {
        const consumption = await Consumption.start(brokers, directory, `data${run}`);
        await consumption.send();
        killed += await killAndFinish(consumption, kills - killed);
        const end = await readDump(consumption.data);
        assert.equal(end.objects, whole.objects);
        assert.equal(end.pending, whole.pending);
        await consumption.assertAcknowledgedIsThere();
        await consumption.close();
      }
    } finally {
      await brokers.stop();
    }
  }),
);

test.run();
