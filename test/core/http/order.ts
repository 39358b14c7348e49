/** The order in which parameters are checked. */
import * as assert from 'uvu/assert';
import type { TestApp } from './support.ts';

/** Each request is wrong in the first of the names that are left. */
export async function assertOrder(
  app: TestApp,
  path: string,
  body: string | undefined,
  wrong: readonly (readonly [string, string])[],
): Promise<void> {
  for (let from = 0; from < wrong.length; from++) {
    const left = wrong.slice(from);
    const query = left.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).reverse();
    const address = `${path}?${query.join('&')}`;
    const { status, body: said } = body === undefined ? await app.get(address) : await app.post(address, body, null);
    assert.equal([status, said.param], [400, left[0]![0]], address);
  }
}
