/** The state that a transaction sees, while the tables follow the journal. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Edition } from '../../../src/capabilities/adql/edition.ts';
import { withDirectory } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap: edition');
/** No rows, after some time. */
async function* nothing(time?: Promise<void>) {
  await time;
  yield* [];
}

needs(test, duckdbObstacle())('a transaction has the state of its first statement', () =>
  withDirectory(async directory => {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:');
    const [making, reading] = [await instance.connect(), await instance.connect()];
    const made = { connection: making, file: join(directory, 'archive-1.duckdb'), number: 1 };
    assert.is(await Edition.open(made), undefined, 'it is not complete');
    await making.run("INSERT INTO archive_1.stored VALUES ('', '[]', '', 1, 1000, 0, 0)");
    await making.run('DETACH archive_1');
    const edition = (await Edition.open(made))!;
    const { contents } = edition;
    const follow = (sequence: number, time?: Promise<void>) =>
      edition.take(making, nothing(time), new Set(), { ...contents, sequence, asOfMs: 1000 * sequence });
    const stored = () => reading.prepare('SELECT sequence FROM archive_1.stored');
    const check = async (stateOf: () => Promise<unknown>, prepared: Awaited<ReturnType<typeof stored>>, is: number) => {
      assert.equal(await stateOf(), { sequence: is, asOfMs: 1000 * is });
      const rows = (await (await prepared.run()).getRows()).flat();
      assert.equal(rows, [BigInt(is)]);
      await reading.run('ROLLBACK');
    };
    const unchanged = await edition.beginReading(reading);
    await check(unchanged, await stored(), 1);
    const before = await edition.beginReading(reading);
    await follow(2);
    await check(before, await stored(), 2);
    const after = await edition.beginReading(reading);
    const prepared = await stored();
    await follow(3);
    await check(after, prepared, 2);
    const { promise, resolve } = Promise.withResolvers<void>();
    const following = follow(4, promise);
    const meanwhile = await edition.beginReading(reading);
    const preparedMeanwhile = await stored();
    resolve();
    await following;
    await check(meanwhile, preparedMeanwhile, 3);
    for (const connection of [making, reading]) connection.closeSync();
    instance.closeSync();
  }),
);

test.run();
