/** The task listing (docs/contract.md, Tasks). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withoutDatabase } from './support.ts';

const test = suite('contract/task_list');

const NAMES = [
  'Host match',
  'Cutout download',
  'Global aperture construction',
  'Local aperture photometry',
  'Global aperture photometry',
  'Validate local photometry',
  'Validate global photometry',
  'Host information',
  'Global host SED inference',
  'Local host SED inference',
  'Transient MWEBV',
  'Host MWEBV',
  'Crop transient images',
  'Generate thumbnail',
  'Generate thumbnail final',
  'Generate thumbnail SED local',
  'Generate thumbnail SED global',
];
const ALLOW = 'GET, HEAD, OPTIONS';

test('GET answers the bare array of names, HEAD the same without a body', async () => {
  await withoutDatabase({}, async ask => {
    const got = await ask('/api/task/');
    assert.is(got.status, 200);
    assert.equal(
      JSON.parse(got.text),
      NAMES.map(name => ({ name })),
    );
    assert.match(got.text, '[{"name": "Host match"}, {"name": ');
    const head = await ask('/api/task/', { method: 'HEAD' });
    assert.is(head.status, 200);
    assert.is(head.text, '');
    for (const name of ['Allow', 'Content-Type']) assert.is(head.headers.get(name), got.headers.get(name), name);
    assert.is(got.headers.get('Allow'), ALLOW);
  });
});

test('OPTIONS describes it; a preflight is answered as one', async () => {
  await withoutDatabase({}, async ask => {
    const described = await ask('/api/task/', { method: 'OPTIONS' });
    assert.is(described.status, 200);
    assert.is(described.headers.get('Allow'), ALLOW);
    assert.equal(JSON.parse(described.text).renders, ['application/json']);
    const headers = { Origin: 'http://page.test', 'Access-Control-Request-Method': 'GET' };
    const preflight = await ask('/api/task/', { method: 'OPTIONS', headers });
    assert.is(preflight.status, 204);
    assert.is(preflight.headers.get('Access-Control-Allow-Methods'), ALLOW);
    assert.is(preflight.headers.get('Allow'), ALLOW);
  });
});

test('other methods are 405 with Allow and the error body [Headers; Tasks]', async () => {
  await withoutDatabase({}, async ask => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers, text } = await ask('/api/task/', { method });
      assert.is(status, 405, method);
      assert.is(headers.get('Allow'), ALLOW);
      assert.is(JSON.parse(text).code, 'method_not_allowed');
    }
  });
});

test('without the slash GET is sent to it; what lies around it is not there [Routes]', async () => {
  await withoutDatabase({}, async ask => {
    const moved = await ask('/api/task');
    assert.is(moved.status, 301);
    assert.is(moved.headers.get('Location'), '/api/task/');
    assert.is((await ask('/api/task', { method: 'POST' })).status, 405);
    assert.is((await ask('/api/task//')).status, 404);
    assert.is((await ask('/api/task/1')).status, 404);
  });
});

test.run();
