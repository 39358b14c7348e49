/** The rules for every answer, checked in all answers that the other checks have received. */
import * as assert from 'uvu/assert';
import { section } from './check.ts';
import type { Answer, Json } from './service.ts';

const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_parameter: 400,
  filters_span_catalogs: 400,
  unsupported_parameter: 400,
  method_not_allowed: 405,
  not_found: 404,
};

const TIME_KEYS = ['ingest_time', 'event_time', 'crossmatched_at', 'as_of', 'snapshot_epoch', 'tns_snapshot_epoch'];
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(?!000000)\d{6})?\+00:00$/;
const MAX_ID = 2n ** 63n - 1n;

/** Every object in a JSON value, except values that a client sent or a document describes. */
function* objectsIn(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value;
  for (const [key, member] of Object.entries(value)) if (key !== 'input') yield* objectsIn(member);
}

const bodies = (seen: readonly Answer[]) =>
  seen.filter(({ path, body }) => body !== undefined && path !== '/openapi.json');

export const everyAnswer = section('JSON text: every answer', {
  'there was no 5xx, and no 4xx without the error body and the status of its code [Errors]': async ({ seen }) => {
    for (const { method, path, status, body } of seen) {
      assert.ok(status < 500, `${method} ${path.slice(0, 200)} gave ${status}`);
      if (status < 400 || method === 'HEAD') continue;
      const { error, code, message, param, params, retryable } = body;
      assert.equal([error, retryable, STATUS_OF[code]], [message, false, status], path.slice(0, 200));
      const blamed = param !== undefined || params !== undefined;
      assert.is(blamed, /^(invalid|unsupported)_parameter$|^filters_span/.test(code), path.slice(0, 200));
      if (code === 'invalid_parameter') assert.is(params?.[0] ?? param, param, path.slice(0, 200));
      if (code === 'filters_span_catalogs') assert.is(param, undefined, path.slice(0, 200));
      assert.not('provenance' in body);
    }
  },
  'every diaObjectId is the integer that diaObjectId_str is [JSON text; Purpose]': async ({ seen }) => {
    for (const { body } of bodies(seen)) {
      for (const { diaObjectId: id, diaObjectId_str: text = `${id}` } of objectsIn(body)) {
        if (id === undefined) continue;
        assert.ok(Number.isInteger(id) || typeof id === 'bigint');
        assert.ok(`${id}` === text && id >= 0 && BigInt(id) <= MAX_ID, text);
      }
    }
  },
  'every time is ISO 8601 in UTC, with six digits of a second or none': async ({ seen }) => {
    for (const { body } of bodies(seen)) {
      for (const object of objectsIn(body)) {
        // The as_of of a reliability cut is a date.
        if ('min_reliability' in object) continue;
        for (const key of TIME_KEYS) if (typeof object[key] === 'string') assert.match(object[key], UTC, object[key]);
      }
    }
  },
  'every provenance set that is referred to is there, and no other': async ({ seen }) => {
    for (const { body } of bodies(seen)) {
      if (!body.provenance_sets) continue;
      const used = new Set<string>();
      for (const { provenance_set, best_guess_provenance_set } of objectsIn(body.results)) {
        for (const key of [provenance_set, best_guess_provenance_set]) if (typeof key === 'string') used.add(key);
      }
      assert.equal(Object.keys(body.provenance_sets).sort(), [...used].sort());
    }
  },
});
