/** One input of a lookup, as the client tags it (docs/contract.md, Lookup). */
import type { LookupInput } from '../answers/queries.ts';
import { toJson } from '../base/json_text.ts';
import type { Config } from '../config/config.ts';
import { INPUT_KINDS, type InputKind, namesOf } from '../contract/enums.ts';
import { parseTnsName } from '../tns/names.ts';
import { ApiError, invalidParameter, shorten } from './errors.ts';
import { JsonNumber, type JsonObject, type JsonValue, jsonText } from './json_body.ts';
import {
  type Bounds,
  checkBounds,
  DEC_BOUNDS,
  isWithin,
  OBJECT_ID,
  objectIdOf,
  RA_BOUNDS,
  radiusBounds,
  TNS_NAME,
} from './params.ts';

const KINDS = namesOf(INPUT_KINDS);
const FIELDS: Readonly<Record<InputKind, readonly string[]>> = {
  id: ['kind', 'diaObjectId'],
  position: ['kind', 'ra', 'dec', 'radius_arcsec'],
  tns: ['kind', 'name', 'radius_arcsec'],
};

/**
 * The input that an entry describes; for a malformed entry, an input that says so.
 * @param sharedRadiusArcsec the request's own radius
 */
export function parseInput(
  entry: JsonValue,
  index: number,
  sharedRadiusArcsec: number | undefined,
  config: Config,
): LookupInput {
  const sent = jsonText(entry);
  try {
    const fields = new Fields(entry, index);
    switch (fields.kind()) {
      case 'id':
        return { kind: 'id', sent, diaObjectId: objectId(fields) };
      case 'position':
        return { kind: 'position', sent, ...position(fields, sharedRadiusArcsec, config) };
      case 'tns':
        return { kind: 'tns', sent, ...registryName(fields, sharedRadiusArcsec, config) };
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const kind = entry instanceof Map ? entry.get('kind') : undefined;
    const sentKind = typeof kind === 'string' ? toJson(kind) : 'null';
    return { kind: 'invalid', sent, sentKind, error: { message: error.message, param: error.details.param! } };
  }
}

/** The fields of an entry, and how errors name them. */
class Fields {
  readonly #object: JsonObject;
  readonly #index: number;

  /** @throws ApiError where the entry is no object */
  constructor(entry: JsonValue, index: number) {
    if (!(entry instanceof Map)) throw invalidParameter(`inputs[${index}]`, 'a JSON object', jsonText(entry));
    this.#object = entry as JsonObject;
    this.#index = index;
  }

  #path(name: string): string {
    return `inputs[${this.#index}].${name}`;
  }

  /** The input's kind. The input has no fields but those of its kind. */
  kind(): InputKind {
    const kind = KINDS.find(known => known === this.get('kind'));
    if (!kind) throw this.invalid('kind', `one of ${KINDS.join(', ')}`);
    for (const name of this.#object.keys()) if (!FIELDS[kind].includes(name)) throw this.#unknown(name, kind);
    return kind;
  }

  #unknown(name: string, kind: InputKind): ApiError {
    const param = this.#path(name);
    const message = `Cannot take ${shorten(param)} because an input of kind ${kind} has only the fields ${FIELDS[kind].join(', ')}`;
    return new ApiError('invalid_parameter', message, { param });
  }

  /** Undefined where it is missing. */
  get(name: string): JsonValue | undefined {
    return this.#object.get(name);
  }

  invalid(name: string, must: string): ApiError {
    const value = this.get(name);
    return invalidParameter(this.#path(name), must, value === undefined ? 'nothing' : jsonText(value));
  }

  number(name: string, bounds: Bounds): number {
    const literal = this.get(name);
    const value = literal instanceof JsonNumber ? literal.value : Number.NaN;
    if (!Number.isFinite(value)) throw this.invalid(name, 'a finite JSON number');
    return isWithin(value, bounds) ? value : checkBounds(this.#path(name), value, bounds);
  }
}

/** An integer literal, or a text of digits. */
function objectId(fields: Fields): bigint {
  const value = fields.get('diaObjectId');
  const text = value instanceof JsonNumber ? value.text.replace(/^-0$/, '0') : value;
  const id = typeof text === 'string' ? objectIdOf(text) : undefined;
  if (id === undefined) throw fields.invalid('diaObjectId', OBJECT_ID);
  return id;
}

/** The input's own radius, even null, comes before the shared one. */
function position(fields: Fields, sharedRadiusArcsec: number | undefined, config: Config) {
  const ra = fields.number('ra', RA_BOUNDS);
  const dec = fields.number('dec', DEC_BOUNDS);
  const shared = fields.get('radius_arcsec') === undefined ? sharedRadiusArcsec : undefined;
  return { ra, dec, radiusArcsec: shared ?? fields.number('radius_arcsec', radiusBounds(config)) };
}

/** A radius of null is as good as none. */
function registryName(fields: Fields, sharedRadiusArcsec: number | undefined, config: Config) {
  const value = fields.get('name');
  const name = typeof value === 'string' ? parseTnsName(value) : undefined;
  if (name === undefined) throw fields.invalid('name', TNS_NAME);
  const hasOwn = (fields.get('radius_arcsec') ?? null) !== null;
  const radiusArcsec = hasOwn ? fields.number('radius_arcsec', radiusBounds(config)) : sharedRadiusArcsec;
  return { ...name, radiusArcsec: radiusArcsec ?? config.TNS_MATCH_RADIUS_ARCSEC };
}
