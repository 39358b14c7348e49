/** Counts (`response=count`; docs/contract.md, Filters and counts). */

import { toJson } from '@nearsky/astrotables/json';
import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import { queryKind } from '../../core/answers/queries.ts';
import {
  INPUT_STATUSES,
  type InputStatus,
  namesOf,
  OBJECT_REASONS,
  OBJECT_STATUSES,
  type ObjectStatus,
  type QualifiesReason,
} from '../../core/contract/enums.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { statusOfView } from '../../core/store/status.ts';
import { WEIGHT_OF_INPUTS } from './lookup_answer.ts';
import { Qualifier } from './qualify.ts';
import type { CountQuery, LookupInput } from './queries.ts';
import { type Found, findCircle, findName, readRow } from './search.ts';

export const COUNT = queryKind<CountQuery>({ name: 'count', answer: countAnswer, ...WEIGHT_OF_INPUTS, isCount: true });

export function* countAnswer({ inputs, filters }: CountQuery, context: QueryContext): Steps {
  const counts = new Counts(context, filters ? new Qualifier(filters, context) : undefined);
  for (const input of inputs) {
    if (context.clock.due) yield;
    yield* counts.add(input);
  }
  const { out, fragments } = context;
  const rest = { response: 'count', filters: filters && Object.fromEntries(filters), counts: counts.wire() };
  out.fragment(fragments.start);
  out.longText(`, ${toJson(rest).slice(1)}`);
}

interface Counted {
  readonly status: ObjectStatus;
  /** Undefined without filters. */
  readonly reason: QualifiesReason | undefined;
}

interface CountedInput {
  readonly status: ObjectStatus | InputStatus;
  readonly qualifies: boolean;
}

class Counts {
  readonly #context: QueryContext;
  readonly #qualifier: Qualifier | undefined;
  /** The objects found so far, without duplicates. */
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

  *add(input: LookupInput): Steps {
    const { status, qualifies } = yield* this.#countInput(input);
    this.#inputs++;
    this.#inputStatuses[status]++;
    if (qualifies) this.#qualifyingInputs++;
  }

  *#countInput(input: LookupInput): InSteps<CountedInput> {
    switch (input.kind) {
      case 'id': {
        const { diaObjectId } = input;
        const { stored, object } = this.#context;
        const { status, reason } = this.#count(diaObjectId, () =>
          stored.readObject(diaObjectId, object) ? object : undefined,
        );
        return { status, qualifies: reason === 'meets_filters' };
      }
      case 'position':
        return yield* this.#countFound(yield* findCircle(this.#context, input));
      case 'tns':
        return yield* this.#countFound(yield* findName(this.#context, input));
      case 'invalid':
        return { status: 'invalid_input', qualifies: false };
    }
  }

  *#countFound({ status, rows = [] }: Found): InSteps<CountedInput> {
    let qualifies = false;
    for (const row of rows) {
      if (this.#context.clock.due) yield;
      const { reason } = this.#count(row.id, () => readRow(this.#context, row));
      if (reason === 'meets_filters') qualifies = true;
    }
    return { status, qualifies };
  }

  #count(diaObjectId: bigint, read: () => ObjectView | undefined): Counted {
    let counted = this.#objects.get(diaObjectId);
    if (!counted) {
      const object = read();
      counted = {
        status: object ? statusOfView(object) : 'not_in_service',
        reason: this.#qualifier?.reasonOf(object),
      };
      this.#objects.set(diaObjectId, counted);
    }
    return counted;
  }

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
