import { join } from 'node:path';
import { TestApp } from '../../core/http/support.ts';
import type { World } from '../crossmatch/world.ts';

/** Uses a service over the data of a world, and closes it. */
export async function withApp(world: World, use: (app: TestApp) => Promise<void>, settings = {}): Promise<void> {
  const app = new TestApp(join(world.directory, 'data'), settings);
  try {
    await use(await app.ready());
  } finally {
    await app.app.close();
  }
}
