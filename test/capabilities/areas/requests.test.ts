/** Requests with an area: formats, polygons that cross themselves, the whole sky. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, eventually, NOW_US, type Running, startApp, type World } from '../../core/http/support.ts';

const test = suite<{ running: Running }>('areas/requests');

/** A cross whose arms and centre lie in the parts of a polygon that crosses itself. */
const CROSS = [
  { id: 11n, ra: 99.7, dec: 0 },
  { id: 12n, ra: 100.3, dec: 0 },
  { id: 13n, ra: 100, dec: 0.3 },
  { id: 14n, ra: 100, dec: -0.3 },
];

async function fill({ writer }: World): Promise<void> {
  await writer.ingest(
    CROSS.map(({ id, ra, dec }) => delivery(id, { position: { ra, dec } })),
    NOW_US,
  );
}

test.before(async context => {
  context.running = await startApp(fill);
});

test.after(({ running }) => running.close());

test('a table that is no JSON answers whatever is accepted [P15]', async ({ running: { app } }) => {
  for (const Accept of ['application/xml', 'application/json']) {
    const asked = { method: 'POST', body: 'CIRCLE 100 0 1', headers: { Accept } };
    const { status, headers } = await app.get('/api/area?response=table', asked);
    assert.equal([status, headers.get('Vary')], [200, 'Accept, Accept-Encoding']);
    assert.match(headers.get('Content-Type')!, 'text/csv');
  }
});

test('where the edges of a polygon cross, inside and outside change [Areas]', async ({ running: { app } }) => {
  const bow = 'POLYGON 99.5 -0.5 100.5 0.5 100.5 -0.5 99.5 0.5';
  const { body } = await app.post('/api/area?detail=ids', bow, null);
  assert.equal(body.objects.map(({ diaObjectId_str }: { diaObjectId_str: string }) => diaObjectId_str).sort(), [
    '11',
    '12',
  ]);
});

test('the whole sky as an area has every object with a position (docs/faq.md)', async ({ running: { app, world } }) => {
  await world.writer.ingest([delivery(4n), delivery(5n, { position: null })], NOW_US + 1);
  await eventually('the new object is counted, too', async () => {
    const { body } = await app.post('/api/area?response=count', 'CIRCLE 0 90 180', 'text/plain');
    return body.total === CROSS.length + 1 || undefined;
  });
});

test.run();
