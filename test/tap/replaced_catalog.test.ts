/** A catalog that is replaced by one with other columns, while tables follow the journal. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Engine } from '../../src/tap/engine.ts';
import { isInstalled } from '../../src/tap/tap.ts';
import { inWorld } from '../crossmatch/world.ts';
import { eventually } from '../http/support.ts';
import { duckdbObstacle, needs } from '../needs.ts';
import { putOneSource, storeMatched } from './one_source.ts';
import { answerOf, closed } from './support.ts';

const test = suite('tap: replaced catalog');

needs(test, duckdbObstacle(isInstalled()))('a match has the columns of its catalog as soon as tables have it', () =>
  inWorld(async world => {
    await putOneSource(world, 'mine', 'mag');
    await storeMatched(world, 1n, 'mine', 'mag');
    const dataDir = join(world.directory, 'data');
    const options = { dataDir, memoryMib: 256, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0 };
    const engine = await Engine.open(options);
    const rows = async (key: string, id: number) =>
      (await answerOf(engine, `SELECT ${key}, diaObjectId FROM mine_matches WHERE diaObjectId = ${id}`))
        .trim()
        .split(/\r?\n/)
        .slice(1);
    try {
      assert.equal(await rows('mag', 1), ['1,1']);
      await putOneSource(world, 'mine', 'flux');
      await storeMatched(world, 2n, 'mine', 'flux');
      await eventually('the column', async () => {
        const before = await rows('mag', 2).catch(() => undefined);
        if (before) assert.equal(before, []);
        return before === undefined || undefined;
      });
      assert.equal(await rows('flux', 2), ['1,2']);
    } finally {
      await closed(engine);
    }
  }),
);

test.run();
