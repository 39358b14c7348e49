/** A service with an added catalog of variable stars, `stars`, which has a source at its object. */
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import {
  crossmatched,
  delivery,
  eventually,
  type Json,
  match,
  NOW_US,
  PROVENANCE,
  searched,
  type TestApp,
  type World,
  withApp,
} from './support.ts';

export const ID = 313637935709683761n;
export const PAYLOAD = { ra: 150, dec: 2, vmag: 17.25, period: null, kind: 'RR, "Lyr"', isold: true, source_id: 9n };

/** Registers a small catalog of variable stars; its source 7 lies at the object. */
export async function addCatalog({ directory, writer }: World, name: string): Promise<void> {
  const location = join(directory, `${name}-hats`);
  writeHats(location, {
    name,
    columns: [
      { name: 'ID', type: 'INT64', data: [7n, 8n] },
      { name: 'ra', type: 'DOUBLE', data: [150, 151] },
      { name: 'dec', type: 'DOUBLE', data: [2, 3] },
      { name: 'Vmag', type: 'FLOAT', data: [17.25, 18] },
      { name: 'Period', type: 'DOUBLE', data: [null, 0.5] },
      { name: 'Kind', type: 'STRING', data: ['RR, "Lyr"', 'M'] },
      { name: 'isOld', type: 'BOOLEAN', data: [true, false] },
      { name: 'source_id', type: 'INT64', data: [9n, 10n] },
    ],
    ra: 'ra',
    dec: 'dec',
  });
  const description = {
    release: 'Variable <stars>',
    colour: { light: '#123456', dark: '#abcdef' },
    chatKeys: ['vmag', 'kind'],
    reference: { home: 'https://stars.example', paper: 'Star & Star 2026', paperUrl: 'https://stars.example/p' },
  };
  await writer.commit({
    kind: 'register_catalog',
    registration: await registerCatalog({ name, idColumn: 'ID', description }, location, { addedAtUs: NOW_US }),
  });
}

export async function fill(world: World): Promise<void> {
  await world.writer.ingest([delivery(ID, { position: { ra: 150, dec: 2 } })], NOW_US);
}

export async function addAndCrossmatch(world: World): Promise<void> {
  await addCatalog(world, 'stars');
  await crossmatched(world, ID, searched('stars'), [match('stars', '7', { ra: 150, dec: 2, payload: PAYLOAD })]);
}

/** The JSON of an answer that the document of the service itself describes, which names the catalog. */
export async function jsonOf(app: TestApp, path: string): Promise<Json> {
  const response = await app.app.fetch(new Request(`http://nearsky.test${path}`));
  assert.is(response.status, 200, path);
  return await response.json();
}

/** Waits until the running service knows the catalog. */
export const known = (app: TestApp) =>
  eventually(
    'the catalog is known',
    async () => (await jsonOf(app, '/api/describe')).catalogs.some(({ name }: Json) => name === 'stars') || undefined,
  );

/** Runs a test with a service that knows the catalog. */
export const withStars = (use: (app: TestApp, world: World) => Promise<void>): Promise<void> =>
  withApp(
    async world => {
      await fill(world);
      await addAndCrossmatch(world);
    },
    async (app, world) => {
      await known(app);
      await use(app, world);
    },
  );

/** Matches of an older release with other ids, and those of the next one. */
export async function replaceMatches(world: World): Promise<void> {
  await fill(world);
  await addCatalog(world, 'stars');
  const of = (release: string) => ({ ...PROVENANCE, catalogs: [{ name: 'stars', release }] });
  const older = [match('stars', 'é 7', { ra: 150, dec: 2, payload: PAYLOAD })];
  await crossmatched(world, ID, searched('stars'), older, of('Older'));
  const matches = [match('stars', '7', { ra: 150, dec: 2, payload: PAYLOAD })];
  const result = { diaObjectId: ID, catalogOutcomes: searched('stars'), matches };
  await world.writer.recordCrossmatches([result], of('Variable <stars>'), NOW_US, true);
}
