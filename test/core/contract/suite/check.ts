/** The form of a check, and helpers of the checks. */
import * as assert from 'uvu/assert';
import type { Json, Service } from './service.ts';

export interface Check {
  /** The section of the contract (docs/contract.md) that it checks, then the statement. */
  readonly name: string;
  run(service: Service): Promise<void>;
}

/** The checks of a section, by statement. */
export function section(title: string, checks: Readonly<Record<string, Check['run']>>): readonly Check[] {
  return Object.entries(checks).map(([says, run]) => ({ name: `${title}: ${says}`, run }));
}

/** The object has these keys (words) and no others. */
export function hasKeys(object: Json, keys: string, what = ''): void {
  assert.equal(Object.keys(object).sort(), keys.split(' ').sort(), what);
}

export const INVALID = 'invalid_parameter';
