/** The lines that an import accepts and refuses; refused lines do not affect the others. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findByName, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { nearsky } from '../../commands/in_process.ts';
import { failure } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';
import { associationLine, matchLine, objectLine, recordLine, registryLine, snapshotLine } from './lines.ts';
import { exportLines, importFiles, importLines, importWith, writeLines } from './support.ts';

const test = suite('importer');

async function reading<T>(dataDir: string, read: (store: Store) => T): Promise<T> {
  const store = openStore(dataDir, 'read');
  try {
    return read(store);
  } finally {
    await store.close();
  }
}

const BAD_LINES: readonly (readonly [line: string, reason: RegExp])[] = [
  ['{"type": "object"', /^not JSON/],
  ['{"type":"object","reliability":NaN}', /^not JSON/],
  ['[1]', /^not a JSON object/],
  ['{"type":"catalog"}', /^type must be one of object, .* \("catalog" was given\)/],
  ['{"diaObjectId":"1"}', /^type must be .* \(nothing was given\)/],
  [objectLine('-1'), /^diaObjectId must be a string with an integer/],
  [objectLine('9223372036854775808'), /^diaObjectId/],
  [objectLine('007'), /^diaObjectId/],
  [objectLine('x', { diaObjectId: 5 }), /^diaObjectId .* \(5 was given\)$/],
  [objectLine('5', { ra: 360.0001 }), /^ra must be a number from 0 to 360, or null \(360.0001 was given\)/],
  [objectLine('5', { dec: '1' }), /^dec/],
  [objectLine('5', { reliability: undefined }), /^reliability must be a number, or null \(nothing was given\)/],
  [objectLine('5', { ingest_time: null }), /^ingest_time must be an ISO-8601 time/],
  [objectLine('5', { event_time: '2026-13-01T00:00:00+00:00' }), /^event_time/],
  [objectLine('5', { event_time: '2400-01-01T00:00:00+00:00' }), /^event_time/],
  [objectLine('5', { state: 'matched' }), /^state must be one of pending, crossmatched/],
  [objectLine('5', { brokers: 'lasair' }), /^brokers must be a list/],
  [objectLine('5', { brokers: [''] }), /^brokers/],
  [objectLine('5', { brokers: ['\ud800'] }), /^brokers/],
  [recordLine('1', { match_version: 1.5 }), /^match_version must be an integer/],
  [recordLine('1', { catalog_outcomes: { gaia_dr3: 'not_recorded' } }), /^gaia_dr3 must be one of searched/],
  [recordLine('1', { catalog_outcomes: { '': 'searched' } }), /^catalog_outcomes must be keyed by catalog names/],
  [recordLine('1', { provenance: null }), /^provenance must be a JSON object/],
  [
    recordLine('1', {
      provenance: {
        crossmatch_radius_arcsec: 1,
        catalogs: [],
        reliability_cuts: [
          { broker: 'lasair', min_reliability: 1.1, enforced_by: 'broker', status: 'declared', as_of: '2026-10-01' },
        ],
      },
    }),
    /^min_reliability must be a number from 0 to 1, or null \(1.1 was given\)/,
  ],
  [
    recordLine('1', { provenance: { crossmatch_radius_arcsec: 1, catalogs: [{}], reliability_cuts: [] } }),
    /^name must/,
  ],
  [matchLine('1', { catalog_source_id: 4611686018427 }), /^catalog_source_id must be a string with a 64-bit integer/],
  [matchLine('1', { catalog_source_id: '9223372036854775808' }), /^catalog_source_id/],
  [matchLine('1', { separation_arcsec: -0.1 }), /^separation_arcsec must be a number of at least 0/],
  [matchLine('1', { catalog_name: 'a b' }), /^catalog_name must be a catalog name/],
  [matchLine('1', { catalog_payload: { ra: [1] } }), /^catalog_payload must have .* "ra" has another value/],
  ['{"type":"match","catalog_payload":1e999}', /^diaObjectId/],
  [matchLine('1').replace('1.5', '1e999'), /^catalog_payload must have finite numbers/],
  [matchLine('1').replace('"parallax"', '"__proto__"'), /^catalog_payload/],
  [matchLine('1', { catalog_payload: { RA: 1, ra: 2 } }), /^catalog_payload must have one value for "ra"/],
  [associationLine('1', { checked: 1 }), /^checked must be true or false/],
  [registryLine(-1, '2026a'), /^objid must be an integer/],
  [registryLine(1, ''), /^name must be a string of 1 to 64/],
  [registryLine(1, '2026a', { ra: null }), /^ra must be a number from 0 to 360 \(null was given\)/],
  ['{"type":"tns_snapshot","epoch":1}', /^epoch must be an ISO-8601 time/],
];

test('a bad line is rejected with its number and reason and kept; the others are imported', () =>
  withDirectory(async directory => {
    const lines = [objectLine('1'), '', ...BAD_LINES.map(([line]) => line), matchLine('1')];
    const { counts, rejections } = await importLines(directory, 'a', lines);
    assert.is(rejections.length, BAD_LINES.length);
    for (const [i, [line, reason]] of BAD_LINES.entries()) {
      assert.match(rejections[i]!.reason, reason, line);
      assert.is(rejections[i]!.line, i + 3);
    }
    assert.equal([counts.read, counts.rejected, counts.blank], [BAD_LINES.length + 2, BAD_LINES.length, 1]);
    assert.equal([counts.types.object.imported, counts.types.match.imported], [1, 1]);
    assert.equal((await exportLines(join(directory, 'a'))).length, 2);
    const rejected = join(directory, 'a', 'rejected');
    const kept = readFileSync(join(rejected, readdirSync(rejected)[0]!), 'utf8')
      .trim()
      .split('\n');
    assert.equal(
      kept.map(text => JSON.parse(text)).map(({ line, message }) => [line, message]),
      BAD_LINES.map(([line], i) => [i + 3, line]),
    );
  }));

test('blank lines and lines with unknown fields are counted, by threads too, and the command tells them', () =>
  withDirectory(async directory => {
    const linesOf = (id: string) => [
      objectLine(id, { colour: 'red' }),
      '',
      recordLine(id),
      recordLine(id, { match_version: 2, remark: null }),
      ' ',
      matchLine(id, { catalog_payload: { RA: 1, ra: 1 } }),
      matchLine(id, { match_version: 2, flux: 1 }),
      associationLine(id, { url: null }),
    ];
    const ids = Array.from({ length: 50 }, (_, i) => `${i + 1}`);
    const plain = ids.flatMap(id => [objectLine(`1${id}000`), '', '']);
    // The object comes last: its lines are early ones, which are read twice.
    const file = writeLines(directory, [...ids.flatMap(linesOf), ...plain, ...linesOf('7000').toReversed(), '']);
    for (const [name, inlineBytes] of [
      ['a', 2 ** 30],
      ['b', 0],
    ] as const) {
      const { counts, rejections } = await importWith({ inlineBytes }, join(directory, name), [file]);
      assert.equal([rejections, counts.blank, counts.withUnreadFields], [[], 2 * 51 + 100 + 1, 4 * 51], name);
    }
    const { blank, with_unread_fields } = await nearsky('import', file, '--data', join(directory, 'c'));
    assert.equal([blank, with_unread_fields], [2 * 51 + 100 + 1, 4 * 51]);
  }));

const CONTRADICTIONS: readonly (readonly [line: string, reason: RegExp])[] = [
  [objectLine('1', { ra: 10.6 }), /^object 1 is already stored with another position/],
  [objectLine('1', { dec: null }), /another position/],
  [objectLine('1', { reliability: null }), /another reliability/],
  [objectLine('1', { ingest_time: '2026-10-07T09:15:00.000002+00:00' }), /another ingest_time/],
  [objectLine('1', { event_time: '2026-10-07T09:00:00.000001+00:00' }), /another event_time/],
  [
    recordLine('1', { crossmatched_at: '2026-10-07T10:00:01.000000+00:00' }),
    /^a different record of version 1 is already stored/,
  ],
  [recordLine('1', { catalog_outcomes: {} }), /^a different record/],
  [recordLine('1').replace('"crossmatch_radius_arcsec":1', '"crossmatch_radius_arcsec":2'), /^a different record/],
  [matchLine('1', { separation_arcsec: 0.26 }), /^the match is already stored with other values/],
  [matchLine('1', { ra: null }), /^the match is already stored/],
  [matchLine('1', { catalog_payload: null }), /^the match is already stored/],
  [matchLine('1', { catalog_payload: { parallax: '1.5', ruwe: null } }), /^the match is already stored/],
  [associationLine('1', { redshift: null }), /^a different registry association is already stored/],
];

test('what contradicts the store is rejected, in the same batch or later, and changes nothing', () =>
  withDirectory(async directory => {
    const lines = [objectLine('1'), recordLine('1'), matchLine('1'), associationLine('1')];
    const all = [...lines, ...CONTRADICTIONS.map(([line]) => line)];
    for (let round = 0; round < 2; round++) {
      const { rejections } = await importLines(directory, 'a', all);
      assert.is(rejections.length, CONTRADICTIONS.length);
      for (const [i, [, reason]] of CONTRADICTIONS.entries()) assert.match(rejections[i]!.reason, reason);
      assert.equal(
        (await exportLines(join(directory, 'a'))).map(line => JSON.parse(line)),
        lines.map(line => JSON.parse(line)),
      );
    }
  }));

test('a later line adds a position error and newer statistics, and an older one does not take them back', () =>
  withDirectory(async directory => {
    const first = { version: 1, source_density: 5, sources_within_radius: 1, second_separation_arcsec: null };
    const withoutError = { ...first, version: 2 };
    const second = { ...withoutError, combined_error_mas: 100, ln_weight_ratio: 0, prior_completeness: 1 };
    const states = [
      [objectLine('1'), recordLine('1'), matchLine('1')],
      [objectLine('1'), recordLine('1'), matchLine('1', { statistics: first })],
      [objectLine('1'), recordLine('1'), matchLine('1', { statistics: withoutError })],
      [objectLine('1', { position_error_mas: 36 }), recordLine('1'), matchLine('1', { statistics: second })],
    ];
    const parsed = (lines: readonly string[]) => lines.map(line => JSON.parse(line));
    const data = join(directory, 'a');
    for (const lines of states) {
      const { counts, rejections } = await importLines(directory, 'a', lines);
      assert.equal([rejections, counts.types.match.imported], [[], 1]);
      assert.equal(parsed(await exportLines(data)), parsed(lines));
    }
    for (const lines of states) {
      const { counts, rejections } = await importLines(directory, 'a', lines);
      assert.equal([rejections, counts.types.object.imported, counts.types.match.imported], [[], 0, 0]);
      assert.equal(parsed(await exportLines(data)), parsed(states.at(-1)!));
    }
    const journal = await reading(data, store => store.journalAfter(0));
    assert.equal(
      journal.map(({ stored, delivered, crossmatched }) => [stored, delivered, crossmatched]),
      [
        [[1n], [], [1n]],
        [[], [1n], []],
        [[], [1n], []],
        [[], [1n], []],
      ],
    );
    const { rejections } = await importLines(directory, 'a', [
      objectLine('1', { position_error_mas: 37 }),
      matchLine('1', { statistics: { ...second, combined_error_mas: 101 } }),
    ]);
    assert.equal(
      rejections.map(({ reason }) => reason),
      ['object 1 is already stored with another position_error_mas', 'the match is already stored with other values'],
    );
    // All in one import, the newest first.
    await importLines(directory, 'b', states.toReversed().flat());
    assert.equal(await exportLines(join(directory, 'b')), await exportLines(data));
  }));

test('a later line of a known object adds its brokers and its crossmatch, and never takes them back', () =>
  withDirectory(async directory => {
    const data = join(directory, 'a');
    await importLines(directory, 'a', [objectLine('1', { state: 'pending', brokers: ['fink'] }), matchLine('1')]);
    const states = () =>
      reading(data, store => [store.pendingIds(9), store.getObject(1n)!.state, store.getObject(1n)!.brokers]);
    assert.equal(await states(), [[1n], 'pending', ['fink']]);
    const { counts } = await importLines(directory, 'a', [
      objectLine('1', { brokers: ['lasair', 'antares', 'lasair'] }),
    ]);
    assert.is(counts.types.object.imported, 1);
    assert.equal(await states(), [[], 'crossmatched', ['antares', 'fink', 'lasair']]);
    const older = await importLines(directory, 'a', [objectLine('1', { state: 'pending', brokers: [] })]);
    assert.equal(older.counts.types.object, { imported: 0, unchanged: 1 });
    assert.equal(await states(), [[], 'crossmatched', ['antares', 'fink', 'lasair']]);
    const journal = await reading(data, store => store.journalAfter(0));
    assert.equal(
      journal.map(({ stored, delivered, crossmatched }) => [stored, delivered, crossmatched]),
      [
        [[1n], [], [1n]],
        [[], [1n], [1n]],
      ],
    );
  }));

test('lines that come before their object wait for it, across files; those whose object never comes are rejected', () =>
  withDirectory(async directory => {
    const many = Array.from({ length: 12_000 }, (_, i) =>
      matchLine('1', { match_version: i % 3, catalog_source_id: `${i % 900}` }),
    );
    const first = writeLines(directory, [...many, matchLine('2'), recordLine('3'), associationLine('1')]);
    const last = writeLines(directory, [objectLine('2'), objectLine('1')]);
    const data = join(directory, 'a');
    const { counts, rejections } = await importFiles(data, first, last);
    assert.equal(
      rejections.map(({ file, line, reason }) => [file, line, reason]),
      [[first, 12_002, 'object 3 is not stored, and this import has no line for it']],
    );
    assert.equal(counts.types.match, { imported: 901, unchanged: 12_000 - 900 });
    assert.is(counts.read, 12_005);
    const object = await reading(data, store => store.getObject(1n)!);
    assert.equal([object.matches.length, object.tns?.name], [900, '2026abc']);
    assert.equal(
      readdirSync(data).filter(name => name.includes('tmp')),
      [],
    );
  }));

test('an object never has more records or matches than a thousand', () =>
  withDirectory(async directory => {
    const lines = [
      objectLine('1'),
      ...Array.from({ length: 1001 }, (_, i) => matchLine('1', { catalog_source_id: `${i}` })),
    ];
    const { rejections } = await importLines(directory, 'a', lines);
    assert.equal(
      rejections.map(({ line, reason }) => [line, reason]),
      [[1002, 'the object has 1000 matches, the maximum']],
    );
  }));

test('every digit of an integer comes back, and the keys of a payload are lowercased', () =>
  withDirectory(async directory => {
    const payload =
      '{"FLAGS":9007199254740993,"Big":18446744073709551615,"low":-9223372036854775808,"huge":1e300,"small":7}';
    const line = matchLine('1', { catalog_payload: 0 }).replace(/0}$/, `${payload}}`);
    const { rejections } = await importLines(directory, 'a', [objectLine('1'), line]);
    assert.equal(rejections, []);
    const sources = await reading(join(directory, 'a'), store => store.getSources(1n));
    assert.equal(sources[0]!.payload, {
      flags: 2n ** 53n + 1n,
      big: 2n ** 64n - 1n,
      low: -(2n ** 63n),
      huge: 1e300,
      small: 7,
    });
    const exported = (await exportLines(join(directory, 'a')))[1]!;
    assert.match(exported, payload.toLowerCase().replace('1e300', '1e+300'));
  }));

test('the longest release that catalog add and replace accept is imported', () =>
  withDirectory(async directory => {
    const release = '🔭'.repeat(300);
    const provenance = { crossmatch_radius_arcsec: 1, catalogs: [{ name: 'gaia_dr3', release }], reliability_cuts: [] };
    const { rejections } = await importLines(directory, 'a', [objectLine('1'), recordLine('1', { provenance })]);
    assert.equal(rejections, []);
    const records = await reading(join(directory, 'a'), store =>
      store.getObject(1n)!.records.map(record => store.releaseIn(record, 'gaia_dr3')),
    );
    assert.equal(records, [release]);
  }));

test('one position that is null makes both null; a time in another offset is the same instant', () =>
  withDirectory(async directory => {
    await importLines(directory, 'a', [
      objectLine('1', { dec: null, ingest_time: '2026-10-07T11:15:00.000001+02:00' }),
    ]);
    const object = await reading(join(directory, 'a'), store => store.getObject(1n)!);
    assert.equal([object.position, object.ingestTimeUs], [null, Date.UTC(2026, 9, 7, 9, 15) * 1000 + 1]);
  }));

test('the registry is replaced as a whole, at the end', () =>
  withDirectory(async directory => {
    const data = join(directory, 'a');
    const seen = () =>
      reading(data, store => [
        readRegistryEpochUs(store.databases),
        findByName(store.databases, '2026a')?.objid,
        findByName(store.databases, '2026b')?.objid,
      ]);
    await importLines(directory, 'a', [registryLine(1, '2026A'), snapshotLine('1970-01-01T00:00:01.000000+00:00')]);
    assert.equal(await seen(), [1_000_000, 1, undefined]);
    const second = [
      snapshotLine('1970-01-01T00:00:02.000000+00:00'),
      registryLine(2, '2026b'),
      registryLine(2, '2026c'),
    ];
    const { rejections } = await importLines(directory, 'a', [
      ...second,
      snapshotLine('1970-01-01T00:00:03.000000+00:00'),
    ]);
    assert.equal(rejections.map(({ line, reason }) => [line, reason]).sort(), [
      [3, 'an earlier tns_object line has the same objid 2'],
      [4, 'an earlier tns_snapshot line has another epoch'],
    ]);
    assert.equal(await seen(), [2_000_000, undefined, 2]);
  }));

test('a registry without its epoch, with a future one, or cut off, does not replace the one that is stored', () =>
  withDirectory(async directory => {
    const data = join(directory, 'a');
    const seen = () =>
      reading(data, store => [
        readRegistryEpochUs(store.databases),
        findByName(store.databases, '2026a')?.objid,
        store.databases.tns_objects.getKeysCount(),
      ]);
    await importLines(directory, 'a', [registryLine(1, '2026a'), snapshotLine('1970-01-01T00:00:01.000000+00:00')]);
    const { counts, rejections } = await importLines(directory, 'a', [
      registryLine(5, '2026a'),
      registryLine(6, '2026b'),
    ]);
    assert.equal(
      rejections.map(({ line, reason }) => [line, reason]),
      [[1, 'no tns_object line is imported, because there is no tns_snapshot line']],
    );
    assert.equal([counts.rejected, counts.types.tns_object.imported], [2, 0]);
    assert.equal(await seen(), [1_000_000, 1, 1]);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const later = await importLines(directory, 'a', [snapshotLine(future), registryLine(5, '2026a')]);
    assert.match(later.rejections[0]!.reason, /^epoch must not be in the future/);
    assert.equal([later.counts.read, later.counts.rejected], [2, 2]);
    assert.equal(await seen(), [1_000_000, 1, 1]);

    const whole = gzipSync(
      [
        snapshotLine(),
        ...Array.from({ length: 5000 }, (_, i) => registryLine(i, `2026x${i * 7919}`)),
        objectLine('1'),
      ].join('\n'),
    );
    const cut = join(directory, 'cut.ndjson.gz');
    writeFileSync(cut, whole.subarray(0, whole.length - 100));
    assert.match((await failure(() => importFiles(data, cut))).message, /^Cannot read .*cut.ndjson.gz because /);
    assert.equal(await seen(), [1_000_000, 1, 1]);
    writeFileSync(cut, whole);
    assert.equal((await importFiles(data, cut)).rejections, []);
    assert.equal(await seen(), [Date.UTC(2026, 9, 7, 8) * 1000, undefined, 5000]);
    assert.is(existsSync(join(data, 'rejected')), true);
  }));

test.run();
