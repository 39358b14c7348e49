/** Which tables of earlier states are made next, and which are replaced. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EarlierStates } from '../../../src/capabilities/adql/earlier_states.ts';
import { failure } from '../../core/store/support.ts';

const test = suite('tap/earlier_states');

const KEY = 'the catalogs';
const requester = (client: string) => ({ client, key: client });

interface Tables {
  readonly contents: { readonly sequence: number; readonly key: string };
  isUsed: boolean;
}

class World {
  nowMs = 0;
  /** The entries whose tables were begun, in that order. */
  readonly begun: number[] = [];
  readonly dropped: number[] = [];
  #making: PromiseWithResolvers<Tables> | undefined;
  readonly states: EarlierStates<Tables>;

  constructor(maxKept: number) {
    this.states = new EarlierStates<Tables>({
      maxKept,
      make: (at, replace) => {
        if (this.#making) return undefined;
        replace?.();
        this.begun.push(at);
        this.#making = Promise.withResolvers();
        return this.#making.promise;
      },
      drop: ({ contents }) => this.dropped.push(contents.sequence),
      now: () => this.nowMs,
    });
  }

  /** Completes the tables that are being made. */
  async made(key = KEY): Promise<void> {
    this.#end(making => making.resolve({ contents: { sequence: this.begun.at(-1)!, key }, isUsed: false }));
    await this.#next();
  }

  async failed(error: Error): Promise<void> {
    this.#end(making => making.reject(error));
    await this.#next();
  }

  #end(end: (making: PromiseWithResolvers<Tables>) => void): void {
    const making = this.#making!;
    this.#making = undefined;
    end(making);
  }

  async #next(): Promise<void> {
    await new Promise(setImmediate);
    this.states.next();
  }

  /** A query that comes: whether its tables are there. */
  comes(at: number, client: string): boolean {
    if (!this.states.get(at, KEY, requester(client))) {
      this.states.request(at, requester(client));
      return false;
    }
    this.states.came(at, requester(client));
    return true;
  }
}

test('tables are made one at a time, in the order of the first requests, and wait for the queries that requested them', async () => {
  const world = new World(1);
  assert.not(world.comes(1, 'a'));
  // Others keep requesting further entries.
  for (const at of [2, 3, 4]) assert.not(world.comes(at, 'b'));
  assert.not(world.comes(5, 'a'));
  await world.made();
  for (const at of [2, 3, 4]) assert.not(world.comes(at, 'b'));
  assert.equal([world.begun, world.dropped], [[1], []], 'the first query has not come again yet');
  for (const [at, client] of [
    [1, 'a'],
    [2, 'b'],
    [3, 'b'],
    [4, 'b'],
  ] as const) {
    assert.ok(world.comes(at, client), `${at}`);
    world.states.next();
    await world.made();
  }
  assert.ok(world.comes(5, 'a'));
  assert.equal(
    [world.begun, world.dropped],
    [
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4],
    ],
  );
});

test('tables that a query reads are not replaced', async () => {
  const world = new World(2);
  for (const at of [1, 2, 3]) world.comes(at, 'a');
  await world.made();
  await world.made();
  const first = world.states.get(1, KEY, requester('a'))!;
  first.isUsed = true;
  world.states.came(1, requester('a'));
  world.states.next();
  assert.equal(world.begun, [1, 2]);
  assert.ok(world.comes(2, 'a'));
  world.states.next();
  assert.equal([world.begun, world.dropped], [[1, 2, 3], [2]]);
});

test('a client has at most half of what waits', async () => {
  const world = new World(1);
  const request = (at: number, client: string) => world.states.request(at, requester(client)) !== undefined;
  const entries = Array.from({ length: 8 }, (_, i) => i + 1);
  assert.equal(
    entries.map(at => request(at, 'a')),
    entries.map(() => true),
  );
  assert.not(request(9, 'a'));
  assert.ok(request(1, 'a'), 'an entry that waits already');
  assert.equal(
    entries.map(at => request(20 + at, 'b')),
    entries.map(() => true),
  );
  assert.not(request(40, 'c'), 'the queue is full');
  assert.ok(request(2, 'c'), 'an entry that waits already');
  await world.made();
  assert.ok(request(9, 'a'));
});

test('a query that does not come again keeps nobody waiting for long', async () => {
  const world = new World(1);
  for (const at of [1, 2]) world.comes(at, 'gone');
  await world.made();
  world.comes(3, 'a');
  assert.equal(world.begun, [1]);
  world.nowMs = 119_000;
  world.comes(3, 'a');
  assert.equal(world.begun, [1]);
  world.nowMs = 121_000;
  world.comes(3, 'a');
  assert.equal([world.begun, world.dropped], [[1, 3], [1]]);
  await world.made();
  assert.ok(world.comes(3, 'a'));
});

test('a failure is the answer for half a minute; the next entry does not wait', async () => {
  const world = new World(1);
  const waiting = failure(() => world.states.request(1, requester('a')));
  world.comes(2, 'b');
  const error = new Error('the disk is full');
  await world.failed(error);
  assert.is(await waiting, error);
  assert.is(await failure(() => world.comes(1, 'a')), error);
  assert.equal(world.begun, [1, 2]);
  await world.made();
  assert.ok(world.comes(2, 'b'));
  world.nowMs = 31_000;
  assert.not(world.comes(1, 'a'));
  await world.made();
  assert.ok(world.comes(1, 'a'));
});

test('tables for other catalogs are made again, and replace none of another entry', async () => {
  const world = new World(2);
  for (const at of [1, 2]) world.comes(at, 'a');
  await world.made('other catalogs');
  await world.made();
  assert.not(world.comes(1, 'a'));
  assert.equal([world.begun, world.dropped], [[1, 2, 1], [1]]);
  await world.made();
  assert.ok(world.comes(1, 'a') && world.comes(2, 'a'));
});

test('an entry that the history no longer has is forgotten', async () => {
  const world = new World(2);
  for (const at of [1, 2, 3]) world.comes(at, 'a');
  await world.made();
  world.states.removeWhere(at => (at === 2 ? undefined : 'it is gone'));
  assert.equal(world.dropped, [1]);
  await world.made();
  assert.ok(world.comes(2, 'a'));
  world.states.next();
  assert.equal(world.begun, [1, 2]);
  assert.not(world.states.isQueued());
});

test.run();
