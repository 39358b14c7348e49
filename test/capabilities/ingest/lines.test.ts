import { appendFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ByteStream,
  type Line,
  type LineBlock,
  LineCutter,
  MAX_LINE_BYTES,
  openByteStream,
  readBlocks,
  splitLines,
} from '../../../src/capabilities/ingest/lines.ts';
import { failure } from '../../core/store/support.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { needs, OPEN_FILES, openFilesObstacle } from '../../needs.ts';

const test = suite('ingest/lines');

/** The lines of a block; each begins where it says. */
function linesIn(block: LineBlock, maxLineBytes: number): Line[] {
  return [...splitLines(block, maxLineBytes)].map(({ start, ...line }) => {
    const beginning = Buffer.from(block.bytes.subarray(start, start + Buffer.byteLength(line.text))).toString();
    assert.ok(beginning.startsWith(line.text) || line.number === 1 || line.problem);
    return line;
  });
}

async function* readLines(stream: ByteStream, file: string): AsyncGenerator<Line[]> {
  for await (const block of readBlocks(stream, file)) yield linesIn(block, MAX_LINE_BYTES);
}

/** The lines of these chunks, block by block. */
function linesOf(chunks: readonly Buffer[], maxLineBytes: number): Line[] {
  const cutter = new LineCutter(maxLineBytes);
  const blocks = [...chunks.flatMap(chunk => cutter.cut(chunk)), ...cutter.end()];
  return blocks.flatMap(block => linesIn(block, maxLineBytes));
}

async function readAll(file: string): Promise<string[]> {
  const lines = [];
  for await (const block of readLines(openByteStream(file), file)) {
    assert.ok(block.length <= 1000);
    lines.push(...block);
  }
  assert.equal(
    lines.map(line => line.number),
    lines.map((_, i) => i + 1),
  );
  return lines.map(line => line.text);
}

test('lines are the same however the bytes are cut into chunks', () => {
  const texts = fc.array(
    fc.string({ unit: 'grapheme' }).map(text => text.replaceAll('\n', '')),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(texts, fc.boolean(), fc.array(fc.nat(40)), (lines, ends, cuts) => {
      const bytes = Buffer.from(lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''));
      let start = 0;
      const chunks = cuts.map(cut => bytes.subarray(start, (start += cut)));
      const found = linesOf([...chunks, bytes.subarray(start)], 1000);
      const expected = ends || lines.at(-1) !== '' ? lines : lines.slice(0, -1);
      assert.equal(
        found,
        expected.map((text, i) => ({ number: i + 1, text })),
      );
    }),
  );
});

test('a line over the limit is a problem of its own, and no other', () => {
  for (const cut of [1, 3, 7, 100]) {
    const bytes = Buffer.from('12345\n123456\n\nab\n1234567890');
    const count = Math.ceil(bytes.length / cut);
    const chunks = Array.from({ length: count }, (_, i) => bytes.subarray(i * cut, (i + 1) * cut));
    assert.equal(linesOf(chunks, 5), [
      { number: 1, text: '12345' },
      { number: 2, text: '12345', problem: 'longer than 5 bytes (6 bytes)' },
      { number: 3, text: '' },
      { number: 4, text: 'ab' },
      { number: 5, text: '12345', problem: 'longer than 5 bytes (10 bytes)' },
    ]);
  }
});

test('a line that is not UTF-8 is a problem', () => {
  const found = linesOf([Buffer.from([0x61, 0xff, 0x0a, 0x62, 0x0a, 0xc3, 0x0a])], 100);
  assert.equal(
    found.map(line => line.problem),
    ['not UTF-8', undefined, 'not UTF-8'],
  );
});

test('a byte order mark at the beginning is no part of the first line; elsewhere it is text', () => {
  const found = linesOf([Buffer.from('\uFEFFa\r\n\uFEFFb\n')], 100);
  assert.equal(
    found.map(line => line.text),
    ['a\r', '\uFEFFb'],
  );
});

test('plain and gzipped files give the same, by name or by content, in several members too', () =>
  withDirectory(async directory => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `{"line": ${i}, "x": "é"}`);
    const text = lines.join('\n');
    const write = (name: string, data: string | Uint8Array) => {
      writeFileSync(join(directory, name), data);
      return join(directory, name);
    };
    assert.equal(await readAll(write('plain', text)), lines);
    assert.equal(await readAll(write('messages.gz', gzipSync(text))), lines);
    assert.equal(await readAll(write('unnamed', gzipSync(`${text}\n`))), lines);
    const members = write('members', gzipSync(text.slice(0, 1000)));
    appendFileSync(members, gzipSync(text.slice(1000)));
    assert.equal(await readAll(members), lines);
    assert.equal(await readAll(write('empty', '')), []);
  }));

test('a file that cannot be read to its end says so, after the lines before', () =>
  withDirectory(async directory => {
    const file = join(directory, 'cut.gz');
    const random = Array.from({ length: 40_000 }, () => Math.random());
    writeFileSync(file, gzipSync(random.join('\n')).subarray(0, 300_000));
    let read = 0;
    const error = await failure(async () => {
      for await (const block of readLines(openByteStream(file), file)) read += block.length;
    });
    assert.match(error.message, /cut\.gz because unexpected end of file/);
    assert.ok(read > 1000);
    writeFileSync(file, 'no gzip');
    assert.match((await failure(() => readAll(file))).message, 'incorrect header check');
    assert.match((await failure(() => readAll(join(directory, 'missing')))).message, 'ENOENT');
    assert.match((await failure(() => readAll(directory))).message, 'EISDIR');
  }));

needs(test, openFilesObstacle())('a file that is given up is closed, whenever that is', () =>
  withDirectory(async directory => {
    const file = join(directory, 'lines');
    writeFileSync(file, 'a line\n'.repeat(2 ** 20));
    const isOpen = () => readdirSync(OPEN_FILES).some(name => linkOf(name) === file);
    const given: ((stream: ByteStream) => Promise<unknown>)[] = [
      async () => {},
      async stream => stream[Symbol.asyncIterator]().next(),
      async stream => {
        void stream[Symbol.asyncIterator]().next();
      },
      async stream => {
        for await (const _ of stream);
      },
      async stream => {
        for await (const _ of stream) break;
      },
    ];
    for (const use of given) {
      const stream = openByteStream(file);
      await use(stream);
      stream.destroy();
      stream.destroy();
      await eventually('the file is closed', async () => !isOpen() || undefined);
    }
    openByteStream(join(directory, 'missing')).destroy();
  }),
);

function linkOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(join(OPEN_FILES, descriptor));
  } catch {
    return undefined;
  }
}

test.run();
