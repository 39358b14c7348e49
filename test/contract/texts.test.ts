/**
 * The statements on which integrators rely are at their places in the OpenAPI document: docs/contract.md, OpenAPI
 * texts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../src/documents/openapi/document.ts';
import { root } from '../directory.ts';
import { configWith } from './support.ts';

const test = suite('contract/texts');

const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');

test('each text of the contract is at its place in the document', () => {
  const section = /\n### OpenAPI texts\n(.*?)\n## /s.exec(contract)![1]!;
  const rows = [...section.matchAll(/^\| `([\w.]+)` \| (.*) \|$/gm)].map(([, place, text]) => [place!, text!] as const);
  assert.ok(rows.length > 20, `${rows.length} texts`);
  for (const [place, text] of rows) assert.ok(descriptionAt(place).includes(text), `${place} does not say: ${text}`);
});

test('the codes, in the order of the contract', () => {
  const section = /\n## Errors\n(.*?)\n## /s.exec(contract)![1]!;
  const named = [...section.matchAll(/^\| `(\w+)` \| \d+ \|/gm)].map(([, name]) => name);
  assert.equal(document().components.schemas.ErrorCode.enum, named);
});

// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of the document and fails where it is not there
const document = (): any => openApiDocument(configWith());

function descriptionAt(place: string): string {
  const { info, components } = document();
  const [schema, property] = place.split('.') as [string, string | undefined];
  const found = schema === 'info' ? info : components.schemas[schema];
  // A property that may be null, or that a schema adds to another's, is deeper down.
  return property === undefined ? found.description : JSON.stringify(found.properties[property]);
}

test.run();
