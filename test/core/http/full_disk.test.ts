/** A system call that fails because the disk is full is no internal error (docs/contract.md, Errors). */
import { existsSync, writeFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorResponse, expectedErrorOf } from '../../../src/core/http/errors.ts';
import { needs } from '../../needs.ts';

const test = suite('http/full_disk');

/** Linux's device on which every write fails with ENOSPC. */
const FULL = '/dev/full';

needs(test, existsSync(FULL) ? undefined : `${FULL} is missing`)(
  'a full disk is 503 with the time to try again, and without a path',
  () => {
    let failure: unknown;
    try {
      writeFileSync(FULL, 'something');
    } catch (error) {
      failure = error;
    }
    const error = expectedErrorOf(failure);
    assert.ok(error, `${failure}`);
    const { status, headers, body } = errorResponse(error);
    assert.equal([status, headers['Retry-After']], [503, '30']);
    const { code, retryable, message } = JSON.parse(body as string);
    assert.equal([code, retryable], ['service_unavailable', true]);
    assert.match(message, /disk of the service has no space left/);
    assert.not.match(message, /ENOSPC|dev/);
  },
);

test.run();
