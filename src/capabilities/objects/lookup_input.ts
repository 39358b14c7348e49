/** One input of a lookup, with the kind that the client gives (docs/contract.md, Lookup). */

import { toJson } from '@nearsky/astrotables/json';
import { shorten } from '../../core/base/error_text.ts';
import { SentNumber, type SentObject, type SentValue } from '../../core/base/json_reader.ts';
import type { Config } from '../../core/config/config.ts';
import { INPUT_KINDS, type InputKind } from '../../core/contract/enums.ts';
import { type Kind, named } from '../../core/contract/kind.ts';
import type { RaUnit } from '../../core/contract/table_match.ts';
import { DECLINATION, HOURS, OBJECT_ID, RIGHT_ASCENSION, radiusKind, TNS_NAME } from '../../core/documents/kinds.ts';
import { ApiError, invalidParameter } from '../../core/http/errors.ts';
import { accepted, fieldOf } from '../../core/http/params.ts';
import type { LookupInput } from './queries.ts';

const KIND = named(INPUT_KINDS);
const FIELDS: Readonly<Record<InputKind, readonly string[]>> = {
  id: ['kind', 'diaObjectId'],
  position: ['kind', 'ra', 'dec', 'radius_arcsec'],
  tns: ['kind', 'name', 'radius_arcsec'],
};

/**
 * The input that an entry describes. A malformed entry becomes an invalid input.
 * @param sharedRadiusArcsec the request's own radius
 * @param raUnit of right ascensions; degrees by default
 */
export function parseInput(
  entry: SentValue,
  index: number,
  sharedRadiusArcsec: number | undefined,
  config: Config,
  raUnit?: RaUnit,
): LookupInput {
  const sent = toJson(entry);
  try {
    if (!(entry instanceof Map)) throw invalidParameter(`inputs[${index}]`, 'a JSON object', sent);
    return readInput(entry as SentObject, index, sent, sharedRadiusArcsec, config, raUnit);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const kind = entry instanceof Map ? entry.get('kind') : undefined;
    const sentKind = typeof kind === 'string' ? toJson(kind) : 'null';
    return { kind: 'invalid', sent, sentKind, error: { message: error.message, param: error.details.param! } };
  }
}

function readInput(
  fields: SentObject,
  index: number,
  sent: string,
  sharedRadiusArcsec: number | undefined,
  config: Config,
  raUnit: RaUnit | undefined,
): LookupInput {
  const path = (name: string) => `inputs[${index}].${name}`;
  const read = <T>(name: string, kind: Kind<T>, given = fields.get(name)): T =>
    accepted(kind, given) ?? fieldOf(kind, path(name), given);
  const kind = read('kind', KIND);
  for (const name of fields.keys()) if (!FIELDS[kind].includes(name)) throw unknownField(path(name), kind);
  switch (kind) {
    case 'id': {
      // An integer literal, or a text of digits.
      const value = fields.get('diaObjectId');
      const text = value instanceof SentNumber ? value.text.replace(/^-0$/, '0') : value;
      return { kind, sent, diaObjectId: OBJECT_ID.parse(text) ?? read('diaObjectId', OBJECT_ID) };
    }
    case 'position': {
      const ra = raUnit === 'h' ? 15 * read('ra', HOURS) : read('ra', RIGHT_ASCENSION);
      const dec = read('dec', DECLINATION);
      // The input's own radius, even null, overrides the shared one.
      const shared = fields.get('radius_arcsec') === undefined ? sharedRadiusArcsec : undefined;
      return { kind, sent, ra, dec, radiusArcsec: shared ?? read('radius_arcsec', radiusKind(config)) };
    }
    case 'tns': {
      const name = read('name', TNS_NAME);
      // A radius of null counts as missing.
      const hasOwn = (fields.get('radius_arcsec') ?? null) !== null;
      const radiusArcsec = hasOwn ? read('radius_arcsec', radiusKind(config)) : sharedRadiusArcsec;
      return { kind, sent, ...name, radiusArcsec: radiusArcsec ?? config.TNS_MATCH_RADIUS_ARCSEC };
    }
  }
}

/** An input may only have the fields of its kind. */
function unknownField(param: string, kind: InputKind): ApiError {
  const message = `Cannot take ${shorten(param)} because an input of kind ${kind} has only the fields ${FIELDS[kind].join(', ')}`;
  return new ApiError('invalid_parameter', message, { param });
}
