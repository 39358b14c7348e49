/** Answers lookups, with one result per input (docs/contract.md, Lookup). */
import { fragment } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import { type ObjectList, ObjectWriter } from '../../core/answers/object_writer.ts';
import { queryKind } from '../../core/answers/queries.ts';
import { BRACE, END_OF_LIST, SEPARATOR } from '../../core/answers/shared_fragments.ts';
import { formatTimeOrNull } from '../../core/base/times.ts';
import type { Truncation } from '../../core/contract/enums.ts';
import {
  type IdInput,
  type InvalidInput,
  type LookupInput,
  type LookupQuery,
  OBJECTS_PER_POSITION,
  type PositionInput,
  type TnsInput,
} from './queries.ts';
import { Listing, writePosition } from './result_list.ts';
import { type Found, findCircle, findName, inOrder } from './search.ts';

const INDEX = fragment('{"index": ');
const ID_INPUT = fragment(', "kind": "id", "input": ');
const TNS_INPUT = fragment(', "kind": "tns", "input": ');
const NORMALIZED_ID = fragment(', "normalized": {"kind": "id", "diaObjectId": ');
const NORMALIZED_ID_TEXT = fragment(', "diaObjectId_str": "');
const STATUS_OF_ID = fragment('"}, "status": "');
const OBJECTS = fragment('", "objects": [');
const TOTAL = fragment('], "total": ');
const TRUNCATED = fragment(', "truncated": ');
const TRUNCATION = fragment(', "truncation": ');

/** The figures by which inputs are admitted. */
export const WEIGHT_OF_INPUTS = {
  objects: ({ inputs }: Pick<LookupQuery, 'inputs'>) =>
    inputs.reduce((sum, { kind }) => sum + (kind === 'id' ? 1 : OBJECTS_PER_POSITION), 0),
  searchesIndex: ({ inputs }: Pick<LookupQuery, 'inputs'>) => inputs.some(({ kind }) => kind === 'position'),
};

export const LOOKUP = queryKind<LookupQuery>({
  name: 'lookup',
  answer: (query, context) => lookupAnswer(query, context),
  list: (query, context, listOf) => lookupAnswer(query, context, listOf()),
  ...WEIGHT_OF_INPUTS,
  marksFiltered: true,
  resultsOf: 'many',
});

export function* lookupAnswer(
  query: LookupQuery,
  context: QueryContext,
  objects: ObjectList = ObjectWriter.of(context, query.detail),
): Steps {
  const { inputs } = query;
  const lookup = new Lookup(query, context, objects);
  for (let index = 0; index < inputs.length; index++) {
    if (context.clock.due) yield;
    yield* lookup.result(inputs[index]!, index);
  }
  lookup.listing.open(inputs.length, lookup.truncated);
  lookup.listing.close();
}

class Lookup {
  readonly listing: Listing;
  /** Whether the limit of the request truncated a result. */
  truncated = false;
  readonly #context: QueryContext;
  readonly #objects: ObjectList;
  readonly #maxPerInput: number;
  /** The number of objects that may still be listed for positions and names. */
  #left: number;

  constructor(query: LookupQuery, context: QueryContext, objects: ObjectList) {
    const { inputs, detail, filters, maxObjectsPerInput, maxObjects } = query;
    this.#context = context;
    this.#objects = objects;
    this.listing = new Listing(context, objects, detail, filters);
    this.#maxPerInput = maxObjectsPerInput;
    this.#left = Math.max(0, maxObjects - inputs.filter(({ kind }) => kind === 'id').length);
  }

  *result(input: LookupInput, index: number): Steps {
    const { body } = this.#context;
    if (index > 0) body.fragment(SEPARATOR);
    const from = body.length;
    body.fragment(INDEX);
    body.text(`${index}`);
    if (input.kind === 'id') this.#ofId(input);
    else if (input.kind === 'position') yield* this.#ofPosition(input);
    else if (input.kind === 'tns') yield* this.#ofName(input);
    else this.#ofInvalid(input);
    body.fragment(BRACE);
    this.#objects.endResult(from);
  }

  #ofId({ sent, diaObjectId }: IdInput): void {
    const { body, stored, object } = this.#context;
    const isStored = stored.readObject(diaObjectId, object);
    const digits = `${diaObjectId}`;
    body.fragment(ID_INPUT);
    body.longText(sent);
    body.fragment(NORMALIZED_ID);
    body.text(digits);
    body.fragment(NORMALIZED_ID_TEXT);
    body.text(digits);
    body.fragment(STATUS_OF_ID);
    body.text(this.listing.statusOf(isStored));
    body.fragment(OBJECTS);
    this.listing.objectOfId(diaObjectId, isStored);
    body.fragment(END_OF_LIST);
    this.listing.marksOfObject(isStored);
  }

  *#ofPosition(input: PositionInput): Steps {
    const { body } = this.#context;
    const found = yield* findCircle(this.#context, input);
    writePosition(body, input, found.status);
    yield* this.#listed(found);
    yield* this.listing.marksOfFound(found);
  }

  *#ofName(input: TnsInput): Steps {
    const { body, fragments } = this.#context;
    const { kind, sent, name, radiusArcsec } = input;
    const found = yield* findName(this.#context, input);
    const { record, snapshotEpochUs } = found;
    body.fragment(TNS_INPUT);
    body.longText(sent);
    body.text(`, "normalized": ${toJson({ kind, name, radius_arcsec: radiusArcsec })}, "status": "${found.status}`);
    yield* this.#listed(found);
    const epoch = toJson(formatTimeOrNull(snapshotEpochUs));
    body.longText(`, "tns": ${record ? fragments.tnsRecord(record) : 'null'}, "tns_snapshot_epoch": ${epoch}`);
    yield* this.listing.marksOfFound(found);
  }

  #ofInvalid({ sent, sentKind, error }: InvalidInput): void {
    const { body } = this.#context;
    body.longText(`, "kind": ${sentKind}, "input": ${sent}, "normalized": null, "status": "invalid_input"`);
    body.longText(`, "objects": [], "error": ${toJson(error)}`);
    this.listing.marksOfInvalid();
  }

  /** The part of a search's result that may be listed under both limits. */
  *#listed({ circle, rows }: Found): Steps {
    const { body } = this.#context;
    body.fragment(OBJECTS);
    let truncation: Truncation | null = null;
    if (circle && rows) {
      if (rows.length > this.#maxPerInput) truncation = 'per_input_limit';
      let listed = inOrder(rows).slice(0, this.#maxPerInput);
      if (listed.length > this.#left) {
        listed = listed.slice(0, this.#left);
        truncation = 'per_request_limit';
        this.truncated = true;
      }
      this.#left -= listed.length;
      yield* this.listing.objectsOfRows(circle, listed);
    }
    body.fragment(TOTAL);
    body.text(`${rows?.length ?? null}`);
    body.fragment(TRUNCATED);
    body.boolean(truncation !== null);
    body.fragment(TRUNCATION);
    body.text(toJson(truncation));
  }
}
