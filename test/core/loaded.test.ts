/** The parts that capabilities make. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedState } from '../../src/core/base/shared_state.ts';
import type { Capability, MainHost, Part } from '../../src/core/host.ts';
import { loadParts } from '../../src/core/loaded.ts';
import type { Exposition } from '../../src/core/metrics/exposition.ts';

const test = suite('core/loaded');

async function partsOf(parts: Readonly<Record<string, Part>>): Promise<Part[]> {
  const capabilities = Object.entries(parts).map(([name, part]): Capability => {
    return { name, main: async () => ({ part: () => part }) };
  });
  const host = { state: new SharedState() } as MainHost;
  return (await loadParts(capabilities)).map(make => make(host)).slice(0, capabilities.length);
}

const failing = () => {
  throw new Error('it is broken');
};

test('a part that fails while it starts or is counted is named', async () => {
  const [part] = await partsOf({ mine: { start: failing, addMetrics: failing } });
  assert.throws(() => part!.start!(), /^Cannot use the capability mine because it is broken$/);
  assert.throws(() => part!.addMetrics!({} as Exposition), /^Cannot use the capability mine because it is broken$/);
});

test.run();
