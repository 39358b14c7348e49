/** Lookups: one result an input (wire contract, sections 4.4 to 4.6). */
import type { Truncation } from '../../src/contract/enums.ts';
import type { Wire } from '../encode.ts';
import { Rendered, rendered, toJson } from '../json.ts';
import type { IdInput, InvalidInput, LookupInput, LookupQuery, PositionInput, TnsInput } from '../tasks.ts';
import { formatTimeOrNull } from '../times.ts';
import type { QueryContext } from './context.ts';
import { Listing } from './listing.ts';
import { type Found, findCircle, findName, inOrder } from './search.ts';

export function lookupAnswer(query: LookupQuery, context: QueryContext): string {
  const lookup = new Lookup(query, context);
  const results = query.inputs.map((input, index) => {
    context.deadline.check();
    return rendered(lookup.result(input, index));
  });
  return toJson(lookup.listing.answer(results, lookup.truncated));
}

class Lookup {
  readonly listing: Listing;
  /** Whether the limit of the request cut some result. */
  truncated = false;
  readonly #context: QueryContext;
  readonly #maxPerInput: number;
  /** What positions and names may still list. */
  #left: number;

  constructor({ inputs, detail, filters, maxObjectsPerInput, maxObjects }: LookupQuery, context: QueryContext) {
    this.#context = context;
    this.listing = new Listing(context, detail, filters);
    this.#maxPerInput = maxObjectsPerInput;
    this.#left = Math.max(0, maxObjects - inputs.filter(({ kind }) => kind === 'id').length);
  }

  result(input: LookupInput, index: number): Wire {
    switch (input.kind) {
      case 'id':
        return { index, ...this.#ofId(input) };
      case 'position':
        return { index, ...this.#ofPosition(input) };
      case 'tns':
        return { index, ...this.#ofName(input) };
      case 'invalid':
        return { index, ...this.#ofInvalid(input) };
    }
  }

  #ofId({ kind, sent, diaObjectId }: IdInput): Wire {
    const object = this.#context.store.getObject(diaObjectId);
    const entry = this.listing.objectOfId(diaObjectId, object);
    return {
      kind,
      input: new Rendered(sent),
      normalized: { kind, diaObjectId, diaObjectId_str: `${diaObjectId}` },
      status: entry.status,
      objects: [entry],
      ...this.listing.marksOfObject(object),
    };
  }

  #ofPosition(input: PositionInput): Wire {
    const { kind, sent, ra, dec, radiusArcsec } = input;
    const found = findCircle(this.#context, input);
    return {
      kind,
      input: new Rendered(sent),
      normalized: { kind, ra, dec, radius_arcsec: radiusArcsec },
      status: found.status,
      ...this.#listed(found),
      ...this.listing.marksOfFound(found),
    };
  }

  #ofName(input: TnsInput): Wire {
    const { kind, sent, name, radiusArcsec } = input;
    const found = findName(this.#context, input);
    const { record, snapshotEpochUs } = found;
    return {
      kind,
      input: new Rendered(sent),
      normalized: { kind, name, radius_arcsec: radiusArcsec },
      status: found.status,
      ...this.#listed(found),
      tns: record ? this.#context.facts.tnsRecord(record) : null,
      tns_snapshot_epoch: formatTimeOrNull(snapshotEpochUs),
      ...this.listing.marksOfFound(found),
    };
  }

  #ofInvalid({ sent, sentKind, error }: InvalidInput): Wire {
    return {
      kind: new Rendered(sentKind),
      input: new Rendered(sent),
      normalized: null,
      status: 'invalid_input',
      objects: [],
      error,
      ...this.listing.marksOfInvalid(),
    };
  }

  /** What a search lists of what it found, by both limits. */
  #listed({ circle, rows }: Found): Wire {
    if (!circle || !rows) return { objects: [], total: null, truncated: false, truncation: null };
    let truncation: Truncation | null = rows.length > this.#maxPerInput ? 'per_input_limit' : null;
    let listed = inOrder(rows).slice(0, this.#maxPerInput);
    if (listed.length > this.#left) {
      listed = listed.slice(0, this.#left);
      truncation = 'per_request_limit';
      this.truncated = true;
    }
    this.#left -= listed.length;
    const objects = this.listing.objectsOfRows(circle, listed);
    return { objects, total: rows.length, truncated: truncation !== null, truncation };
  }
}
