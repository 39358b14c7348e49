/**
 * Whatever happens to nodes, network and clocks, all nodes reach the same archive, byte for byte: the one that the log
 * defines. TEST_SEEDS=10000 sets the number of seeds, TEST_SEED the first one.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contentsOf, type Simulated, simulate } from './simulation.ts';

const test = suite('cluster/simulation');
const first = Number(process.env.TEST_SEED ?? 1);
const seeds = Number(process.env.TEST_SEEDS ?? 8);

test('all nodes hold what the log makes, and nothing that was acknowledged is lost', async () => {
  const events: Record<string, number> = {};
  let acknowledged = 0;
  let outdated = 0;
  for (let seed = first; seed < first + seeds; seed++) {
    const simulated = await simulate(seed);
    for (const dump of simulated.dumps) assert.equal(dump, simulated.expected, `seed ${seed}`);
    for (const { change, outcome } of simulated.acknowledged) {
      const outcomes = contentsOf(change).flatMap(content => simulated.outcomes.get(content) ?? []);
      assert.ok(
        outcomes.some(one => JSON.stringify(one) === JSON.stringify(outcome)),
        `seed ${seed}: an acknowledged change is not in the log with its outcome`,
      );
    }
    assert.equal(simulated.broken, [], `seed ${seed}`);
    requireReadable(seed, simulated);
    outdated += simulated.outdated.length;
    acknowledged += simulated.acknowledged.length;
    for (const [kind, count] of Object.entries(simulated.events)) events[kind] = (events[kind] ?? 0) + count;
  }
  // With few seeds, some kinds of event may be too rare.
  if (seeds < 8) return;
  assert.ok(acknowledged > 5 * seeds, `${acknowledged} acknowledged`);
  assert.is(Object.keys(events).length, 16);
  assert.ok(outdated > 0, 'no node was outdated');
});

/** No record is of a higher level than the log, and nodes that cannot read the log's level stop at the record that raised it. */
function requireReadable(seed: number, { levels, raised, outdated }: Simulated): void {
  for (const [i, { log, record }] of levels.entries())
    assert.ok(record <= log, `seed ${seed}: record ${i} is of level ${record}, the log of level ${log}`);
  for (const position of outdated) assert.is(position, raised, `seed ${seed}`);
}

test.run();
