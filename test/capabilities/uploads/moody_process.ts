/** A process that reads nothing and does what its task says. It notes its mood when it begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import { note } from '../../../src/capabilities/uploads/process_tasks.ts';
import type { Task, Tasks } from '../../../src/core/pool/pool.ts';
import { threadData } from '../../../src/core/pool/thread_data.ts';

export interface MoodyTask extends Task<string> {
  readonly module: 'test/capabilities/uploads/moody_process';
  readonly kind: 'mood';
  readonly mood: keyof typeof DOES;
  /** The memory that it takes first. */
  readonly mib?: number;
}

const GARBAGE_BYTES = 128 << 20;

const DOES = {
  answers: async () => undefined,
  answersWithData: async () => threadData<{ answer: string }>().answer,
  answersLate: () => sleep(1000, undefined),
  tellsItsId: async () => `${process.pid}`,
  leavesGarbage: async () => `${new Uint8Array(GARBAGE_BYTES).fill(1).length > 0 && process.pid}`,
  hangs: () => sleep(1_000_000_000, undefined),
} as const;

// Other processes take the processor while it starts.
await sleep(Number(process.env.MOODY_START_MS ?? 0));

let taken = new Uint8Array();

export const tasks: Tasks<MoodyTask> = { mood: run };

async function run({ mood, mib = 0 }: MoodyTask): Promise<string> {
  taken = new Uint8Array(mib << 20).fill(1);
  note(mood);
  const answer = (await DOES[mood]()) ?? mood;
  return taken.length > 0 ? `${answer} with ${taken.length >> 20} MiB` : answer;
}
