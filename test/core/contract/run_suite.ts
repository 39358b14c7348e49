/**
 * Checks a service against the contract (docs/contract.md), over HTTP only; the last line is `N passed, N failed`.
 *
 *   node test/core/contract/run_suite.ts http://HOST:PORT                  a service that has the world and a current registry
 *   node test/core/contract/run_suite.ts --no-registry http://HOST:PORT    one whose registry is more than two hours old
 *   node test/core/contract/run_suite.ts --snapshot                        prints the line that dates the registry now
 *
 * The world is suite/world.ndjson. Its registry is current for two hours after it was imported with the line of --snapshot:
 *
 *   node test/core/contract/run_suite.ts --snapshot | nearsky import --data DIR test/core/contract/suite/world.ndjson -
 *   nearsky serve --data DIR --no-crossmatch
 */
import { CHECKS, CHECKS_WITHOUT_REGISTRY, runChecks } from './suite/suite.ts';
import { snapshotLine } from './suite/world.ts';

const options = process.argv.slice(2);
const bases = options.filter(option => /^https?:\/\//.test(option));

if (options.join() === '--snapshot') {
  console.log(snapshotLine(Date.now() * 1000));
} else if (bases.length === 1 && options.every(option => option === bases[0] || option === '--no-registry')) {
  await run(bases[0]!, options.includes('--no-registry'));
} else {
  console.error('Usage: run_suite.ts [--no-registry] http://HOST:PORT, or run_suite.ts --snapshot');
  process.exitCode = 2;
}

async function run(base: string, withoutRegistry: boolean): Promise<void> {
  let passed = 0;
  let failed = 0;
  for await (const { name, failure } of runChecks(base, withoutRegistry ? CHECKS_WITHOUT_REGISTRY : CHECKS)) {
    if (failure === undefined) passed++;
    else failed++;
    console.log(failure === undefined ? `ok    ${name}` : `FAIL  ${name}\n${failure}\n`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
