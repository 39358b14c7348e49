/** Slots that clients share. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ClientAdmission, type SlotsOptions } from '../../../src/core/base/client_admission.ts';
import { ClientRoom } from '../../../src/core/base/client_room.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';

const test = suite('base/client_admission');

const SOON = 10_000;

function slotsOf(slots: number, options: Partial<SlotsOptions> = {}) {
  let nowMs = 0;
  const admission = new ClientAdmission(() => nowMs);
  return {
    admission,
    pass: (ms: number) => (nowMs += ms),
    slots: admission.slots({ slots, maxWaiting: 10, isFull: 'all is full', ...options }),
  };
}

async function refusalOf(entering: Promise<unknown>): Promise<Unavailable | undefined> {
  const error = await entering.then(
    () => undefined,
    error => error,
  );
  if (error !== undefined) assert.equal([error instanceof Unavailable, error.message], [true, 'all is full']);
  return error;
}

test('one client has half of the slots; the others are for others', async () => {
  const { slots } = slotsOf(4);
  const own = [await slots.enter('a', SOON), await slots.enter('a', SOON)];
  assert.ok(await refusalOf(slots.enter('a', 5)));
  assert.throws(() => slots.enterNow('a'), /all is full/);
  await slots.enter('b', SOON);
  slots.enterNow('c');
  assert.ok(await refusalOf(slots.enter('d', 5)), 'all are taken');
  assert.throws(() => slots.enterNow('d'), /all is full/);
  own[0]!(1);
  own[0]!(1);
  await slots.enter('a', SOON);
  assert.ok(await refusalOf(slots.enter('a', 5)), 'a slot is given back once');
});

test('of one slot, too, a client has one, and then it is the turn of whoever has used least [Crossmatch of a table]', async () => {
  const { slots, admission, pass } = slotsOf(1);
  const leave = await slots.enter('a', SOON);
  const order: string[] = [];
  const later = ['a', 'b', 'a', 'c'].map(async client => {
    const left = await slots.enter(client, SOON);
    order.push(client);
    left(client === 'b' ? 30 : 1);
  });
  admission.addCpu('c', 5);
  leave(20);
  await Promise.all(later);
  assert.equal(order, ['b', 'c', 'a', 'a']);
  pass(600_000);
  assert.ok(admission.cpuOf('b') < 0.01, 'use fades');
});

test('processor time of one kind of work counts in all others', async () => {
  const { slots: tables, admission } = slotsOf(1);
  const queries = admission.slots({ slots: 1, isFull: 'all is full', maxWaiting: 10 });
  (await tables.enter('a', SOON))(50);
  const leave = await queries.enter('c', SOON);
  const order: string[] = [];
  const later = ['a', 'b'].map(client => queries.run(client, SOON, async () => void order.push(client)));
  leave();
  await Promise.all(later);
  assert.equal(order, ['b', 'a']);
});

test('who waits in vain leaves no trace; of those who wait, one client is half [Areas; Crossmatch of a table]', async () => {
  const { slots } = slotsOf(2, { maxWaiting: 4 });
  const leave = await slots.enter('a', SOON);
  const waiting = [slots.enter('a', SOON), slots.enter('a', 5)];
  assert.ok(await refusalOf(slots.enter('a', SOON)), 'half of those who wait');
  assert.ok(await refusalOf(waiting[1]!));
  leave(0);
  (await waiting[0]!)(0);
  await slots.enter('b', 5);
});

test('who goes away while waiting leaves the queue', async () => {
  const { slots } = slotsOf(2, { maxWaiting: 2 });
  const leave = await slots.enter('a', SOON);
  const gone = new AbortController();
  const waits = slots.enter('a', SOON, gone.signal).catch(error => error);
  assert.ok(await refusalOf(slots.enter('a', SOON)), 'the half of the queue');
  gone.abort();
  assert.is(await waits, gone.signal.reason);
  const next = slots.enter('a', SOON);
  leave();
  (await next)();
});

test('a refusal says when a slot may be free: by how long slots were held, and are held now [Headers]', async () => {
  const { slots, pass } = slotsOf(2, { maxWaiting: 0 });
  const held = async (client: string, ms: number) => {
    const leave = await slots.enter(client, SOON);
    pass(ms);
    leave();
  };
  const seconds = async (client: string) => (await refusalOf(slots.enter(client, SOON)))?.retryAfterSeconds;
  for (let i = 0; i < 40; i++) await held('a', 20_000);
  const leave = await slots.enter('a', SOON);
  assert.is(await seconds('a'), 20, 'its own slot is held for 20 s');
  await slots.enter('b', SOON);
  assert.is(await seconds('c'), 10, 'one of two slots');
  pass(5000);
  assert.is(await seconds('a'), 20);
  pass(95_000);
  assert.is(await seconds('a'), 100, 'longer than usual');
  pass(3_600_000);
  assert.is(await seconds('c'), 600);
  leave();
  for (let i = 0; i < 60; i++) await held('a', 10);
  await slots.enter('a', SOON);
  assert.ok((await seconds('a'))! > 600 / 2, 'the slot of b is held all this time');
});

test('a refusal of a client whose results are not read says how long they usually are not read', async () => {
  const { slots, pass } = slotsOf(2, { maxWaiting: 0, maxBetween: 2 });
  const work = await slots.enterStepped('a', SOON);
  pass(10);
  work.pause();
  pass(29_990);
  assert.is((await refusalOf(slots.enter('a', SOON)))?.retryAfterSeconds, 30);
});

test("between its steps, work gives its slot to who has used less, and is part of its client's share", async () => {
  const { slots, admission, pass } = slotsOf(2, { maxBetween: 1 });
  const works = [await slots.enterStepped('a', SOON), await slots.enterStepped('b', SOON)];
  const order: string[] = [];
  const note = async (name: string, waits: Promise<unknown>) => {
    await waits;
    order.push(name);
  };
  const small = slots.enter('c', SOON);
  const noted = note('c', small);
  pass(500);
  works[0]!.pause();
  await noted;
  assert.is(admission.cpuOf('a'), 0.5, 'a step counts as long as it lasts');
  assert.ok(await refusalOf(slots.enter('a', 5)), 'the share of a');
  const next = note('a', works[0]!.resume());
  assert.ok(await refusalOf(slots.enter('d', 5)), 'as many are admitted as may be');
  (await small)();
  await next;
  works[1]!.pause();
  await slots.enter('d', SOON);
  const later = [note('b', works[1]!.resume()), note('e', slots.enter('e', SOON))];
  pass(1000);
  works[0]!.leave();
  await later[0];
  assert.equal(order, ['c', 'a', 'b'], 'who has waited a second for its next step is before who has used less');
  works[1]!.leave();
  await later[1];
});

test('one slot is left for work that begins', async () => {
  const { slots } = slotsOf(3, { maxBetween: 3 });
  const works = [];
  for (const client of ['a', 'b', 'c']) works.push(await slots.enterStepped(client, SOON));
  for (const work of works) work.pause();
  let steps = 0;
  const resumed = works.map(work => work.resume().then(() => steps++));
  await resumed[1];
  await slots.enter('d', SOON);
  assert.is(steps, 2);
  works[0]!.pause();
  await resumed[2];
});

test('work that leaves while it waits for its next step takes no slot', async () => {
  const { slots } = slotsOf(1, { maxBetween: 1 });
  const work = await slots.enterStepped('a', SOON);
  work.pause();
  const leave = await slots.enter('b', SOON);
  const waits = work.resume();
  work.leave();
  await waits;
  work.pause();
  await work.resume();
  leave();
  await slots.enter('a', SOON);
  assert.ok(await refusalOf(slots.enter('b', 5)));
});

test('work that fails gives its slot back, and its time counts', async () => {
  const { slots, admission, pass } = slotsOf(1);
  const work = slots.run('a', SOON, async () => {
    pass(3000);
    throw new Error('no');
  });
  assert.is(await work.catch(({ message }) => message), 'no');
  assert.is(admission.cpuOf('a'), 3);
  await slots.run('a', SOON, async took => took(2));
  assert.is(admission.cpuOf('a'), 5);
});

test('one client has half of the room for files', () => {
  const room = new ClientRoom({ maxBytes: 100, isFull: 'used up', isHalf: 'of this client' });
  room.take('a', 50);
  assert.throws(() => room.take('a', 1), /of this client/);
  room.take('b', 40);
  assert.throws(() => room.take('c', 11), /used up/);
  room.free('a', 50);
  room.take('a', 50);
});

test('clients share the space that is left, whatever was promised', () => {
  let free = 80;
  const room = new ClientRoom({ maxBytes: 1000, spareBytes: () => free, isFull: 'used up', isHalf: 'of this client' });
  const take = (client: string, bytes: number) => {
    room.take(client, bytes);
    free -= bytes;
  };
  assert.is(room.left('a'), 40);
  take('a', 40);
  assert.throws(() => take('a', 1), /of this client/);
  take('b', 40);
  assert.throws(() => take('c', 1), /used up/);
  room.free('a', 40);
  free += 40;
  take('c', 40);
});

test.run();
