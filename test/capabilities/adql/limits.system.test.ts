/** Queries that take all memory or all time that a query may have. */
import { existsSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { type Running, startApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { ask, csv } from './ask.ts';

const test = suite<{ running: Running }>('tap/limits');
const check = needs(test, duckdbObstacle());

test.before(async context => {
  const fill = (world: Running['world']) => storeObjects(world, trueObjects(400));
  context.running = await startApp(fill, { TAP_QUERY_SECONDS: '8', TAP_MAX_RECORDS: '5000', TAP_MEMORY_MIB: '128' });
});

test.after(({ running }) => running.close());

check('a query that takes more memory than all may is ended, and others go on', async ({ running }) => {
  const pairs = `SELECT DISTINCT CAST(a.diaObjectId AS VARCHAR) || '${'-'.repeat(2000)}' || CAST(b.diaObjectId AS VARCHAR) AS ids`;
  const large = `SELECT COUNT(*) FROM (${pairs} FROM objects a, objects b) t`;
  // The place where DuckDB puts data that do not fit into memory, unless it is configured otherwise.
  const spilled = '.tmp';
  assert.not(existsSync(spilled), `remove ${spilled}, which an earlier run has left`);
  const { status, text } = await ask(running, large);
  assert.is(status, 400);
  assert.not(existsSync(spilled));
  assert.ok(text.includes('takes more memory than is allowed for a query'), text.slice(0, 900));
  assert.is((await csv(running, 'SELECT COUNT(*) FROM objects')).length, 1);
});

check('a query that takes longer than it may is ended, and others go on', async ({ running }) => {
  const endless = `SELECT SUM(a.ra * b.ra * c.ra * d.ra) FROM objects a, objects b, objects c, objects d`;
  const asked = ask(running, endless);
  assert.is((await csv(running, 'SELECT COUNT(*) FROM objects')).length, 1);
  const { status, text } = await asked;
  assert.is(status, 400);
  assert.match(text, 'takes longer than is allowed');
});

test.run();
