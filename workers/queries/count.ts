/** Counts (`response=count`; wire contract, section 8.4). */
import {
  INPUT_STATUSES,
  type InputStatus,
  namesOf,
  OBJECT_REASONS,
  OBJECT_STATUSES,
  type ObjectStatus,
  type QualifiesReason,
} from '../../src/contract/enums.ts';
import { statusOf } from '../../src/store/status.ts';
import type { StoredObject } from '../../src/store/types.ts';
import { toJson } from '../json.ts';
import type { CountQuery, LookupInput } from '../tasks.ts';
import type { QueryContext } from './context.ts';
import { Qualifier } from './qualify.ts';
import { type Found, findCircle, findName, readRow } from './search.ts';

export function countAnswer({ inputs, filters }: CountQuery, context: QueryContext): string {
  const counts = new Counts(context, filters ? new Qualifier(filters, context) : undefined);
  for (const input of inputs) counts.add(input);
  return toJson({
    provenance: context.facts.provenance,
    response: 'count',
    filters: filters && Object.fromEntries(filters),
    counts: counts.wire(),
  });
}

interface Counted {
  readonly status: ObjectStatus;
  /** undefined without filters. */
  readonly reason: QualifiesReason | undefined;
}

class Counts {
  readonly #context: QueryContext;
  readonly #qualifier: Qualifier | undefined;
  /** Each object that was reached, once. */
  readonly #objects = new Map<bigint, Counted>();
  readonly #inputStatuses = zeroes<ObjectStatus | InputStatus>([
    ...namesOf(OBJECT_STATUSES),
    ...namesOf(INPUT_STATUSES),
  ]);
  #inputs = 0;
  #qualifyingInputs = 0;

  constructor(context: QueryContext, qualifier: Qualifier | undefined) {
    this.#context = context;
    this.#qualifier = qualifier;
  }

  add(input: LookupInput): void {
    this.#context.deadline.check();
    const { status, qualifies } = this.#countInput(input);
    this.#inputs++;
    this.#inputStatuses[status]++;
    if (qualifies) this.#qualifyingInputs++;
  }

  #countInput(input: LookupInput): { readonly status: ObjectStatus | InputStatus; readonly qualifies: boolean } {
    switch (input.kind) {
      case 'id': {
        const { diaObjectId } = input;
        const { status, reason } = this.#count(diaObjectId, () => this.#context.store.getObject(diaObjectId));
        return { status, qualifies: reason === 'meets_filters' };
      }
      case 'position':
        return this.#countFound(findCircle(this.#context, input));
      case 'tns':
        return this.#countFound(findName(this.#context, input));
      case 'invalid':
        return { status: 'invalid_input', qualifies: false };
    }
  }

  #countFound({ status, rows = [] }: Found) {
    let qualifies = false;
    for (const row of rows) {
      this.#context.deadline.check();
      const { reason } = this.#count(row.id, () => readRow(this.#context, row));
      if (reason === 'meets_filters') qualifies = true;
    }
    return { status, qualifies };
  }

  #count(diaObjectId: bigint, read: () => StoredObject | undefined): Counted {
    let counted = this.#objects.get(diaObjectId);
    if (!counted) {
      const object = read();
      counted = { status: object ? statusOf(object) : 'not_in_service', reason: this.#qualifier?.reasonOf(object) };
      this.#objects.set(diaObjectId, counted);
    }
    return counted;
  }

  /** The `counts` of the answer. */
  wire() {
    const byStatus = zeroes(namesOf(OBJECT_STATUSES));
    const byReason = zeroes(OBJECT_REASONS);
    for (const { status, reason } of this.#objects.values()) {
      byStatus[status]++;
      if (reason) byReason[reason]++;
    }
    const filtered = this.#qualifier !== undefined;
    return {
      inputs: {
        total: this.#inputs,
        by_status: this.#inputStatuses,
        qualifying: filtered ? this.#qualifyingInputs : null,
      },
      objects: {
        total: this.#objects.size,
        by_status: byStatus,
        qualifying: filtered ? byReason.meets_filters : null,
        by_qualifies_reason: filtered ? byReason : null,
      },
    };
  }
}

function zeroes<T extends string>(names: readonly T[]): Record<T, number> {
  return Object.fromEntries(names.map(name => [name, 0])) as Record<T, number>;
}
