/**
 * Walks whose pages come from nodes that lag behind their log by different, changing times, while alerts arrive: a walk
 * is complete, ordered and without repeats, or is told to try again. HOP_WALKS sets how many (40), and
 * HOP_BUDGET_SECONDS for how long a node may wait until it has what the node of the page before had (60).
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseTime } from '../../../src/core/base/parse_time.ts';
import { steadyMs } from '../../../src/core/base/runtime.ts';
import { nowUs } from '../../../src/core/base/times.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import type { LogRead, RecordLog } from '../../../src/core/cluster/record_log.ts';
import { Coordinator } from '../../../src/core/coordinator.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type { StoredObject } from '../../../src/core/store/types.ts';
import { PARTS } from '../../capabilities.ts';
import { coneByScan } from '../../oracle/brute_force.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { MemoryLog } from '../cluster/memory_log.ts';
import { configOf, delivery, eventually, type Json, TestApp, withDirectory } from './support.ts';

const test = suite('http/hops');
const WALKS = Number(process.env.HOP_WALKS ?? 40);
const SETTINGS = { API_REQUEST_BUDGET_SECONDS: process.env.HOP_BUDGET_SECONDS ?? '60' };
const AT_ONCE = 40;
const NODES = 3;
const LONGEST_LAG_MS = 10_000;
const FIELDS: readonly Place[] = [
  { ra: 0.001, dec: -30 },
  { ra: 120, dec: 89.999 },
  { ra: 200, dec: 5 },
];
const RADIUS_ARCSEC = 30;
const BEFORE = 400;
const ALERT_MS = 20;
const STEP_MS = 10;
const LAG_CHANGE_MS = 2000;

const random = seededRandom(Number(process.env.HOP_SEED ?? Date.now()));
const pick = <T>(values: readonly T[]): T => values[Math.floor(values.length * random())]!;

/** The log as one node sees it: without the newest records. */
class Delayed implements RecordLog {
  lagMs = 0;
  readonly #log: MemoryLog;
  readonly #cameMs: readonly number[];

  constructor(log: MemoryLog, cameMs: readonly number[]) {
    this.#log = log;
    this.#cameMs = cameMs;
  }

  async identity(): Promise<string> {
    return this.#log.identity;
  }

  append(): Promise<void> {
    throw new Error('only the alerts are written');
  }

  elect(duty: string) {
    return this.#log.elect(duty);
  }

  async read(from: number): Promise<LogRead> {
    const visible = this.#cameMs.findLastIndex(ms => ms <= performance.now() - this.lagMs) + 1;
    // A record that was visible stays visible, even if the node falls further behind.
    const end = Math.max(from, visible);
    return { ...this.#log.read(from, end - from), end };
  }
}

/** A node: its archive, which follows the log, and the service over it. */
class Member {
  readonly link: Delayed;
  readonly store: Store;
  readonly app: TestApp;
  readonly #coordinator: Coordinator;
  readonly #node: Node;
  #isStopping = false;
  #running = Promise.resolve();

  constructor(directory: string, link: Delayed) {
    this.link = link;
    this.store = openStore(directory, 'write');
    this.#node = new Node(this.store, link);
    const threads = () => ({ threads: [], operations: [], replaced: 0 });
    this.#coordinator = new Coordinator({ parts: PARTS, config: configOf(directory), log: () => {}, threads });
    this.app = new TestApp(directory, SETTINGS, this.#coordinator);
  }

  async start(): Promise<void> {
    await this.#step();
    this.#running = this.#follow();
    await this.app.ready();
  }

  async #follow(): Promise<void> {
    for (; !this.#isStopping; await sleep(STEP_MS)) await this.#step();
  }

  async #step(): Promise<void> {
    await this.#node.step();
    const { state } = this.#coordinator;
    [state.logFollowedMs, state.hasCaughtUp, state.logTimeUs] = [
      steadyMs(),
      true,
      readLogPosition(this.store.databases)?.timeUs ?? 0,
    ];
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    await this.app.app.close();
    await this.#coordinator.close();
    await this.#node.close();
    await this.store.close();
  }
}

/** The alerts, in the log. */
class Alerts {
  readonly log = new MemoryLog();
  readonly cameMs: number[] = [];
  #count = 0;

