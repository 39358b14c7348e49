/** A catalog that is replaced by one with other columns, while tables follow the journal. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { eventually } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { inWorld } from '../crossmatch/world.ts';
import { putOneSource, storeMatched, writeOneSource } from './one_source.ts';
import { answerOf, closed } from './support.ts';

const test = suite('tap: replaced catalog');
const check = needs(test, duckdbObstacle());

/** The values of a column for an object. */
async function valuesOf(engine: Engine, column: string, id: number): Promise<string[]> {
  const query = `SELECT ${column}, diaObjectId FROM mine_matches WHERE diaObjectId = ${id}`;
  return (await answerOf(engine, query)).trim().split(/\r?\n/).slice(1);
}

check('a match has the columns of its catalog as soon as tables have it', () =>
  inWorld(async world => {
    await putOneSource(world, 'mine', 'mag');
    await storeMatched(world, 1n, 'mine', 'mag');
    const dataDir = join(world.directory, 'data');
    const options = { dataDir, memoryMib: 256, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0 };
    const engine = await Engine.open(options);
    const rows = (column: string, id: number) => valuesOf(engine, column, id);
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

check('tables of an export during which a catalog is replaced have the columns of the new one', () =>
  inWorld(async world => {
    await putOneSource(world, 'mine', 'mag');
    const replacement = await writeOneSource(world, 'mine', 'flux');
    const dataDir = join(world.directory, 'data');
    const options = { dataDir, memoryMib: 256, threads: 1, refreshSeconds: 3600, mergeAfter: 0, earlierStates: 0 };
    const engine = await Engine.open(options);
    try {
      const first = answerOf(engine, 'SELECT COUNT(*) FROM objects');
      // The process of the export has not started yet.
      await world.writer.commit({ kind: 'register_catalog', registration: replacement });
      await storeMatched(world, 1n, 'mine', 'flux');
      await first;
      assert.equal(await valuesOf(engine, 'flux', 1), ['1,1']);
    } finally {
      await closed(engine);
    }
  }),
);

test.run();
