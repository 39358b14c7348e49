/**
 * Checks the packages that are installed: each has a licence that is allowed, only approved ones run a script when they are installed, and
 * no advisory of the registry concerns a package that ships. `npm run check` runs this; with --list it prints each package and its licence.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  /** Whether only work on nearsky needs the package, which then does not ship. */
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  /** Whether the package is a folder of the checkout. */
  readonly link?: boolean;
}

/** `packages` of package-lock.json: by path, '' for the project itself. */
export type Lock = Readonly<Record<string, LockedPackage>>;

/** The licences of packages that ship: permissive ones, which ask for no more than to be named. */
const SHIPPED = new Set(['Apache-2.0', 'MIT', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', '0BSD']);
/** The licences of tools. The further ones bind those who change or spread the tool. */
const TOOLS = new Set([...SHIPPED, 'MPL-2.0', 'PSF-2.0', 'CC0-1.0', 'BlueOak-1.0.0', 'Python-2.0']);

/** Each package's path, without what is the project's own: itself, and the folder that a link leads to. */
const packages = (lock: Lock) =>
  Object.entries(lock).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);

/** The name of a package, from its path. */
export const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The packages whose licence is not allowed, one line each. */
export function licenceProblems(lock: Lock): string[] {
  return packages(lock).flatMap(([path, { license = 'none named', version, dev }]) => {
    const alternatives = license.replace(/^\(|\)$/g, '').split(' OR ');
    const allowed = dev ? TOOLS : SHIPPED;
    if (alternatives.some(one => allowed.has(one))) return [];
    return [
      `${nameOf(path)} ${version} has the licence ${license}: take another package, or allow it in .ci/packages.ts`,
    ];
  });
}

/** The versions whose scripts were read. npm cannot approve a version where the lock file names no addresses. */
const SCRIPTS_READ = new Set(['deno@2.9.5', 'esbuild@0.28.2', 'lmdb@3.5.6', 'msgpackr-extract@3.0.4', 'node@24.21.0']);

/**
 * The packages that run a script when they are installed and are not approved, or whose script was read in another
 * version, and the approved ones that run none.
 */
export function scriptProblems(lock: Lock, approved: Readonly<Record<string, boolean>>): string[] {
  const scripted = packages(lock).filter(([, { hasInstallScript }]) => hasInstallScript);
  const running = new Map(scripted.map(([path, { version }]) => [nameOf(path), version]));
  const strangers = [...running.keys()].filter(name => !approved[name]);
  const unread = [...running].flatMap(([name, version]) =>
    approved[name] && !SCRIPTS_READ.has(`${name}@${version}`) ? [`${name}@${version}`] : [],
  );
  const idle = Object.keys(approved).filter(name => !running.has(name));
  return [
    ...strangers.map(
      name => `${name} runs a script when it is installed: read it, then approve it in allowScripts of package.json`,
    ),
    ...unread.map(name => `${name} runs a script that nobody has read: read it, then add it in .ci/packages.ts`),
    ...idle.map(name => `${name} runs no script when it is installed: take it out of allowScripts of package.json`),
  ];
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
}

/** The advisories that `npm audit --json` found. An audit that could not look has not found that there are none. */
export function auditResult(output: string): {
  readonly unanswered?: string;
  readonly found: readonly Vulnerability[];
} {
  let report: { message?: string; vulnerabilities?: Record<string, Vulnerability> };
  try {
    report = JSON.parse(output);
  } catch {
    return { unanswered: 'npm gave no report', found: [] };
  }
  if (!report.vulnerabilities) return { unanswered: report.message ?? 'npm gave no report', found: [] };
  return { found: Object.values(report.vulnerabilities) };
}

const AUDIT = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=15000'];
const AUDIT_LIMIT_MS = 30_000;
/** Others are named, and fail nothing: many concern what is never called here. */
const SERIOUS = new Set(['high', 'critical']);

function audit(): string[] {
  const { stdout } = spawnSync('npm', AUDIT, { encoding: 'utf8', timeout: AUDIT_LIMIT_MS });
  const { unanswered, found } = auditResult(stdout ?? '');
  if (unanswered !== undefined)
    console.log(`advisories: not looked at, as the registry does not answer (${unanswered})`);
  else console.log(`advisories: ${found.length} concern what ships`);
  const lines = found.map(({ name, severity, range }) => `${name} ${range}: advisory, ${severity}; see npm audit`);
  for (const line of lines) console.log(line);
  return lines.filter((_, i) => SERIOUS.has(found[i]!.severity));
}

function list(lock: Lock): void {
  for (const [path, { version, license, dev }] of packages(lock))
    console.log([nameOf(path), version, license, dev ? 'tool' : 'ships'].join('\t'));
}

function check(lock: Lock, approved: Readonly<Record<string, boolean>>): void {
  const problems = [...licenceProblems(lock), ...scriptProblems(lock, approved)];
  console.log(`packages: ${packages(lock).length}, ${problems.length} with a licence or a script that is not approved`);
  problems.push(...audit());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
  // None of the tools of the tests ships, although their own package counts them as what it needs.
  const tools: Lock = Object.fromEntries(
    Object.entries<LockedPackage>(read('test/package-lock.json').packages).map(([path, each]) => [
      path && `node_modules/tools/${path}`,
      { ...each, dev: true },
    ]),
  );
  const lock: Lock = { ...tools, ...read('package-lock.json').packages };
  const approved = { ...read('package.json').allowScripts, ...read('test/package.json').allowScripts };
  if (process.argv.includes('--list')) list(lock);
  else check(lock, approved);
}
