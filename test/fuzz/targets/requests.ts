/** The parts of requests: JSON bodies and cursors. */

import { isDeepStrictEqual } from 'node:util';
import { toJson } from '@nearsky/astrotables/json';
import { parseLookup } from '../../../src/capabilities/objects/lookup_request.ts';
import { coneCursor, RECENT_CURSOR } from '../../../src/core/answers/cursor.ts';
import { FilterError } from '../../../src/core/answers/read_filters.ts';
import { JsonBoundsError, parseSent, SentNumber, type SentValue } from '../../../src/core/base/json_reader.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { number } from '../../../src/core/contract/kind.ts';
import { readCursor } from '../../../src/core/http/cursor.ts';
import { ApiError } from '../../../src/core/http/errors.ts';
import { orRefused, type Target } from '../target.ts';

/** The value that `JSON.parse` returns for the text. */
function plain(value: SentValue): unknown {
  if (value instanceof SentNumber) return value.value;
  if (value instanceof Map) {
    const object: Record<string, unknown> = {};
    for (const [name, member] of value as ReadonlyMap<string, SentValue>)
      Object.defineProperty(object, name, {
        value: plain(member),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    return object;
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

const config = loadConfig();

/** Those of a body. */
const BOUNDS = { maxDepth: 1003, maxValues: 100_000 };

/** Our reader must agree with `JSON.parse` about every text, and its numbers must be literals of the text. */
const json: Target = {
  name: 'json',
  isText: true,
  inputs: 6000,
  start: async () => ({
    run: async input => {
      // Decoding takes away the mark of the order of bytes.
      const text = input.toString().replace(/^\ufeff/, '');
      let expected: { value: unknown } | undefined;
      try {
        expected = { value: JSON.parse(text) };
      } catch {
        expected = undefined;
      }
      const value = await orRefused(() => parseSent(Buffer.from(text), BOUNDS), SyntaxError, JsonBoundsError);
      if (value === undefined) {
        // Nested without end is refused, however good it is.
        if (expected && !text.includes('['.repeat(50)) && !text.includes('{"a":'.repeat(50)))
          throw new Error('refused what is JSON');
        return;
      }
      if (!expected) throw new Error('parsed what is no JSON');
      if (!isDeepStrictEqual(plain(value), expected.value)) throw new Error('not what JSON.parse gives');
      const again = toJson(value);
      if (toJson(parseSent(Buffer.from(again), BOUNDS)) !== again)
        throw new Error('its text is read as something else');
      const query = await orRefused(() => parseLookup(value, config, PROJECT_CATALOGS), ApiError, FilterError);
      if (query && !JSON.stringify(query, (_, each) => (typeof each === 'bigint' ? `${each}` : each)))
        throw new Error('no query');
    },
  }),
};

const cursor: Target = {
  name: 'cursor',
  isText: true,
  inputs: 6000,
  wrap: (bytes, mutator) => (mutator.below(5) === 0 ? bytes : Buffer.from(bytes.toString('base64url'))),
  start: async () => ({
    run: async input => {
      const token = input.toString();
      const cone = await orRefused(() => readCursor(coneCursor(number({ min: 0, max: 60 })), token), ApiError);
      const recent = await orRefused(() => readCursor(RECENT_CURSOR, token), ApiError);
      for (const each of [cone, recent]) {
        if (!each) continue;
        const { diaObjectId, timeUs } = each;
        if (diaObjectId < 0n || diaObjectId >= 2n ** 63n || !Number.isInteger(timeUs))
          throw new Error(`${diaObjectId} at ${timeUs}`);
      }
      if (cone && recent) throw new Error('a cursor of two operations');
    },
  }),
};

export const targets: readonly Target[] = [json, cursor];
