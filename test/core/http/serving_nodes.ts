/** Two nodes of a log in memory, each with a service over its archive. */
import { steadyMs } from '../../../src/core/base/runtime.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import type { Coordinator } from '../../../src/core/coordinator.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Link, MemoryLog } from '../cluster/memory_log.ts';
import { type Answer, configOf, coordinatorOf, delivery, NOW_US, TestApp, withDirectory } from './support.ts';

export const HEADER = 'X-Log-Position';

/** A node with a service over its archive. */
export class ServingNode {
  readonly #node: Node;
  readonly #store: ReturnType<typeof openStore>;
  readonly #coordinator: Coordinator;
  readonly app: TestApp;

  constructor(directory: string, log: MemoryLog) {
    this.#store = openStore(directory, 'write');
    const link = new Link(log);
    link.most = 1;
    this.#node = new Node(this.#store, link);
    this.#coordinator = coordinatorOf(configOf(directory));
    this.#coordinator.state.logFollowedMs = steadyMs();
    this.#report();
    this.app = new TestApp(directory, { API_REQUEST_BUDGET_SECONDS: '1' }, this.#coordinator);
  }

  #report(): void {
    const { next = 0, timeUs = 0 } = readLogPosition(this.#store.databases) ?? {};
    const { state } = this.#coordinator;
    [state.logPosition, state.logTimeUs] = [next, timeUs];
  }

  /** Applies a record; `isTold`: whether its service knows at once. */
  async step(isTold = true): Promise<void> {
    await this.#node.step();
    if (isTold) this.#report();
  }

  get(path: string, place?: string | null): Promise<Answer> {
    return this.app.get(path, place ? { headers: { [HEADER]: place } } : {});
  }

  async close(): Promise<void> {
    await this.app.app.close();
    await this.#coordinator.close();
    await this.#store.close();
  }
}

export const withNodes = (body: (nodes: readonly [ServingNode, ServingNode], log: MemoryLog) => Promise<void>) =>
  withDirectory(async directory => {
    const log = new MemoryLog();
    const nodes = [new ServingNode(`${directory}/a`, log), new ServingNode(`${directory}/b`, log)] as const;
    try {
      for (const { app } of nodes) await app.ready();
      await body(nodes, log);
    } finally {
      for (const node of nodes) await node.close();
    }
  });

export function deliver(log: MemoryLog, id: bigint): void {
  const [record] = encodeChange({ kind: 'deliver', timeUs: NOW_US, deliveries: [delivery(id)] });
  log.append(`${log.end}`, record!);
}
