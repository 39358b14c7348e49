/** What remains of the service without one optional capability. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as assert from 'uvu/assert';
import { CAPABILITIES } from '../../src/capabilities.ts';
import { root } from '../directory.ts';

/** A capability, and all that need it, directly or not. */
export function withNeeding(name: string): ReadonlySet<string> {
  const gone = new Set([name]);
  for (let size = 0; size < gone.size; ) {
    size = gone.size;
    for (const { name, needs } of CAPABILITIES) if (needs?.some(need => gone.has(need))) gone.add(name);
  }
  return gone;
}

const LIST = 'src/capabilities.ts';
const NOT_COPIED = ['.git', '.cache', 'dist', 'node_modules'];
const OWN_MODULES = 'node_modules/@nearsky';

/** Copies the checkout, and removes these capabilities from the copy, as the chapter "Capabilities" of ARCHITECTURE.md says. */
export function copyWithout(gone: ReadonlySet<string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-without-'));
  const linked = (path: string) => symlinkSync(join(root, path), join(directory, path));
  const copied = (path: string, filter = (_: string) => true) =>
    cpSync(join(root, path), join(directory, path), { recursive: true, verbatimSymlinks: true, filter });
  copied('.', path => !NOT_COPIED.includes(basename(path)));
  mkdirSync(join(directory, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== basename(OWN_MODULES)) linked(`node_modules/${name}`);
  // Links to the libraries of the checkout, which are those of the copy there.
  copied(OWN_MODULES);
  linked('test/node_modules');
  let list = readFileSync(join(directory, LIST), 'utf8');
  for (const name of gone) {
    for (const folder of ['src', 'test'])
      rmSync(join(directory, folder, 'capabilities', name), { recursive: true, force: true });
    const line = new RegExp(`^import \\{ (\\w+) \\} from '\\./capabilities/${name}/mod\\.ts';\\n`, 'm');
    const [, constant] = line.exec(list)!;
    list = list.replace(line, '').replace(new RegExp(`\\b${constant}(,\\s*|(?=\\]))`), '');
    assert.not.match(list, new RegExp(`\\b${constant}\\b`));
  }
  writeFileSync(join(directory, LIST), list);
  return directory;
}
