/** Threads that prepare objects for their commit change nothing about an import except its speed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LineCutter } from '../../../src/capabilities/ingest/lines.ts';
import { LinePreparer } from '../../../src/capabilities/transfer/line_preparer.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { withDirectory } from '../../directory.ts';
import { associationLine, matchLine, objectLine, recordLine } from './lines.ts';
import { anyStored, exportLines, importLines, importWith, readersSee, writeLines } from './support.ts';

const test = suite('prepared objects');
const SAMPLES = Number(process.env.TEST_STORES ?? 40);

/** The pieces that threads make of a file, with the store as it is. */
async function preparedIn(dataDir: string, file: string) {
  const store = openStore(dataDir, 'write');
  const preparer = new LinePreparer(dataDir, 0);
  try {
    const blocks = new LineCutter(2 ** 20).cut(readFileSync(file));
    return (await Promise.all(blocks.map(block => preparer.prepare(block)))).flat();
  } finally {
    await preparer.close();
    await store.close();
  }
}

test('lines that contradict each other, stand apart, or are bad come to the same with threads and without', () =>
  withDirectory(async directory => {
    const stores = fc.sample(anyStored, { numRuns: SAMPLES, seed: 7 });
    // Stores know the same ids otherwise; some objects stand in pieces, and some lines are bad.
    const objects = stores.flatMap(({ objects }, i) => {
      if (i % 5 === 0) return objects.map(lines => lines.toReversed());
      if (i % 7 === 0) return [...objects, ['', '{"type":"object"}', ' ']];
      return i % 11 === 0 ? [...objects, ...objects] : objects;
    });
    const file = writeLines(directory, objects.flat());
    const [threads, alone] = [join(directory, 'threads'), join(directory, 'alone')];
    for (const round of [1, 2]) {
      const imported = await importWith({ inlineBytes: 0 }, threads, [file]);
      assert.equal(imported, await importWith({}, alone, [file]), `round ${round}`);
      assert.ok(imported.rejections.length > SAMPLES / 3);
    }
    assert.is(await readersSee(threads, []), await readersSee(alone, []));
    const pieces = await preparedIn(threads, file);
    assert.ok(pieces.filter(({ prepared }) => prepared).length > (2 / 3) * SAMPLES);
  }));

test('an export is prepared, but for the ends of its blocks; imported again it changes nothing', () =>
  withDirectory(async directory => {
    const ids = Array.from({ length: 1000 }, (_, i) => `${i + 1}`);
    const lines = ids.flatMap(id => [objectLine(id), recordLine(id), matchLine(id), associationLine(id)]);
    await importLines(directory, 'a', lines.slice(0, 4));
    const [file, data] = [writeLines(directory, lines), join(directory, 'a')];
    const pieces = await preparedIn(data, file);
    assert.ok(pieces.filter(({ prepared }) => prepared).length > 980);
    for (const [imported, unchanged] of [
      [999, 1],
      [0, 1000],
    ] as const) {
      const { counts } = await importWith({ inlineBytes: 0 }, data, [file]);
      assert.is(counts.read, lines.length);
      for (const type of ['object', 'crossmatch_record', 'match', 'tns_association'] as const)
        assert.equal(counts.types[type], { imported, unchanged }, type);
      assert.equal((await exportLines(data)).sort(), lines.sort());
    }
  }));

test('the provenance of a record is read wherever it stands, and whatever stands behind it', () =>
  withDirectory(async directory => {
    const record = (fields: Readonly<Record<string, unknown>>) => {
      const { provenance, ...rest } = JSON.parse(recordLine('1', fields));
      return { provenance, rest };
    };
    const lines = [1, 2, 3, 4, 5].map(version => {
      const { provenance, rest } = record({ match_version: version });
      const text = JSON.stringify(provenance);
      const other = JSON.stringify({ ...provenance, crossmatch_radius_arcsec: version });
      const head = JSON.stringify(rest).slice(0, -1);
      if (version === 2) return `${head},"nested":{"a":1,"provenance":${other}},"provenance":${text}}`;
      if (version === 3)
        return `${head.replace('"match_version":3', '"match_version":9')},"provenance":${text},"match_version":3}`;
      if (version === 4) return `{"provenance":${text},${head.slice(1)}}`;
      return `${head},"provenance":${text}}`;
    });
    const swapped = lines.map(line => line.replaceAll('"diaObjectId":"1"', '"diaObjectId":"2"')).toReversed();
    const { rejections } = await importLines(directory, 'a', [objectLine('1'), ...lines, objectLine('2'), ...swapped]);
    assert.equal(rejections, []);
    const exported = (await exportLines(join(directory, 'a'))).map(line => JSON.parse(line));
    const versions = [1, 2, 3, 4, 5].map(version => record({ match_version: version }));
    for (const id of ['1', '2'])
      assert.equal(
        exported.filter(({ type, diaObjectId }) => type === 'crossmatch_record' && diaObjectId === id),
        versions.map(({ rest, provenance }) => ({ ...rest, diaObjectId: id, provenance })),
      );
  }));

test.run();
