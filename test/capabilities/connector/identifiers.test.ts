/** The kinds of identifiers (docs/contract.md, Connector), and the recipes that contain them. */

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { classifyAll } from '../../../src/capabilities/connector/identifiers.ts';
import { coneUrl, lookupCommand, shellQuote } from '../../../src/capabilities/connector/recipes.ts';
import { parseSent, type SentValue } from '../../../src/core/base/json_reader.ts';
import { loadConfig } from '../../../src/core/config/config.ts';

const test = suite('mcp/identifiers');

const BOUNDS = { maxDepth: 10, maxValues: 1000 };
const classified = (json: string) => classifyAll(parseSent(Buffer.from(json), BOUNDS) as readonly SentValue[]);

/** Kind and canonical form of the one element. */
function kindOf(json: string): unknown {
  const [{ kind, ...rest } = { kind: 'nothing' }] = classified(`[${json}]`);
  return 'canonical' in rest ? [kind, rest.canonical] : kind;
}

test('texts', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['"170666293697970324"', ['diaObjectId', '170666293697970324']],
    ['"9223372036854775807"', ['diaObjectId', '9223372036854775807']],
    ['"9223372036854775808"', 'unrecognized'],
    ['"20261234567890123456789"', 'unrecognized'],
    ['" 007\\n"', ['diaObjectId', '7']],
    ['"0"', ['diaObjectId', '0']],
    [`"${'0'.repeat(5000)}1"`, ['diaObjectId', '1']],
    [`"${'9'.repeat(5000)}"`, 'unrecognized'],
    ['"SN 2026abc"', ['tns_name', '2026abc']],
    ['" at2026ABC "', ['tns_name', '2026abc']],
    ['"2026A"', ['tns_name', '2026a']],
    ['"ZTF26abc"', 'unrecognized'],
    ['"-1"', 'unrecognized'],
    ['"+1"', 'unrecognized'],
    ['"1.0"', 'unrecognized'],
    ['"1 2"', 'unrecognized'],
    ['"٣"', 'unrecognized'],
    ['""', 'unrecognized'],
    ['"2026abc\'; rm -rf /"', 'unrecognized'],
  ];
  for (const [json, expected] of table) assert.equal(kindOf(json), expected, json.slice(0, 60));
});

test('numbers, and what is neither', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['170', ['diaObjectId', '170']],
    ['0', ['diaObjectId', '0']],
    ['9007199254740992', ['diaObjectId', '9007199254740992']],
    ['9007199254740993', 'precision_lost'],
    ['170666293697970324', 'precision_lost'],
    ['1e17', 'precision_lost'],
    ['1e400', 'precision_lost'],
    ['1.5', 'unrecognized'],
    ['-1', 'unrecognized'],
    ['true', 'unrecognized'],
    ['null', 'unrecognized'],
    ['["1"]', 'unrecognized'],
    ['{"diaObjectId":"1"}', 'unrecognized'],
  ];
  for (const [json, expected] of table) assert.equal(kindOf(json), expected, json);
});

test('of what is the same identifier the first stays; what cannot be looked up all stays', () => {
  const list = classified('["7", 7, "007", "sn2026abc", "2026ABC", "x", "x", 1e17, 1e17, "8"]');
  assert.equal(
    list.map(({ position, kind }) => [position, kind]),
    [
      [0, 'diaObjectId'],
      [3, 'tns_name'],
      [5, 'unrecognized'],
      [6, 'unrecognized'],
      [7, 'precision_lost'],
      [8, 'precision_lost'],
      [9, 'diaObjectId'],
    ],
  );
});

test('the command of a lookup is one line, and its body is every identifier that can be looked up', () => {
  const command = lookupCommand(
    'https://sky.example',
    classified('["7", "nonsense", "SN 2026abc", 1e17]'),
    loadConfig(),
  );
  assert.is(
    command,
    `curl -sS -X POST 'https://sky.example/api/lookup' -H 'Content-Type: application/json' --data ` +
      `'{"inputs":[{"kind":"id","diaObjectId":"7"},{"kind":"tns","name":"2026abc"}],"detail":"full"}'`,
  );
});

test('a command keeps to the limits of a request, however low [Connector]', () => {
  const identifiers = classified('["1", "2", "FRB 20260101A", "3", "2026b", "2026c", "4", "5"]');
  const config = loadConfig({ environment: { API_MAX_IDS: '2', API_MAX_POSITIONS: '1' } });
  const command = lookupCommand('https://sky.example', identifiers, config);
  const bodies = [...command.matchAll(/--data '(.*?)'(?: && |$)/g)].map(([, body]) => JSON.parse(body!).inputs);
  const kinds = bodies.map(inputs => inputs.map(({ kind }: { kind: string }) => kind).join());
  assert.equal(kinds, ['id,id,tns', 'id,tns', 'tns,id,id']);
  assert.equal(
    bodies.flat().map(({ diaObjectId, name }) => diaObjectId ?? name),
    ['1', '2', 'FRB20260101a', '3', '2026b', '2026c', '4', '5'],
  );
});

test('a quoted word is the same word to a shell', () => {
  const words = fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .filter(word => !/[\0\r\n]/.test(word) && word.isWellFormed());
  for (const word of ["it's", "'", "''", '$(id)', '`id`', 'a"b', '\\', ...fc.sample(words, 20)]) {
    assert.is(execFileSync('sh', ['-c', `printf %s ${shellQuote(word)}`], { encoding: 'utf8' }), word);
  }
});

test('the address of a cone', () => {
  assert.is(
    coneUrl('https://sky.example', { ra: 150.25, dec: -2, radiusArcsec: 0.5 }),
    'https://sky.example/api/cone?ra=150.25&dec=-2&radius_arcsec=0.5&detail=full&page_size=100',
  );
});

test.run();
