/**
 * Makes the wheel of the Python client (PyPA's "Binary distribution format" 1.0, "Core metadata" 2.4) from the files in
 * `clients/python`, without using Python.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programFile } from '../../../core/base/program_files.ts';
import { zip } from './zip.ts';

type Values = ReadonlyMap<string, string | readonly string[]>;

export function buildWheel() {
  const directory = programFile('clients/python');
  const tables = readTables(readFileSync(join(directory, 'pyproject.toml'), 'utf8'));
  const project = tables.get('project')!;
  const base = `${project.get('name')}-${project.get('version')}`;
  const info = `${base}.dist-info`;
  const names = readdirSync(join(directory, 'nearsky'), { recursive: true, encoding: 'utf8' })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => /\.(py|typed|html)$/.test(name));
  const files = new Map<string, Uint8Array>(
    names.sort().map(name => [`nearsky/${name}`, readFileSync(join(directory, 'nearsky', name))]),
  );
  const metadata = metadataOf(project, tables.get('project.optional-dependencies')!);
  files.set(`${info}/licenses/LICENSE`, readFileSync(join(directory, 'LICENSE')));
  files.set(`${info}/METADATA`, Buffer.from(`${metadata}\n${readFileSync(join(directory, 'README.md'), 'utf8')}`));
  files.set(
    `${info}/WHEEL`,
    Buffer.from('Wheel-Version: 1.0\nGenerator: nearsky\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
  );
  const record = [...files].map(([path, bytes]) => {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    return `${path},sha256=${digest},${bytes.length}\n`;
  });
  files.set(`${info}/RECORD`, Buffer.from(`${record.join('')}${info}/RECORD,,\n`));
  return { name: `${base}-py3-none-any.whl`, bytes: zip(files) };
}

/**
 * Reads the tables of our pyproject.toml. Only values that are JSON strings or arrays of strings are read. Other values
 * are ignored.
 */
function readTables(text: string): ReadonlyMap<string, Values> {
  const tables = text.matchAll(/^\[([\w.-]+)\]\n((?:(?!\[).*\n?)*)/gm);
  return new Map(
    [...tables].map(([, table, lines]) => {
      const values = lines!.matchAll(/^([\w-]+) = ("[^"\n]*"|\[[^\]]*\])$/gm);
      return [table!, new Map([...values].map(([, key, value]) => [key!, JSON.parse(value!)]))];
    }),
  );
}

function metadataOf(project: Values, extras: Values): string {
  const list = (key: string) => project.get(key) as readonly string[];
  const lines = [
    ['Metadata-Version', '2.4'],
    ['Name', project.get('name')],
    ['Version', project.get('version')],
    ['Summary', project.get('description')],
    ['Keywords', list('keywords').join(',')],
    ['Requires-Python', project.get('requires-python')],
    ['Description-Content-Type', 'text/markdown'],
    ['License-Expression', project.get('license')],
    ...list('classifiers').map(classifier => ['Classifier', classifier]),
    ...list('license-files').map(file => ['License-File', file]),
    ...[...extras].flatMap(([extra, packages]) => [
      ['Provides-Extra', extra],
      ...[packages].flat().map(name => ['Requires-Dist', `${name} ; extra == "${extra}"`]),
    ]),
  ];
  return lines.map(([name, value]) => `${name}: ${value}\n`).join('');
}
