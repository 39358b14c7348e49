/** Shared by the tests of the service's own description: an app without a database, and its configuration. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../../src/core/app.ts';
import { API, configWith, PARTS, type Settings } from '../../capabilities.ts';
import { assertDocumented } from './validate.ts';

export { configWith, type Settings };

/** The settings of a deployment that declares its brokers' cuts. */
export const DECLARED: Settings = {
  ANTARES_DECLARED_MIN_RELIABILITY: '0.6',
  ANTARES_DECLARED_MIN_RELIABILITY_AS_OF: '2026-10-01',
  LASAIR_DECLARED_MIN_RELIABILITY: '0.65',
  LASAIR_DECLARED_MIN_RELIABILITY_AS_OF: '2026-10-02',
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type Ask = (path: string, init?: RequestInit) => Promise<Answer>;

/** Runs a test with an app whose database does not exist; every answer must be a documented one. */
export async function withoutDatabase(settings: Settings, body: (ask: Ask) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-contract-'));
  const config = configWith({ ...settings, NEARSKY_WORKERS: '1', NEARSKY_DATA: join(directory, 'none') });
  const app = createApp({ config, api: API, parts: PARTS, log: () => {} });
  try {
    await body(async (path, init) => {
      const request = new Request(`http://nearsky.test${path}`, init);
      const response = await app.fetch(request);
      const text = await response.text();
      assertDocumented(request, response, text, config);
      return { status: response.status, headers: response.headers, text };
    });
  } finally {
    await app.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
