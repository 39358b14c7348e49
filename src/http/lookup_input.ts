/** One input of a lookup, with the kind that the client gives (docs/contract.md, Lookup). */

import { toJson } from '@nearsky/astrotables/json';
import type { LookupInput } from '../answers/queries.ts';
import { shorten } from '../base/error_text.ts';
import { SentNumber, type SentObject, type SentValue } from '../base/json_reader.ts';
import type { Config } from '../config/config.ts';
import { INPUT_KINDS, type InputKind } from '../contract/enums.ts';
import { type Kind, named } from '../contract/kind.ts';
import { DECLINATION, OBJECT_ID, RIGHT_ASCENSION, radiusKind, TNS_NAME } from '../documents/kinds.ts';
import { ApiError, invalidParameter } from './errors.ts';
import { accepted, fieldOf } from './params.ts';

const KIND = named(INPUT_KINDS);
const FIELDS: Readonly<Record<InputKind, readonly string[]>> = {
  id: ['kind', 'diaObjectId'],
  position: ['kind', 'ra', 'dec', 'radius_arcsec'],
  tns: ['kind', 'name', 'radius_arcsec'],
};

/**
 * The input that an entry describes. A malformed entry becomes an invalid input.
 * @param sharedRadiusArcsec the request's own radius
 */
export function parseInput(
  entry: SentValue,
  index: number,
  sharedRadiusArcsec: number | undefined,
  config: Config,
): LookupInput {
  const sent = toJson(entry);
  try {
    const fields = new Fields(entry, index);
    switch (fields.kind()) {
      case 'id':
        return { kind: 'id', sent, diaObjectId: fields.objectId() };
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
  readonly #object: SentObject;
  readonly #index: number;

  /** @throws ApiError if the entry is not an object */
  constructor(entry: SentValue, index: number) {
    if (!(entry instanceof Map)) throw invalidParameter(`inputs[${index}]`, 'a JSON object', toJson(entry));
    this.#object = entry as SentObject;
    this.#index = index;
  }

  #path(name: string): string {
    return `inputs[${this.#index}].${name}`;
  }

  /** The input's kind. An input may only have the fields of its kind. */
  kind(): InputKind {
    const kind = this.read('kind', KIND);
    for (const name of this.#object.keys()) if (!FIELDS[kind].includes(name)) throw this.#unknown(name, kind);
    return kind;
  }

  #unknown(name: string, kind: InputKind): ApiError {
    const param = this.#path(name);
    const message = `Cannot take ${shorten(param)} because an input of kind ${kind} has only the fields ${FIELDS[kind].join(', ')}`;
    return new ApiError('invalid_parameter', message, { param });
  }

  /** Undefined if the input does not have this field. */
  get(name: string): SentValue | undefined {
    return this.#object.get(name);
  }

  read<T>(name: string, kind: Kind<T>): T {
    const given = this.get(name);
    return accepted(kind, given) ?? fieldOf(kind, this.#path(name), given);
  }

  /** An integer literal, or a text of digits. */
  objectId(): bigint {
    const value = this.get('diaObjectId');
    const text = value instanceof SentNumber ? value.text.replace(/^-0$/, '0') : value;
    return OBJECT_ID.parse(text) ?? this.read('diaObjectId', OBJECT_ID);
  }
}

/** The input's own radius, even null, overrides the shared one. */
function position(fields: Fields, sharedRadiusArcsec: number | undefined, config: Config) {
  const ra = fields.read('ra', RIGHT_ASCENSION);
  const dec = fields.read('dec', DECLINATION);
  const shared = fields.get('radius_arcsec') === undefined ? sharedRadiusArcsec : undefined;
  return { ra, dec, radiusArcsec: shared ?? fields.read('radius_arcsec', radiusKind(config)) };
}

/** A radius of null counts as missing. */
function registryName(fields: Fields, sharedRadiusArcsec: number | undefined, config: Config) {
  const name = fields.read('name', TNS_NAME);
  const hasOwn = (fields.get('radius_arcsec') ?? null) !== null;
  const radiusArcsec = hasOwn ? fields.read('radius_arcsec', radiusKind(config)) : sharedRadiusArcsec;
  return { ...name, radiusArcsec: radiusArcsec ?? config.TNS_MATCH_RADIUS_ARCSEC };
}
