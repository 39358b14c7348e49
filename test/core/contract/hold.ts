/** Holds a service that has the suite's world to the contract, and to the document that it serves. */
import { toJson } from '@nearsky/astrotables/json';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { API, configWith } from '../../capabilities.ts';
import type { Check } from './suite/check.ts';
import { runChecks } from './suite/suite.ts';
import { snapshotLine } from './suite/world.ts';
import { assertDocumented } from './validate.ts';

/** The status, headers and body of every answer are as the document says that the service itself serves. */
const DOCUMENTED: Check = {
  name: 'every answer is as the served document says',
  run: async service => {
    const { seen } = service;
    assert.ok(seen.length > 0);
    // Answers are held to the document of this configuration.
    const { text } = await service.get('/openapi.json');
    assert.equal(JSON.parse(text), JSON.parse(toJson(openApiDocument(API, configWith()))));
    for (const { method, path, status, headers, text } of seen)
      assertDocumented({ method, url: `http://nearsky.test${path}` }, { status, headers }, text);
  },
};

/** The line of a registry's snapshot of this age. */
export const snapshotOf = (ageSeconds: number) => snapshotLine((Date.now() - ageSeconds * 1000) * 1000);

/** Throws an AssertionError unless the service at this address passes all checks. */
export async function hold(url: string, ofContract: readonly Check[]): Promise<void> {
  const checks = [...ofContract, DOCUMENTED];
  const failures: string[] = [];
  let run = 0;
  for await (const { name, failure } of runChecks(url, checks)) {
    run++;
    if (failure !== undefined) failures.push(`${name}\n${failure}`);
  }
  assert.is(failures.join('\n\n'), '', `${failures.length} of ${run} checks failed`);
  assert.is(run, checks.length);
}
