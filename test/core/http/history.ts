/** A service that keeps its history: object 1, then object 5, which is crossmatched. */
import { crossmatched, delivery, eventually, match, NOW_US, searched, type TestApp, type World } from './support.ts';

export const ENTRY = 'X-Journal-Entry';
export const ID = 5n;

export function sequenceOf({ store }: World): number {
  store.resetRead();
  return store.lastSequence();
}

/** Waits until the index has all objects. */
export const indexed = (app: TestApp, world: World) =>
  eventually('the index has every entry', async () => {
    const { headers } = await app.get('/api/cone?ra=0&dec=0&radius_arcsec=1');
    return headers.get(ENTRY) === `${sequenceOf(world)}` || undefined;
  });

export async function fill({ writer, store, directory }: World): Promise<void> {
  await writer.keepHistory(true);
  await writer.ingest([delivery(1n)], NOW_US);
  await writer.ingest([delivery(ID)], NOW_US);
  await crossmatched({ writer, store, directory }, ID, searched('gaia_dr3'), [match('gaia_dr3', '9')]);
}
