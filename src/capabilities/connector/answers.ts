/** The data for the tools' answers: the API's own answers, parsed. */

import { parseJson } from '@nearsky/astrotables/json';
import { takeText } from '../../core/answers/answer_memory.ts';
import type { QueryAnswer } from '../../core/answers/body.ts';
import { type Circle, type State, stateOfAnswer } from '../../core/answers/queries.ts';
import type { InputStatus, ObjectStatus } from '../../core/contract/enums.ts';
import type { Answered, OBJECT_FIELDS, RELEASE_FIELDS, TNS_FIELDS, Worth } from '../../core/contract/object_fields.ts';
import type { ToolContext } from '../../core/http/tool.ts';
import { CONE } from '../objects/cone_answer.ts';
import { LOOKUP } from '../objects/lookup_answer.ts';
import type { ConeQuery, LookupInput, LookupQuery } from '../objects/queries.ts';

/** A source of an object, as in the API's answers at `full`. */
export interface ApiMatch extends Answered<typeof RELEASE_FIELDS> {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly separation_arcsec: number;
  readonly separation_at_epoch_arcsec?: number;
  readonly statistics?: { readonly [Key in keyof Worth]?: number };
  readonly catalog_payload: Readonly<Record<string, unknown>> | null;
}

export interface ApiObjectTns extends Answered<typeof TNS_FIELDS> {
  readonly snapshot_epoch: string | null;
  readonly url: string | null;
}

/** An object that is in the service, as in the API's answers at `full`. */
export interface ApiObject extends Pick<Answered<typeof OBJECT_FIELDS>, 'ra' | 'dec' | 'brokers'> {
  readonly diaObjectId_str: string;
  readonly status: Exclude<ObjectStatus, 'not_in_service'>;
  readonly crossmatch: { readonly provenance: 'recorded' | 'not_recorded' } | null;
  readonly matches: readonly ApiMatch[];
  readonly tns: ApiObjectTns | null;
  readonly separation_arcsec?: number;
}

/** An id that is not in the service. */
export interface UnknownObject {
  readonly diaObjectId_str: string;
  readonly status: 'not_in_service';
}

interface ApiTnsRecord {
  readonly name: string;
  readonly name_prefix: string | null;
  readonly classification: string | null;
  readonly redshift: number | null;
  readonly ra: number;
  readonly dec: number;
  readonly url: string;
}

/** The result of one input. */
export interface ApiResult {
  readonly status: ObjectStatus | InputStatus;
  readonly objects: readonly (ApiObject | UnknownObject)[];
  /** The number of objects at a position or of a name; null if no search ran. */
  readonly total?: number | null;
  /** The registry's record of a name. */
  readonly tns?: ApiTnsRecord | null;
  readonly tns_snapshot_epoch?: string | null;
}

/**
 * Looks up inputs at `full`: one result per input, in order. All names together list only the first `maxListed`
 * objects.
 * @param state undefined if an input is a name
 * @throws TooExpensive, Unavailable
 */
export async function lookUp(
  inputs: readonly LookupInput[],
  maxListed: number,
  context: ToolContext,
  state?: State,
): Promise<readonly ApiResult[]> {
  if (inputs.length === 0) return [];
  const maxObjects = inputs.length + maxListed;
  const query: LookupQuery = {
    kind: LOOKUP,
    state,
    inputs,
    detail: 'full',
    filters: null,
    maxObjectsPerInput: maxListed,
    maxObjects,
  };
  return resultsOf(await context.service.queries.run(query, context));
}

/**
 * Finds the objects of a circle that are nearest to its centre, at most `max`. The API lists a circle by ingest time.
 * So the whole circle is first listed at `ids`, which is small, and then the nearest objects at `full`.
 * @returns the number of objects in the circle, and the nearest ones by separation, then id
 * @throws TooExpensive, Unavailable
 */
export async function nearest(circle: Circle, max: number, context: ToolContext) {
  const { service } = context;
  const all = { state: stateOfAnswer(), pageSize: Number.MAX_SAFE_INTEGER, asOfUs: service.asOfUs, after: null };
  const query: ConeQuery = { kind: CONE, ...circle, ...all, detail: 'ids', filters: null, sent: '{}' };
  const answered = await service.queries.run(query, context);
  const [result] = resultsOf(answered);
  const objects = result!.objects as readonly ApiObject[];
  const listed = objects.toSorted(bySeparation).slice(0, max);
  const inputs = listed.map(({ diaObjectId_str }) => idInput(diaObjectId_str));
  const found = await lookUp(inputs, 0, context, stateOfAnswer(answered));
  // Without a history, an object may have been removed meanwhile.
  const full = found.flatMap(({ objects: [object] }, i) =>
    object!.status === 'not_in_service' ? [] : { ...object!, separation_arcsec: listed[i]!.separation_arcsec! },
  );
  return { total: objects.length - listed.length + full.length, objects: full };
}

function bySeparation(a: ApiObject, b: ApiObject): number {
  return (
    a.separation_arcsec! - b.separation_arcsec! || (BigInt(a.diaObjectId_str) < BigInt(b.diaObjectId_str) ? -1 : 1)
  );
}

/** @param diaObjectId in canonical decimal digits */
export function idInput(diaObjectId: string): LookupInput {
  return { kind: 'id', diaObjectId: BigInt(diaObjectId), sent: `"${diaObjectId}"` };
}

function resultsOf({ body }: QueryAnswer): readonly ApiResult[] {
  return (parseJson(takeText(body)) as { results: readonly ApiResult[] }).results;
}
