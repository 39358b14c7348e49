/**
 * The power is cut at any moment of a command: the database then opens and contains everything acknowledged, and a
 * repeated run gives the normal result. TEST_POWER_CUTS sets how many times each (8), TEST_SEED which moments.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random } from '../e2e/kill_support.ts';
import { environment, start, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { runtimeArgs } from '../runtime.ts';
import { differences, type Holdings, strangers } from './holdings.ts';
import { obstacle, preload } from './library.ts';
import { type Change, Disk, readChanges, SURVIVALS, type Survival } from './power.ts';
import { prepare, SCENARIOS, type Scenario } from './scenarios.ts';

const cuts = Number(process.env.TEST_POWER_CUTS ?? 8);
/** From one state in this many, the command itself is run again. */
const RUN_AGAIN = 8;

const test = suite('faults/power');
const testWithPower = needs(test, obstacle);

/** A moment of a recording, and what of the changes until then is left. */
interface Cut {
  readonly at: number;
  readonly survival: Survival;
  readonly isTorn: boolean;
}

/** Moments in ascending order; those between a flush and the next are as likely as those amid a thousand writes. */
function someCuts(changes: readonly Change[]): Cut[] {
  const choose = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!;
  const notable = changes.flatMap(({ kind, isDurable }, i) => (kind !== 'write' || isDurable ? [i, i + 1] : []));
  const all = changes.map((_, i) => i);
  const chosen = Array.from({ length: cuts }, (): Cut => {
    return { at: choose(random() < 0.5 ? notable : all), survival: choose(SURVIVALS), isTorn: random() < 0.5 };
  });
  return chosen.sort((a, b) => a.at - b.at);
}

/** Replays a recording up to each cut, and examines the remains. */
async function atEachCut(
  changes: readonly Change[],
  disk: Disk,
  target: string,
  look: (directory: string, cut: Cut) => Promise<void>,
): Promise<void> {
  let at = 0;
  for (const cut of someCuts(changes)) {
    while (at < cut.at) disk.apply(changes[at++]!);
    disk.leave(target, cut.survival, random, cut.isTorn ? changes[at] : undefined);
    try {
      await look(target, cut);
    } catch (error) {
      const { kind, path } = changes[cut.at] ?? { kind: 'end', path: '' };
      const where = `power cut before change ${cut.at} of ${changes.length} (${kind} ${path}), ${cut.survival} of what was not flushed is left`;
      throw new Error(`${where}${cut.isTorn ? ', that change torn' : ''}: ${error}`, { cause: error });
    }
    rmSync(target, { recursive: true });
  }
}

/** The keys of entries beside the recorded database: files and rejects. */
const BESIDE = /^(file|reject )/;

const isCommit = ({ kind, isDurable, path }: Change) => kind === 'write' && isDurable && path.endsWith('nearsky.mdb');

/** The holdings after each commit of a recording, by the number of commits. */
async function holdingsByCommit(
  changes: readonly Change[],
  scenario: Scenario,
  place: string,
  base: string,
): Promise<Holdings[]> {
  const disk = new Disk(place, base);
  const found = [await scenario.holdings(base)];
  for (const change of changes) {
    disk.apply(change);
    if (!isCommit(change)) continue;
    disk.leave(place, 'everything', random);
    found.push(await scenario.holdings(place));
    rmSync(place, { recursive: true });
  }
  return found;
}

let prepared: string;

test.before(async () => {
  if (obstacle) return;
  prepared = realpathSync(mkdtempSync(join(tmpdir(), 'nearsky-test-')));
  await prepare(prepared);
});

test.after(() => {
  if (prepared) rmSync(prepared, { recursive: true });
});

/** The others differ only in what they read, not in what they write. */
const WRITING = SCENARIOS.filter(({ name }) => !/^(stats|crossmatch-reading|tns-load-(gz|zip))$/.test(name));

