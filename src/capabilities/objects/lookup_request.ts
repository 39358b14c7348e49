/**
 * Reads the body of a lookup. An error in the whole body fails the request; an error in one input only becomes that
 * input's result (docs/contract.md, Lookup).
 */

import { toJson } from '@nearsky/astrotables/json';
import type { FilterValues } from '../../core/answers/queries.ts';
import { readFilters } from '../../core/answers/read_filters.ts';
import { shorten } from '../../core/base/error_text.ts';
import type { SentObject, SentValue } from '../../core/base/json_reader.ts';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import {
  DEFAULT_DETAIL,
  DEFAULT_RESPONSE,
  INPUT_KINDS,
  namesOf,
  type ResponseMode,
} from '../../core/contract/enums.ts';
import type { Kind } from '../../core/contract/kind.ts';
import type { RaUnit } from '../../core/contract/table_match.ts';
import { ANY_NUMBER, DETAIL, JOURNAL_ENTRY, RESPONSE, radiusKind } from '../../core/documents/kinds.ts';
import { requestedState } from '../../core/http/cursor.ts';
import { ApiError, invalidParameter, missingParameter } from '../../core/http/errors.ts';
import { invalidBody } from '../../core/http/json_body.ts';
import { fieldOf, parameterOf } from '../../core/http/params.ts';
import { COUNT } from './count.ts';
import { LOOKUP } from './lookup_answer.ts';
import { parseInput } from './lookup_input.ts';
import type { CountQuery, LookupInput, LookupQuery } from './queries.ts';

const FIELDS = ['inputs', 'detail', 'radius_arcsec', 'filters', 'response', 'at'];

/**
 * The order of the checks is the contract's.
 * @throws ApiError
 */
export function parseLookup(
  body: SentValue,
  config: Config,
  catalogs: Catalogs,
  raUnit?: RaUnit,
): LookupQuery | CountQuery {
  const request = inputsRequest(body, 'look up', FIELDS);
  const detail = wordOf(request, 'detail', DETAIL) ?? DEFAULT_DETAIL;
  const radius = request.get('radius_arcsec') ?? null;
  const radiusArcsec = radius === null ? undefined : fieldOf(radiusKind(config), 'radius_arcsec', radius);
  const filters = filtersOf(request.get('filters'), catalogs);
  const response = wordOf(request, 'response', RESPONSE) ?? DEFAULT_RESPONSE;
  const entry = request.get('at') ?? null;
  const at = entry === null ? undefined : fieldOf(JOURNAL_ENTRY, 'at', entry);
  const inputs = inputsOf(request.get('inputs')!, radiusArcsec, config, raUnit);
  return lookupQuery(inputs, { detail, filters, response, at }, config);
}

/**
 * A body with inputs and other fields.
 * @param does completes the error about an unknown field: "Cannot ... by ..."
 * @throws ApiError
 */
export function inputsRequest(body: SentValue, does: string, fields: readonly string[]): SentObject {
  if (!(body instanceof Map)) throw invalidBody(`it must be a JSON object (${shorten(toJson(body))} was given)`);
  const unknown = [...body.keys()].find(name => !fields.includes(name));
  if (unknown !== undefined) {
    const message = `Cannot ${does} by ${shorten(unknown)} because the body has only the fields ${fields.join(', ')}`;
    throw new ApiError('invalid_parameter', message, { param: unknown });
  }
  if (!body.has('inputs')) throw missingParameter('inputs', '"inputs": [...]');
  return body;
}

/** @param param the parameter that asks for an earlier entry */
export function namesHaveNoHistory(param: string): ApiError {
  return new ApiError(
    'invalid_parameter',
    `Cannot look up names at an earlier journal entry because the registry has no history: leave out ${param}, or all names`,
    { param },
  );
}

interface LookupOptions extends Pick<LookupQuery, 'detail' | 'filters'> {
  readonly response: ResponseMode;
  readonly at?: number | undefined;
}

/**
 * Makes the query for these inputs: for their objects, within the limits of the settings, or for counts.
 * @throws ApiError if `at` is given and an input is a name
 */
export function lookupQuery(
  inputs: readonly LookupInput[],
  { detail, filters, response, at }: LookupOptions,
  config: Config,
): LookupQuery | CountQuery {
  const hasName = inputs.some(({ kind }) => kind === 'tns');
  if (at !== undefined && hasName) throw namesHaveNoHistory('at');
  const state = hasName ? undefined : requestedState(at);
  if (response === 'count') return { kind: COUNT, inputs, filters, state };
  return {
    kind: LOOKUP,
    state,
    inputs,
    detail,
    filters,
    maxObjectsPerInput: config.API_MAX_OBJECTS_PER_POSITION,
    maxObjects: config.API_MAX_OBJECTS_PER_REQUEST,
  };
}

/** A field that may be missing or null. Errors quote its value like a parameter's value. */
function wordOf<T extends string>(request: SentObject, field: string, kind: Kind<T>): T | undefined {
  const value = request.get(field) ?? null;
  if (value === null) return undefined;
  return typeof value === 'string' ? parameterOf(kind, field, value) : fieldOf(kind, field, value);
}

function filtersOf(value: SentValue | undefined, catalogs: Catalogs): FilterValues | null {
  if (value === undefined || value === null) return null;
  if (!(value instanceof Map)) throw invalidParameter('filters', 'a JSON object of filters', toJson(value));
  return readFilters(value as SentObject, catalogs, ({ name, kind }, given) => {
    if (kind !== 'catalog') return fieldOf(ANY_NUMBER, name, given);
    return typeof given === 'string' ? given : toJson(given);
  });
}

function inputsOf(
  value: SentValue,
  sharedRadiusArcsec: number | undefined,
  config: Config,
  raUnit: RaUnit | undefined,
): LookupInput[] {
  if (!Array.isArray(value)) throw invalidParameter('inputs', 'a JSON array', toJson(value));
  if (value.length === 0) throw invalidParameter('inputs', 'a JSON array of at least one input', '[]');
  checkSize(value, config);
  return value.map((entry, index) => parseInput(entry, index, sharedRadiusArcsec, config, raUnit));
}

/** The limits on the number of inputs, per kind and in total. An input without a kind counts only in the total. */
function checkSize(inputs: readonly SentValue[], config: Config): void {
  const kinds = inputs.map(entry => (entry instanceof Map ? entry.get('kind') : undefined));
  const ids = kinds.filter(kind => kind === 'id').length;
  const positions = kinds.filter(kind => kind !== 'id' && INPUT_NAMES.includes(kind)).length;
  const { API_MAX_IDS: maxIds, API_MAX_POSITIONS: maxPositions } = config;
  const most = (ids > 0 ? maxIds : 0) + (positions > 0 ? maxPositions : 0) || Math.max(maxIds, maxPositions);
  const tooMany = (what: string, limit: number, count: number) =>
    invalidParameter('inputs', `an array of at most ${limit} ${what}`, `${count}`);
  if (inputs.length > most) throw tooMany('inputs of these kinds', most, inputs.length);
  if (ids > maxIds) throw tooMany('identifiers', maxIds, ids);
  if (positions > maxPositions) throw tooMany('positions and registry names', maxPositions, positions);
}

const INPUT_NAMES: readonly unknown[] = namesOf(INPUT_KINDS);
