/** Cursors whose text a client has altered (docs/contract.md, Cursors). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AREA_CURSOR,
  CONE_CURSOR,
  CursorError,
  decodeCursor,
  encodeCursor,
  OBJECTS_CURSOR,
  RECENT_CURSOR,
} from '../../../src/core/answers/cursor.ts';

const test = suite('answers/cursor');

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const last = { timeUs: 1_790_000_000_123_456, diaObjectId: 170055002004914002n };
const of = { asOfUs: 1_790_000_001_000_000, archive: '0123abcd' };
const by = { timeField: 'ingest_time', status: 'coincident_sources' } as const;

/** The decoder of each operation, and one of its cursors. */
const CURSORS: readonly (readonly [name: string, token: string, decode: (token: string) => unknown])[] = [
  [
    'cone',
    encodeCursor(CONE_CURSOR, { ...last, ...of, ra: 150.5, dec: -2, radiusArcsec: 10, detail: 'ids', at: 7 }),
    token => decodeCursor(CONE_CURSOR, token),
  ],
  [
    'recent',
    encodeCursor(RECENT_CURSOR, {
      ...last,
      ...of,
      startUs: 1e15,
      endUs: 2e15,
      timeField: 'event_time',
      detail: 'full',
    }),
    token => decodeCursor(RECENT_CURSOR, token),
  ],
  [
    'area',
    encodeCursor(AREA_CURSOR, { ...of, ...by, level: 0.5, pixel: 7, id: 5n, digest: 'Zm9vYmFy', at: undefined }),
    token => decodeCursor(AREA_CURSOR, token),
  ],
  [
    'objects',
    encodeCursor(OBJECTS_CURSOR, { ...last, ...of, ...by, at: undefined }),
    token => decodeCursor(OBJECTS_CURSOR, token),
  ],
];

test('each character of each cursor, replaced by each of 63 others, is refused [Cursors]', () => {
  for (const [name, token, decode] of CURSORS) {
    assert.not.throws(() => decode(token), name);
    for (let i = 0; i < token.length; i++) {
      for (const other of ALPHABET) {
        if (other === token[i]) continue;
        const altered = `${token.slice(0, i)}${other}${token.slice(i + 1)}`;
        assert.throws(
          () => decode(altered),
          (error: unknown) => error instanceof CursorError,
          `${name} ${i} ${other}`,
        );
      }
    }
  }
});

test('any character of the JSON, replaced, left out or doubled, is refused; so is a checksum of another name', () => {
  for (const [name, token, decode] of CURSORS) {
    const json = Buffer.from(token, 'base64url').toString();
    const refused = (altered: string) => {
      const sent = Buffer.from(altered).toString('base64url');
      assert.throws(
        () => decode(sent),
        (error: unknown) => error instanceof CursorError,
        `${name}: ${altered}`,
      );
    };
    for (let i = 0; i < json.length; i++) {
      const [before, after] = [json.slice(0, i), json.slice(i + 1)];
      refused(before + after);
      refused(before + json[i] + json[i] + after);
      for (const other of '"\\,:{}[]0aox ') if (other !== json[i]) refused(before + other + after);
    }
    for (const key of 'abdefijklnoprstuxC') refused(json.replace('"c":', `"${key}":`));
  }
});

test.run();