for (const scenario of WRITING) {
  testWithPower(`${scenario.name}, the power cut ${cuts} times`, () =>
    withDirectory(async temporary => {
      const base = join(prepared, scenario.ready);
      // The remains are put where the command was, because paths are stored.
      const place = join(realpathSync(temporary), 'run');
      const record = join(temporary, 'record');
      cpSync(base, place, { recursive: true });
      const args = scenario.args(place);
      const runs = scenario.run ?? start;
      const { code, stderr } = await runs(args, preload(place, { record })).finished;
      assert.is(code, 0, stderr);
      const after = await scenario.holdings(place);
      rmSync(place, { recursive: true });
      const changes = readChanges(record);
      const printed = changes.findLastIndex(({ kind }) => kind === 'print');
      const states = await holdingsByCommit(changes, scenario, place, base);
      const stateAt = (at: number) => states[changes.slice(0, at).filter(isCommit).length]!;
      let looked = 0;
      await atEachCut(changes, new Disk(place, base), place, async (_, { at, isTorn }) => {
        const now = await scenario.holdings(place);
        const underWay = isTorn ? stateAt(at + 1) : stateAt(at);
        // A file beside the database is complete or missing, whatever is committed.
        const strange = strangers(now, stateAt(at), underWay).filter(key => {
          return !BESIDE.test(key) || strangers(now, stateAt(at), after).includes(key);
        });
        assert.equal(strange, [], 'what is neither acknowledged nor under way');
        if (at > printed) assert.equal(differences(now, after), [], 'what it printed is there');
        if (looked++ % RUN_AGAIN !== 0 || (scenario.name === 'backup' && now.size > 0)) return;
        const { code, stderr } = await runs(args, {}).finished;
        assert.is(code, 0, stderr);
        assert.equal(differences(await scenario.holdings(place), after), []);
      });
      console.log(`${scenario.name}: ${cuts} power cuts in ${changes.length} changes`);
    }),
  );
}

/** Runs `storing.ts`. */
function storing(what: string, path: string, variables: Record<string, string> = {}) {
  const program = fileURLToPath(new URL('storing.ts', import.meta.url));
  const args = [...runtimeArgs, program, what, path];
  return spawnSync(process.execPath, args, { env: { ...environment, ...variables }, encoding: 'utf8' });
}

/** Records `storing.ts`, and checks at each cut that what it had printed by then is there. */
function cutWhileStoring(
  settings: 'ours' | 'default',
  name: string,
  countAfter: (path: string) => Promise<number>,
): Promise<void> {
  return withDirectory(async temporary => {
    const directory = realpathSync(temporary);
    const base = join(directory, 'base');
    const place = join(directory, 'run');
    for (const path of [base, place]) mkdirSync(path);
    const record = join(directory, 'record');
    const { status, stderr } = storing(settings, join(place, name), preload(place, { record }));
    assert.is(status, 0, stderr);
    rmSync(place, { recursive: true });
    const changes = readChanges(record);
    await atEachCut(changes, new Disk(place, base), place, async (_, { at }) => {
      const printed = changes.slice(0, at).filter(({ kind }) => kind === 'print');
      const acknowledged = Number(printed.at(-1)?.data ?? 0);
      const found = await countAfter(join(place, name));
      assert.ok(found >= acknowledged, `${acknowledged} were acknowledged, ${found} are there`);
    });
    console.log(`${settings}: ${cuts} power cuts in ${changes.length} changes`);
  });
}

testWithPower(`each batch that was acknowledged is there after the power was cut ${cuts} times`, () => {
  const { holdings } = SCENARIOS.find(({ name }) => name === 'import')!;
  return cutWhileStoring('ours', 'data', async path => (await holdings(join(path, '..'))).size);
});

testWithPower(`with the default settings of LMDB, too, the power cut ${cuts} times`, () =>
  cutWhileStoring('default', 'default.mdb', async path => {
    if (!existsSync(path) || statSync(path).size === 0) return 0;
    const { status, signal, stdout, stderr } = storing('count', path);
    // The first transaction was cut: no database was acknowledged, and the addon may not survive what there is.
    if (signal !== null) return 0;
    assert.is(status, 0, stderr);
    return Number(stdout);
  }),
);

test.run();
