/** The slots and the memory of the areas that streams follow. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AreaSlots } from '../../../src/capabilities/streams/area_slots.ts';

const test = suite('streams/area_slots');

test('half of the slots for one client', () => {
  const slots = new AreaSlots(4, 1000);
  const enter = (client: string) => slots.enter({ client, bytes: 1 });
  const [first] = [enter('a'), enter('a')];
  assert.throws(() => enter('a'), /follow an area/);
  enter('b');
  enter('c');
  assert.throws(() => enter('d'), /follow an area/);
  slots.leave(first!);
  slots.leave(first!);
  enter('d');
  assert.throws(() => enter('e'), /follow an area/);
});

test('half of the memory for one client [Stream of matches]', () => {
  const slots = new AreaSlots(10, 1000);
  const enter = (client: string, bytes: number) => slots.enter({ client, bytes });
  const large = enter('a', 400);
  assert.throws(() => enter('a', 101), /all the memory/);
  enter('a', 100);
  enter('b', 500);
  assert.throws(() => enter('c', 1), /all the memory/);
  slots.leave(large);
  // A refused area holds no slot.
  for (let i = 0; i < 5; i++) enter('c', 1);
  assert.throws(() => enter('c', 1), /follow an area/);
});

test.run();
