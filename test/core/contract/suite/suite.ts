/** All checks of the contract (docs/contract.md), in its order, against any service. */
import type { Check } from './check.ts';
import { cone } from './cone.ts';
import { cursors } from './cursors.ts';
import { serviceItself } from './descriptions.ts';
import { everyAnswer } from './every_answer.ts';
import { filters } from './filters.ts';
import { lookup } from './lookup.ts';
import { objects } from './objects.ts';
import { recent } from './recent.ts';
import { Service } from './service.ts';
import { tns, withoutRegistry } from './tns.ts';
import { transport } from './transport.ts';

/** For a service that has the world, and a registry that is current. */
export const CHECKS: readonly Check[] = [
  ...transport,
  ...objects,
  ...lookup,
  ...cone,
  ...tns,
  ...filters,
  ...recent,
  ...cursors,
  ...serviceItself,
  ...everyAnswer,
];

/** For a service that has the world, and a registry that is too old. */
export const CHECKS_WITHOUT_REGISTRY: readonly Check[] = [...withoutRegistry, ...everyAnswer];

export interface Outcome {
  readonly name: string;
  /** Why the check failed; undefined if it passed. */
  readonly failure: string | undefined;
}

/** Runs the checks one after the other. @param base scheme, host and port of the service */
export async function* runChecks(base: string, checks: readonly Check[]): AsyncGenerator<Outcome> {
  const service = new Service(base);
  for (const { name, run } of checks) {
    let failure: string | undefined;
    try {
      await run(service);
    } catch (error) {
      const { message, details = '', stack = '' } = error as Error & { details?: string };
      const at = stack.split('\n').find(line => /s\d\d_|every_answer/.test(line));
      failure = [message, details, at?.trim()].filter(Boolean).join('\n');
    }
    yield { name, failure };
  }
}
