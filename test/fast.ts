/**
 * Which test files are fast (`npm run test:fast`): those that cannot start a process or a pool of threads and cannot open a socket, because neither
 * they nor what they import, at any depth, imports a module that can. Under Deno they run without the permission to do either.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Modules that start processes or pools of threads, or open sockets. */
const SLOW = new Set([
  ...['child_process', 'cluster', 'dgram', 'dns', 'http', 'http2', 'https', 'net', 'tls'].map(name => `node:${name}`),
  ...['@platformatic/kafka', 'google-auth-library', 'piscina', 'undici'],
]);
/** What such a module has that does neither. */
const HARMLESS = /^(isIP(v[46])?|BlockList)$/;

/** An import or export of values, with the names where there are any, or an `import()`. */
const IMPORTS =
  /^(?:import|export)\b(?! type\b)(?: *(?:\w+,? *)?(?:\{([^}]*)\}|\*(?: as \w+)?)? *from)? *'([^']+)'|\bimport\('([^']+)'\)/gm;

/** What a file imports when it runs: modules that only give types are left out. */
function importsOf(file: string): string[] {
  const imported: string[] = [];
  for (const [, names, module, dynamic] of readFileSync(file, 'utf8').matchAll(IMPORTS)) {
    const values = names
      ?.split(',')
      .map(name => name.trim())
      .filter(name => name !== '' && !name.startsWith('type '));
    const isUsed = values === undefined || values.some(name => !HARMLESS.test(name));
    if (isUsed) imported.push(module ?? dynamic!);
  }
  return imported;
}

/**
 * Why a test file is not among the fast ones: the files by which it comes to a module that starts processes or opens sockets, and that
 * module. Undefined if it is fast.
 */
export function whySlow(file: string): string[] | undefined {
  const seen = new Set([file]);
  const visit = (visited: string, path: readonly string[]): string[] | undefined => {
    for (const module of importsOf(visited)) {
      if (SLOW.has(module)) return [...path, module];
      const isLibrary = module.startsWith('@nearsky/');
      const next = isLibrary ? fileURLToPath(import.meta.resolve(module)) : join(dirname(visited), module);
      if (!(isLibrary || /^\.{1,2}\/.*\.[jt]s$/.test(module)) || seen.has(next) || !existsSync(next)) continue;
      seen.add(next);
      const found = visit(next, [...path, next]);
      if (found) return found;
    }
    return undefined;
  };
  return visit(file, [file]);
}
