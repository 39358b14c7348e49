/** A catalog that is replaced by one with other columns, while tables follow the journal. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../src/catalogs/register.ts';
import { Engine } from '../../src/tap/engine.ts';
import { isInstalled } from '../../src/tap/tap.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import { inWorld } from '../crossmatch/world.ts';
import { delivery, eventually, match, NOW_US, PROVENANCE, searched } from '../http/support.ts';
import { duckdbObstacle, needs } from '../needs.ts';
import { answerOf, closed } from './support.ts';

const test = suite('tap: replaced catalog');

needs(test, duckdbObstacle(isInstalled()))('a match has the columns of its catalog as soon as tables have it', () =>
  inWorld(async world => {
    const { writer } = world;
    const put = async (key: string) => {
      const location = join(world.directory, key);
      const double = (name: string, data: number[]) => ({ name, type: 'DOUBLE', data }) as const;
      const columns = [{ name: 'id', type: 'INT64', data: [7n] } as const, double('ra', [10]), double('dec', [0])];
      writeHats(location, { name: 'mine', columns: [...columns, double(key, [1])], ra: 'ra', dec: 'dec' });
      const catalog = { name: 'mine', idColumn: 'id', description: {} };
      await writer.putCatalog(await registerCatalog(catalog, location, { addedAtUs: NOW_US }));
    };
    const store = async (id: bigint, key: string) => {
      await writer.ingest([delivery(id)], NOW_US);
      const found = match('mine', '7', { payload: { ra: 10, dec: 0, [key]: 1 } });
      const result = { diaObjectId: id, catalogOutcomes: searched('mine'), matches: [found] };
      await writer.recordCrossmatches([result], PROVENANCE, NOW_US);
    };
    await put('mag');
    await store(1n, 'mag');
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
      await put('flux');
      await store(2n, 'flux');
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
