import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RejectLog, rejectOf } from '../../../src/capabilities/ingest/rejects.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('ingest/rejects');

function logs(data: string, maxFileBytes: number, maxFiles: number, name: 'lasair' | 'antares' = 'lasair') {
  const options = new Map([
    ['NEARSKY_DATA', data],
    ['REJECTS_MAX_FILES', `${maxFiles}`],
  ] as const);
  return new RejectLog(loadConfig({ options }), name, maxFileBytes);
}

const today = () => new Date().toISOString().slice(0, 10);
const reject = (line: number) => rejectOf({ file: 'f', line }, 'because', 'x'.repeat(100));
const linesIn = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).line as number);

test('a file that is full is followed by the next, and of too many the oldest go', () =>
  withDirectory(async data => {
    const directory = join(data, 'rejected');
    const log = logs(data, 300, 3);
    assert.is(log.path, null);
    log.write([reject(1), reject(2)]);
    writeFileSync(join(directory, 'lasair-2020-01-01.ndjson'), 'old\n');
    writeFileSync(join(directory, 'antares-2020-01-01.ndjson'), 'of another\n');
    writeFileSync(join(directory, 'lasair-notes.txt'), 'no log\n');
    for (let line = 3; line <= 26; line += 2) log.write([reject(line), reject(line + 1)]);
    log.close();
    const names = [11, 12, 13].map(number => `lasair-${today()}.${number}.ndjson`);
    assert.equal(
      readdirSync(directory).sort(),
      ['antares-2020-01-01.ndjson', ...names, 'lasair-notes.txt'].sort(),
      'the last three, and the files of others',
    );
    assert.equal(
      names.map(name => linesIn(join(directory, name))),
      [
        [21, 22],
        [23, 24],
        [25, 26],
      ],
    );
    assert.is(log.path, join(directory, names[2]!));
    assert.is(statSync(log.path!).mode & 0o777, 0o600);
  }));

test('what is not full is written on, by several at once and after a restart', () =>
  withDirectory(async data => {
    const [a, b] = [logs(data, 10_000, 2), logs(data, 10_000, 2)];
    a.write([reject(1)]);
    b.write([reject(2)]);
    a.add(reject(3));
    a.flush();
    a.flush();
    assert.equal(linesIn(a.path!), [1, 2, 3]);
    assert.is(a.path, b.path);
    assert.is(a.path, join(data, 'rejected', `lasair-${today()}.ndjson`));
    rmSync(a.path!);
    a.write([reject(4)]);
    b.write([reject(5)]);
    assert.equal(linesIn(a.path!), [4, 5], 'a file that another has removed is made anew');
    a.close();
    b.close();
    const c = logs(data, 10_000, 2);
    c.write([reject(6)]);
    c.close();
    assert.equal(linesIn(c.path!), [4, 5, 6]);
  }));

test('of a message its beginning is kept: text as text, anything else in base64', () => {
  const origin = { topic: 't', partition: 0, offset: '18446744073709551615' };
  assert.equal(rejectOf(origin, 'why', 'é'.repeat(5000)), { ...origin, reason: 'why', message: 'é'.repeat(4096) });
  assert.equal(rejectOf(origin, 'why', Buffer.from('é{')), { ...origin, reason: 'why', message: 'é{' });
  const bytes = Buffer.alloc(4000, 0xff);
  const kept = bytes.subarray(0, 3072).toString('base64');
  assert.equal(rejectOf(origin, 'why', bytes), { ...origin, reason: 'why', message_base64: kept });
});

test.run();
