/** The processes that read what clients send: who waits for whom. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Budget } from '../../src/base/budget.ts';
import { ClientAdmission } from '../../src/base/client_admission.ts';
import { type Reading, ReadingProcesses } from '../../src/pool/reading_processes.ts';
import type { MoodyTask } from './fixtures/moody_process.ts';

const test = suite<{ directory: string; processes: ReadingProcesses }>('pool/reading_processes');

test.before.each(context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const entry = 'test/pool/fixtures/moody_process';
  const options = { entry, dataDir: context.directory, memoryMib: 96, data: {} };
  context.processes = new ReadingProcesses({ small: options, large: options, admission: new ClientAdmission() });
});

test.after.each(({ directory, processes }) => {
  processes.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Asked extends Partial<Reading<string>> {
  readonly kind: Reading<string>['kind'];
  readonly mood: MoodyTask['mood'];
}

function reading({ mood, ...options }: Asked): Reading<string> {
  const task: MoodyTask = { kind: 'mood', mood };
  return { task, inputBytes: 10, isTooLarge: () => false, tooLarge: 'too large', ...options };
}

test('a small area waits for no table, whoever sends tables that do not end', async ({ processes }) => {
  let begun = 0;
  for (let i = 0; i < 8; i++) {
    const table = reading({ kind: 'table', mood: 'hangs', note: () => begun++ });
    processes.inTime(`table ${i}`, table, new Budget(60)).catch(() => {});
  }
  const area = reading({ kind: 'area', mood: 'answersLate' });
  assert.is(await processes.inTime('area', area, new Budget(60)), 'answersLate');
  // A third one begins when one of the two has left its slot.
  assert.ok(begun <= 2, `${begun}`);
});

test.run();
