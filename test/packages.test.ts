/** The packages that may be installed: licences, install scripts, advisories (`.ci/packages.ts`). */
import { globSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditResult, type Lock, licenceProblems, nameOf, scriptProblems } from '../.ci/packages.ts';

const test = suite('packages');
const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const lock: Lock = read('package-lock.json').packages;
const approved: Record<string, boolean> = read('package.json').allowScripts;
/** The folders of the libraries that stand for themselves. */
const libraries = globSync(read('package.json').workspaces as string[], { cwd: new URL('..', import.meta.url) });
const ofTools: Lock = read('test/package-lock.json').packages;
/** The folder of the checkout that stands for Deno until it is installed with the tools. */
const LAUNCHER = 'test/deno';

test('every licence is allowed; one that is not, or is not named, is found, sooner in what ships', () => {
  assert.equal(licenceProblems(lock), []);
  const tools = Object.entries(ofTools).map(([path, each]) => [path, { ...each, dev: true }]);
  assert.equal(licenceProblems(Object.fromEntries(tools)), []);
  const with_ = (license: string | undefined, dev: boolean) =>
    licenceProblems({
      ...lock,
      'node_modules/a/node_modules/@b/c': { version: '1.0.0', dev, ...(license && { license }) },
    });
  assert.match(with_('GPL-3.0-only', false)[0]!, /^@b\/c 1\.0\.0 has the licence GPL-3\.0-only/);
  assert.is(with_(undefined, true).length, 1);
  assert.equal([with_('MPL-2.0', true).length, with_('MPL-2.0', false).length], [0, 1]);
  assert.equal([with_('(GPL-2.0-only OR MIT)', false).length, with_('MIT AND GPL-2.0-only', false).length], [0, 1]);
});

test('exactly the approved packages run a script when they are installed', () => {
  assert.equal(scriptProblems(lock, approved), []);
  assert.equal(scriptProblems(ofTools, read('test/package.json').allowScripts), []);
  const sly = { ...lock, 'node_modules/sly': { hasInstallScript: true } };
  assert.match(scriptProblems(sly, approved).join(), /^sly runs a script/);
  const later = { ...lock, 'node_modules/lmdb': { ...lock['node_modules/lmdb']!, version: '99.0.0' } };
  assert.match(scriptProblems(later, approved).join(), /^lmdb@99\.0\.0 runs a script that nobody has read/);
  assert.match(scriptProblems(lock, { ...approved, quiet: true }).join(), /^quiet runs no script/);
  assert.is(scriptProblems(lock, { ...approved, lmdb: false }).length, 1);
});

test('every package, of every platform, is pinned by a hash, and all come from the registry', () => {
  interface Pinned {
    readonly integrity?: string;
    readonly resolved?: string;
    readonly link?: boolean;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  for (const each of [lock, ofTools]) {
    const folders: string[] = [];
    for (const [path, { integrity = '', resolved, link, optionalDependencies = {} }] of Object.entries(
      each as Record<string, Pinned>,
    )) {
      for (const name of Object.keys(optionalDependencies))
        assert.ok(
          `node_modules/${name}` in each || `${path}/node_modules/${name}` in each,
          `${name}, wanted by ${path}`,
        );
      if (link) folders.push(resolved!);
      if (link || !path.startsWith('node_modules/')) continue;
      assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, nameOf(path));
      assert.ok(resolved === undefined || resolved.startsWith('https://registry.npmjs.org/'), path);
    }
    // What is no package of the registry is a folder of the checkout: a library of its own, or what stands for Deno.
    const ofCheckout = Object.keys(each).filter(path => path !== '' && !path.includes('node_modules/'));
    assert.equal(folders.sort(), ofCheckout.sort());
    for (const folder of folders) assert.ok(folder === LAUNCHER || libraries.includes(folder), folder);
  }
  assert.is(read('test/deno/package.json').version, ofTools['node_modules/deno']!.version);
});

test('an audit that could not look is not one that found nothing', () => {
  for (const output of ['', 'npm error', '{"message": "405 Method Not Allowed"}', '{}'])
    assert.type(auditResult(output).unanswered, 'string', output);
  assert.equal(auditResult('{"vulnerabilities": {}}'), { found: [] });
  const found = [{ name: 'undici', severity: 'high', range: '<1' }];
  assert.equal(auditResult(JSON.stringify({ vulnerabilities: { undici: found[0] } })), { found });
});

test.run();
