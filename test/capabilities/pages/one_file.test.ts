/** A catalog and a broker need one file each: both are added to a copy of the program, which must then know them. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BROKER_NAMES } from '../../../src/core/contract/brokers.ts';
import type { Json } from '../../core/http/support.ts';
import { runtimeArgs } from '../../runtime.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const test = suite<{ copy: string; found: Json }>('contract/one file');

/** The parts of the checkout that the program and the probe load. */
const PARTS = ['src', 'index', 'packages', 'workers', 'clients', 'docs', 'package.json', 'deno.json', 'tsconfig.json'];

/** Adds a definition, and its line, to a list of definitions. */
function add(copy: string, kind: 'catalogs' | 'brokers', file: string, name: string): void {
  const path = join(copy, `src/core/contract/${kind}/${file}`);
  cpSync(join(root, `test/capabilities/pages/one_file/${file}`), path);
  writeFileSync(path, readFileSync(path, 'utf8').replace('../../../src/core/contract/broker.ts', '../broker.ts'));
  const list = join(copy, `src/core/contract/${kind}.ts`);
  const [what, how] = kind === 'catalogs' ? [name, " with { type: 'json' }"] : [`{ ${name} }`, ''];
  const text = readFileSync(list, 'utf8')
    .replace(/^import /m, `import ${what} from './${kind}/${file}'${how};\nimport `)
    .replace(/^(const ALL = \[[^\]]*?),?(\s*\] as const;)/m, `$1, ${name}$2`);
  assert.match(text, new RegExp(`ALL = \\[[^\\]]*${name}`));
  writeFileSync(list, text);
}

test.before(async context => {
  const copy = mkdtempSync(join(tmpdir(), 'nearsky-one-file-'));
  context.copy = copy;
  for (const part of PARTS) cpSync(join(root, part), join(copy, part), { recursive: true });
  const isCode = (path: string) => !/[\\/]test[\\/](fixtures|fuzz|node_modules)\b/.test(path);
  cpSync(join(root, 'test'), join(copy, 'test'), { recursive: true, filter: isCode });
  // Deno's symlinkSync wants the right to read and write everywhere.
  execFileSync('ln', ['-s', join(root, 'node_modules'), join(copy, 'node_modules')]);
  add(copy, 'catalogs', 'euclid_q1.json', 'EUCLID_Q1');
  add(copy, 'brokers', 'fink.ts', 'FINK');
  const script = join(copy, 'test/capabilities/pages/one_file/probe.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [...runtimeArgs, script, 'euclid_q1', 'fink'], {
    cwd: copy,
    maxBuffer: 2 ** 24,
  });
  context.found = JSON.parse(stdout.trim().split('\n').at(-1)!);
});

test.after(({ copy }) => rmSync(copy, { recursive: true, force: true }));

test('a fifth catalog: OpenAPI, describe, filters and tables', ({ found }) => {
  for (const bound of ['min', 'max']) assert.ok(found.parameters.includes(`euclid_q1.point_like_${bound}`));
  const described = found.describedCatalogs.at(-1);
  assert.is(described.name, 'euclid_q1');
  assert.match(described.catalog_source_id.description, /The OBJECT_ID of Euclid Q1/);
  assert.equal(described.filterable_fields[0].parameters, ['euclid_q1.point_like_min', 'euclid_q1.point_like_max']);
  assert.equal(found.qualifies, [true, false]);
  assert.is(found.match.catalog_name, 'euclid_q1');
  assert.is(found.match.catalog_payload.mag_vis, 21.25);
  assert.match(found.votable, /name="mag_vis"[^>]*unit="mag"/);
  assert.match(found.votable, /name="n_euclid_q1"|name="object_id"/);
  assert.match(
    found.csv,
    /,euclid_q1_ra,euclid_q1_dec,euclid_q1_right_ascension,euclid_q1_declination,euclid_q1_mag_vis,/,
  );
});

test('a fifth catalog: pages, documents and the connector', ({ found }) => {
  assert.match(found.catalogsPage, /<h2 id="euclid_q1">.*Euclid Q1/);
  assert.match(found.catalogsPage, /Euclid Collaboration 2025/);
  assert.match(found.style, /\.euclid_q1 \{\s*--catalog: light-dark\(#444444, #cccccc\)/);
  assert.match(found.llms, /`euclid_q1` \(Euclid Q1\)/);
  assert.match(found.llms, /those of euclid_q1 are at the epoch in `none_stored`, which is J2024\.5/);
  assert.equal(
    found.lines.map(({ label, parts }: Json) => [label, ...parts]),
    [
      ['Magnitudes', 'VIS 21.250 ± 0.020'],
      ['Point', 'star (point_like 0.95)'],
    ],
  );
  assert.equal(found.connector.coincident_sources[0].nearest[0].values, { mag_vis: 21.25 });
});

test('a fourth broker: normaliser, feed, settings, provenance, pages and links', ({ found }) => {
  assert.equal(found.normalised, {
    diaObjectId: 'read',
    position: { ra: 10, dec: -5 },
    reliability: 0.9,
    eventTimeUs: 1_763_683_163_000_000,
    broker: 'fink',
  });
  assert.ok(found.isFed);
  for (const suffix of [
    'KAFKA_SERVERS',
    'TOPICS',
    'GROUP_ID',
    'DECLARED_MIN_RELIABILITY',
    'DECLARED_MIN_RELIABILITY_AS_OF',
    'OBJECT_URL_TEMPLATE',
  ])
    assert.ok(found.settings.includes(`FINK_${suffix}`), suffix);
  assert.equal(
    found.cuts.map(({ broker }: Json) => broker),
    [...BROKER_NAMES, 'fink'].sort(),
  );
  assert.equal(found.brokers, ['fink']);
  assert.match(found.brokersPage, /href="https:\/\/fink-broker\.org\/"/);
  assert.is(found.connector.links.fink, 'https://lsst.fink-portal.org/313637935709683761');
});

test.run();
