/** Places that clients share. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ClientUse, FairPlaces } from '../../src/base/fair_places.ts';
import { Unavailable } from '../../src/base/refusal.ts';
import { SpoolRoom } from '../../src/base/spool.ts';

const test = suite('base/fair_places');

const SOON = 10_000;

function placesOf(places: number, maxWaiting = 10) {
  let nowMs = 0;
  const use = new ClientUse(() => nowMs);
  return {
    use,
    pass: (ms: number) => (nowMs += ms),
    places: new FairPlaces({ places, use, maxWaiting, isFull: 'all is full' }),
  };
}

async function isRefused(entering: Promise<unknown>): Promise<boolean> {
  return await entering.then(
    () => false,
    error => error instanceof Unavailable && error.message === 'all is full',
  );
}

test('one client has half of the places; the others are for others', async () => {
  const { places } = placesOf(4);
  const own = [await places.enter('a', SOON), await places.enter('a', SOON)];
  assert.ok(await isRefused(places.enter('a', 5)));
  await places.enter('b', SOON);
  await places.enter('c', SOON);
  assert.ok(await isRefused(places.enter('d', 5)), 'all are taken');
  own[0]!(1);
  own[0]!(1);
  await places.enter('a', SOON);
  assert.ok(await isRefused(places.enter('a', 5)), 'a place is given back once');
});

test('of one place, too, a client has one, and then it is the turn of whoever has used least', async () => {
  const { places, use, pass } = placesOf(1);
  const leave = await places.enter('a', SOON);
  const order: string[] = [];
  const later = ['a', 'b', 'a', 'c'].map(async client => {
    const left = await places.enter(client, SOON);
    order.push(client);
    left(client === 'b' ? 30 : 1);
  });
  use.add('c', 5);
  leave(20);
  await Promise.all(later);
  assert.equal(order, ['b', 'c', 'a', 'a']);
  pass(600_000);
  assert.ok(use.of('b') < 0.01, 'use fades');
});

test('who waits in vain leaves no trace; of those who wait, one client is half', async () => {
  const { places } = placesOf(2, 4);
  const leave = await places.enter('a', SOON);
  const waiting = [places.enter('a', SOON), places.enter('a', 5)];
  assert.ok(await isRefused(places.enter('a', SOON)), 'half of those who wait');
  assert.ok(await isRefused(waiting[1]!));
  leave(0);
  (await waiting[0]!)(0);
  await places.enter('b', 5);
});

test('one client has half of the room for files', () => {
  const room = new SpoolRoom(100);
  room.take('a', 50);
  assert.throws(() => room.take('a', 1), /of this client/);
  room.take('b', 40);
  assert.throws(() => room.take('c', 11), /no room/);
  room.free('a', 50);
  room.take('a', 50);
});

test.run();
