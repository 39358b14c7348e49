/** What the tests of the store share. */
import { spawn } from 'node:child_process';
import { openStore, type Store } from '../../src/store/store.ts';
import type { CrossmatchResult, Delivery, MatchSource, ProvenanceSet } from '../../src/store/types.ts';
import { Writer } from '../../src/store/writer.ts';
import { withDirectory } from '../e2e/support.ts';
import { runtimeArgs } from '../runtime.ts';

/** Runs a test with a new store, open for writing. */
export function withStore(body: (store: Store, writer: Writer, directory: string) => Promise<void>): Promise<void> {
  return withDirectory(async directory => {
    const store = openStore(directory, 'write');
    try {
      await body(store, new Writer(store), directory);
    } finally {
      await store.close();
    }
  });
}

/** The rejection of a promise, or the error that a function throws. */
export async function failure(action: () => unknown): Promise<Error> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error, got none');
}

export function delivery(diaObjectId: bigint, fields: Partial<Delivery> = {}): Delivery {
  return {
    diaObjectId,
    position: { ra: 186.66952249928116, dec: -6.714927120071068 },
    reliability: 0.97,
    eventTimeUs: 1_772_010_265_123_456,
    broker: 'lasair',
    ...fields,
  };
}

export function result(diaObjectId: bigint, sources: readonly MatchSource[] = []): CrossmatchResult {
  return {
    diaObjectId,
    catalogOutcomes: [
      ['gaia_dr3', 'searched'],
      ['des_y6_gold', 'outside_footprint'],
      ['delve_dr3_gold', 'skipped_read_failure'],
      ['skymapper_dr4', 'not_searched_invalid_position'],
    ],
    matches: sources.map((source, i) => {
      return {
        catalogName: 'gaia_dr3',
        catalogSourceId: String(2n ** 62n + BigInt(i)),
        separationArcsec: 0.25 + i,
        source,
      };
    }),
  };
}

export const provenance: ProvenanceSet = {
  crossmatch_radius_arcsec: 1,
  catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR3' }],
  reliability_cuts: [
    { broker: 'lasair', min_reliability: 0.6, enforced_by: 'broker', status: 'declared', as_of: '2026-10-01' },
    { broker: 'pittgoogle', min_reliability: 0.6, enforced_by: 'service', status: 'service_setting', as_of: null },
  ],
};

/** Starts a script in a process of its own, under the runtime of this one. */
export function startScript(script: URL, args: readonly string[], stdin: 'ignore' | 'pipe' = 'ignore') {
  const child = spawn(process.execPath, [...runtimeArgs, script.pathname, ...args], {
    stdio: [stdin, 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.on('data', data => {
    output += data;
  });
  const ended = new Promise<{ code: number | null; signal: string | null; output: string }>(resolve => {
    child.on('close', (code, signal) => resolve({ code, signal, output }));
  });
  return { child, ended, output: () => output };
}
