/**
 * Tests the readers of untrusted input with mutations of a corpus. The test run uses a fixed seed and a fixed number of
 * inputs. `TEST_FUZZ_MINUTES=N npm test -- fuzz` runs for that long, over all targets, with its own seeds, and
 * stores its findings beside the corpus. `TEST_FUZZ_TARGETS=a,b` takes some of them.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { corpusDirectory, type Target } from './target.ts';
import { TARGETS } from './targets.ts';
import type { Report, Task } from './worker.ts';

const test = suite('fuzz');

const minutes = Number(process.env.TEST_FUZZ_MINUTES ?? 0);
const chosen = process.env.TEST_FUZZ_TARGETS?.split(',');
const targets = TARGETS.filter(({ name }) => !chosen || chosen.includes(name));
const isLong = minutes > 0;
const MAX_INPUT_BYTES = 2 ** 20;
/** An input takes milliseconds. One that takes this long has hung. */
const HANG_MS = 30_000;
const HEAP_MIB = 1024;

interface Finding {
  readonly input: Uint8Array;
  readonly from: string;
  readonly why: string;
}

function fuzz(target: Target, seed: number): Promise<{ inputs: number; findings: Finding[] }> {
  const current = new SharedArrayBuffer(8 + MAX_INPUT_BYTES);
  const state = new Int32Array(current, 0, 2);
  const underWay = () => Uint8Array.from(new Uint8Array(current, 8, Atomics.load(state, 1)));
  const untilMs = isLong ? Date.now() + (minutes * 60_000) / targets.length : Number.POSITIVE_INFINITY;
  const inputs = isLong ? Number.POSITIVE_INFINITY : target.inputs;
  const workerData: Task = { target: target.name, seed, inputs, untilMs, current };
  return new Promise(resolve => {
    const findings: Finding[] = [];
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    let last = -1;
    const end = (count: number, why?: string) => {
      clearInterval(watch);
      if (why !== undefined)
        findings.push({ input: underWay(), from: `input ${Atomics.load(state, 0)} of seed ${seed}`, why });
      void worker.terminate();
      resolve({ inputs: count, findings });
    };
    const watch = setInterval(() => {
      const now = Atomics.load(state, 0);
      if (now === last && now > 0) end(now, `it does not end within ${HANG_MS / 1000} s`);
      last = now;
    }, HANG_MS);
    worker.on('message', (report: Report) => {
      if (report.kind === 'finding') findings.push(report);
      else end(report.inputs);
    });
    worker.on('error', error => end(Atomics.load(state, 0), `the thread ended: ${error.stack ?? error.message}`));
    worker.on('exit', () => end(Atomics.load(state, 0)));
  });
}

/** Keeps the input of a finding, so that it is run from now on. */
function keep(target: Target, { input }: Finding): string {
  const name = `found-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`;
  writeFileSync(join(corpusDirectory(target.name), name), input);
  return name;
}

for (const target of targets) {
  test(`${target.name}: no input ends it, hangs it, takes its memory, or is answered with a riddle`, async () => {
    const seed = isLong ? Date.now() % 2 ** 31 : 1;
    const { inputs, findings } = await fuzz(target, seed);
    if (isLong) console.log(`${target.name}: ${inputs} inputs from seed ${seed}, ${findings.length} findings`);
    // Many inputs may cause the same fault: only one of each is reported.
    const faults = [...new Map(findings.map(finding => [finding.why.split('\n', 1)[0], finding])).values()];
    const lines = faults.map(finding => {
      const shown = JSON.stringify(Buffer.from(finding.input).subarray(0, 200).toString('latin1'));
      return `${finding.from}${isLong ? ` (${keep(target, finding)})` : ''}: ${finding.why}\n  ${shown}`;
    });
    assert.ok(lines.length === 0, lines.join('\n'));
    assert.ok(inputs > 0);
  });
}

test.run();
