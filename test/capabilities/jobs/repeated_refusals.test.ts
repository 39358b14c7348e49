/** A client that retries too early is refused before its request is read; other clients are not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RepeatedRefusals } from '../../../src/capabilities/jobs/repeated_refusals.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';

const test = suite('http/repeated_refusals');

/** More than the time within which refusals count. */
const LATER_MS = 1500;

const ASKED = 20;
const FULL = new Unavailable('all slots are in use', 5);

/** The number of requests that are read, of `ASKED` ones that are all refused. */
async function readOf(refusals: RepeatedRefusals, client: string): Promise<number> {
  let read = 0;
  const ask = () =>
    refusals.run(client, async () => {
      read++;
      throw FULL;
    });
  const outcomes: unknown[] = [];
  for (let i = 0; i < ASKED; i++) outcomes.push(ask().catch(error => error));
  for (const error of await Promise.all(outcomes)) assert.is(error, FULL);
  return read;
}

test('after many refusals, the next requests are refused unread, and those of others are read', async () => {
  const refusals = new RepeatedRefusals();
  assert.is(await readOf(refusals, 'a'), ASKED, 'none was refused when they began');
  const again = readOf(refusals, 'a');
  assert.is(await refusals.run('b', async () => 'read'), 'read');
  assert.is(await again, 0);
});

test('a client that has waited, or made room, is read again', async () => {
  const refusals = new RepeatedRefusals();
  await readOf(refusals, 'a');
  refusals.forget('a');
  assert.is(await refusals.run('a', async () => 'read'), 'read');
  await readOf(refusals, 'a');
  await sleep(LATER_MS);
  assert.is(await refusals.run('a', async () => 'read'), 'read');
});

test.run();