  send(objects: number): void {
    const deliveries = Array.from({ length: objects }, () =>
      delivery(BigInt(++this.#count), { position: offset(pick(FIELDS), 1.2 * RADIUS_ARCSEC * random(), 7 * random()) }),
    );
    // The clocks of nodes differ.
    const timeUs = nowUs() + Math.floor(2e6 * (random() - 0.5));
    for (const record of encodeChange({ kind: 'deliver', timeUs, deliveries })) {
      this.log.append(`${this.log.end}`, record);
      this.cameMs.push(performance.now());
    }
  }
}

interface Walk {
  readonly field: Place;
  readonly asOfUs: number;
  readonly ids: readonly string[];
  readonly pages: number;
}

/** A walk with each page from another node; undefined if a node refused a page and the client gave up. */
async function walk(members: readonly Member[]): Promise<Walk | undefined> {
  const field = pick(FIELDS);
  const size = pick([7, 20, 50]);
  const ids: string[] = [];
  let pages = 0;
  let next = `/api/cone?ra=${field.ra}&dec=${field.dec}&radius_arcsec=${RADIUS_ARCSEC}&detail=ids&page_size=${size}`;
  for (;;) {
    const { status, headers, body, text }: { status: number; headers: Headers; body: Json; text: string } =
      await pick(members).app.get(next);
    if (status !== 200) {
      assert.is(status, 503, text);
      assert.ok(headers.get('Retry-After'), text);
      if (random() < 0.5) return undefined;
      continue;
    }
    pages++;
    ids.push(...body.results[0].objects.map((object: Json) => object.diaObjectId_str));
    if (body.next_cursor === null) return { field, asOfUs: parseTime(body.as_of)!, ids, pages };
    next = `/api/cone?cursor=${body.next_cursor}&page_size=${size}`;
    // The client pauses, because nothing else here lets the nodes continue.
    await sleep(20 * random());
  }
}

/** The objects of a field in the order of a walk, by a scan of everything. */
function expected(stored: readonly StoredObject[], { field, asOfUs }: Walk): string[] {
  const objects = stored.filter(({ ingestTimeUs }) => ingestTimeUs <= asOfUs);
  const timeOf = new Map(objects.map(({ diaObjectId, ingestTimeUs }) => [diaObjectId, ingestTimeUs]));
  const sky = {
    ra: Float64Array.from(objects, ({ position }) => position!.ra),
    dec: Float64Array.from(objects, ({ position }) => position!.dec),
    id: BigInt64Array.from(objects, ({ diaObjectId }) => diaObjectId),
  };
  return coneByScan(sky, field.ra, field.dec, RADIUS_ARCSEC)
    .sort((a, b) => timeOf.get(a)! - timeOf.get(b)! || (a < b ? -1 : 1))
    .map(String);
}

test(`${WALKS} walks that hop between nodes that lag are whole, or told to try again`, () =>
  withDirectory(async directory => {
    const alerts = new Alerts();
    alerts.send(BEFORE);
    const members = Array.from(
      { length: NODES },
      (_, i) => new Member(join(directory, `${i}`), new Delayed(alerts.log, alerts.cameMs)),
    );
    const walks: Walk[] = [];
    let refused = 0;
    let isOver = false;
    const every = async (ms: number, action: () => void) => {
      for (; !isOver; await sleep(ms)) action();
    };
    try {
      for (const member of members) await member.start();
      const beside = [
        every(ALERT_MS, () => alerts.send(1 + Math.floor(3 * random()))),
        every(LAG_CHANGE_MS, () => {
          pick(members).link.lagMs = pick([0, 100 * random(), 1000 * random(), LONGEST_LAG_MS * random()]);
        }),
      ];
      let left = WALKS;
      const client = async () => {
        while (left-- > 0) {
          const walked = await walk(members);
          if (walked) walks.push(walked);
          else refused++;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, client));
      isOver = true;
      await Promise.all(beside);
      for (const { link } of members) link.lagMs = 0;
      const [first] = members;
      await eventually(
        'the first node has everything',
        async () => readLogPosition(first!.store.databases)?.next === alerts.log.end || undefined,
      );
      const stored = [...first!.store.objects()];
      for (const walked of walks) {
        const whole = expected(stored, walked);
        // A first page shows the contents of the node's index; a later page waits for missing objects.
        if (walked.pages > 1) assert.equal(walked.ids, whole);
        else assert.equal(walked.ids, whole.slice(0, walked.ids.length));
      }
      console.log(
        `${walks.length} walks were whole (${walks.filter(({ pages }) => pages > 1).length} over several pages), ${refused} were refused`,
      );
      assert.ok(walks.length > 0);
    } finally {
      isOver = true;
      for (const member of members) await member.close();
    }
  }));

test.run();
