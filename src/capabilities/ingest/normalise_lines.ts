/** The task `normalise`: normalises the lines of a file, each of which is a message of a broker. */

import { fromEventLoop } from '../../core/base/runtime.ts';
import { nowUs } from '../../core/base/times.ts';
import type { BrokerName } from '../../core/contract/brokers.ts';
import type { Task, TaskData, Tasks } from '../../core/pool/pool.ts';
import { packDeliveries } from '../../core/store/packed_deliveries.ts';
import { normaliserOf } from './brokers.ts';
import { addOutcome, noOutcomes, type Outcomes } from './ingester.ts';
import { type LineBlock, MAX_LINE_BYTES, splitLines } from './lines.ts';

export interface NormaliseTask extends Task<NormaliseAnswer> {
  readonly module: 'src/capabilities/ingest/normalise_lines';
  readonly kind: 'normalise';
  readonly broker: BrokerName;
  /** See `MIN_DIASOURCE_RELIABILITY`. */
  readonly minReliability: number;
  /** Where the lines come from, for the log of rejects. */
  readonly file: string;
  readonly block: LineBlock;
}

type NormaliseAnswer = Omit<Outcomes, 'deliveries'> & {
  /** See `packDeliveries`. */
  readonly deliveries: ArrayBuffer;
};

export const tasks: Tasks<NormaliseTask> = { normalise: runNormalise };

function runNormalise(task: NormaliseTask): NormaliseAnswer | Promise<NormaliseAnswer> {
  return fromEventLoop(() => {
    const outcomes = normaliseLines(task);
    return { ...outcomes, deliveries: packDeliveries(outcomes.deliveries) };
  });
}

export function normaliseLines({ broker, minReliability, file, block }: TaskData<NormaliseTask>): Outcomes {
  const normalise = normaliserOf(broker, minReliability);
  const outcomes = noOutcomes();
  const receivedAtUs = nowUs();
  for (const { number, text, problem } of splitLines(block, MAX_LINE_BYTES)) {
    if (!problem && text.trim() === '') {
      outcomes.blank++;
      continue;
    }
    const normalised = problem ? ({ kind: 'rejected', reason: problem } as const) : normalise(text, receivedAtUs);
    addOutcome(outcomes, normalised, { file, line: number }, text);
  }
  return outcomes;
}
