/** The map of the sky in several threads. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../core/http/support.ts';
import { askAll, withThreads } from '../../core/server/three_threads.ts';

const test = suite('sky_map/threads');

test('the map of the sky is the same for all of them', () =>
  withThreads(async ({ url }) => {
    await eventually('the objects are counted', async () => (await fetch(`${url}/api/sky-map`)).ok || undefined);
    const { answers, threads } = await askAll(`${url}/api/sky-map`);
    assert.is(threads.size, 3);
    assert.equal(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.is(new Set(answers.map(({ text }) => text)).size, 1);
    assert.match(answers[0]!.text, '"total": 1,');
    const { headers } = await fetch(`${url}/api/sky-map`);
    const again = await askAll(`${url}/api/sky-map`, { headers: { 'If-None-Match': headers.get('ETag')! } });
    assert.equal(new Set(again.answers.map(({ status, text }) => `${status} ${text}`)), new Set(['304 ']));
  }));

test.run();
