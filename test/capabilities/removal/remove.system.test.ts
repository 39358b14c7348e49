/** `nearsky remove`: what it would do, what it does, killed at any moment, and undone by an import. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkDirectory } from '../../../src/capabilities/status/check.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, provenance, result } from '../../core/store/support.ts';
import { eventually, nearsky, send, start, startServer, withDirectory } from '../../e2e/support.ts';

const test = suite('commands/remove');
const SOURCE = { ra: 1, dec: 2, payload: { mag: 18 } };

async function withData<T>(data: string, use: (store: Store, writer: Writer) => Promise<T>): Promise<T> {
  const store = openStore(data, 'write');
  try {
    return await use(store, new Writer(store));
  } finally {
    await store.close();
  }
}

async function fill(writer: Writer, ids: readonly bigint[]): Promise<void> {
  for (const [i, broker] of ['lasair', 'fink'].entries())
    await writer.ingest(
      ids.filter(id => Number(id % 2n) === i).map(id => delivery(id, { broker })),
      1_790_000_000_000_000 + 1_000_000 * i,
    );
  await writer.recordCrossmatches(
    ids.map(id => result(id, id % 5n === 0n ? [SOURCE] : [])),
    provenance,
    1_790_000_002_000_000,
  );
}

async function exported(data: string, file: string): Promise<string> {
  await nearsky('export', file, '--data', data);
  return readFileSync(file, 'utf8');
}

test('killed in the midst and run again, the export is that of a service which never had them; an import restores them', () =>
  withDirectory(async directory => {
    const [data, never] = [join(directory, 'data'), join(directory, 'never')];
    const ids = Array.from({ length: 20_000 }, (_, i) => BigInt(i + 1));
    const wrong = ids.filter(id => id % 4n === 1n);
    await withData(data, (_, writer) => fill(writer, ids));
    await withData(never, (_, writer) =>
      fill(
        writer,
        ids.filter(id => id % 4n !== 1n),
      ),
    );
    const before = await exported(data, join(directory, 'before.ndjson'));
    const file = join(directory, 'wrong.txt');
    writeFileSync(file, `${wrong.join('\n')}\n\n77777\n`);
    const selection = ['remove', '--ids', file, '--data', data];

    const would = await nearsky(...selection);
    assert.equal([would.objects, would.not_stored, would.removed], [5000, 1, 0]);
    assert.equal(would.by_broker, { fink: 5000 });
    assert.equal(would.by_status, { no_coincident_source: 4000, coincident_sources: 1000 });
    const { stdout } = await start(selection).finished;
    assert.match(
      stdout,
      /^objects +5000$[\s\S]*^examples +1, no_coincident_source, ingested 2026-09-21[\s\S]*nothing is removed yet/m,
    );
    assert.equal(await exported(data, join(directory, 'same.ndjson')), before);

    const killed = start([...selection, '--yes', '--reason', 'a wrong file']);
    await eventually('some are removed', async () => (await removedIn(data)) > 0 || undefined);
    send(killed.child, 'SIGKILL');
    await killed.finished;
    const [first, second] = await Promise.all(
      [1, 2].map(() => nearsky(...selection, '--yes', '--reason', 'a wrong file')),
    );
    assert.ok(Number(first!.removed) + Number(second!.removed) < 5000);
    assert.equal((await nearsky(...selection)).objects, 0);
    assert.equal((await checkDirectory(data, () => {})).faults, []);
    const after = await exported(data, join(directory, 'after.ndjson'));
    assert.equal(after, await exported(never, join(directory, 'never.ndjson')));
    assert.is((await nearsky('stats', '--data', data)).last_removal !== null, true);

    await nearsky('import', join(directory, 'before.ndjson'), '--data', data);
    assert.equal(await exported(data, join(directory, 'again.ndjson')), before);
    assert.equal((await checkDirectory(data, () => {})).faults, []);
  }));

async function removedIn(data: string): Promise<number> {
  await using store = openStore(data, 'read');
  return 20_000 - readCounts(store.databases).objects;
}

test('by the ingest time, beside a service; objects that are being crossmatched are waited for, until it is stopped', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const ids = Array.from({ length: 10 }, (_, i) => BigInt(i));
    await withData(data, (_, writer) => fill(writer, ids));
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
    try {
      const statusOf = async (id: number) => {
        const answer = (await (await fetch(`${server.url}/api/objects/${id}`)).json()) as {
          results: [{ status: string }];
        };
        return answer.results[0].status;
      };
      assert.is(await statusOf(2), 'no_coincident_source');
      const selection = ['remove', '--first-seen-before', '2026-09-21T14:13:21Z', '--data', data];
      assert.is((await nearsky(...selection)).objects, 5);
      assert.is((await nearsky(...selection, '--yes', '--reason', 'too old')).removed, 5);
      assert.equal([await statusOf(2), await statusOf(3)], ['not_in_service', 'no_coincident_source']);
      const cone = `${server.url}/api/cone?ra=186.66952249928116&dec=-6.714927120071068&radius_arcsec=1`;
      const { results } = (await (await fetch(cone)).json()) as { results: [{ total: number }] };
      assert.is(results[0].total, 5);

      /**
       * Removes two objects while this process crossmatches the first. After the second is removed, it ends that
       * crossmatch, or stops the command.
       */
      const removeBoth = (claimed: number, free: number, isStopped: boolean) =>
        withData(data, async (_, writer) => {
          const file = join(directory, 'some.txt');
          writeFileSync(file, `${claimed}\n${free}\n`);
          const claim = await writer.claim([BigInt(claimed)], true);
          const waiting = start(['remove', '--ids', file, '--data', data, '--yes', '--reason', 'wrong', '--json']);
          let isWaiting = false;
          try {
            await eventually(
              'the other is removed',
              async () => (await statusOf(free)) === 'not_in_service' || undefined,
            );
            assert.is(await statusOf(claimed), 'no_coincident_source');
            isWaiting = true;
          } finally {
            if (isStopped || !isWaiting) send(waiting.child, 'SIGTERM');
            else await writer.dropClaim(claim);
          }
          const { code, stdout } = await waiting.finished;
          return [code, JSON.parse(stdout).removed, await statusOf(claimed)];
        });
      assert.equal(await removeBoth(1, 3, false), [0, 2, 'not_in_service']);
      assert.equal(await removeBoth(7, 9, true), [143, 1, 'no_coincident_source']);
    } finally {
      await server.stop();
    }
  }));

test('what a broker delivered in a window: objects of other brokers lose only that delivery', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await withData(data, async (_, writer) => {
      const from = (broker: string, ...ids: readonly bigint[]) => ids.map(id => delivery(id, { broker }));
      await writer.ingest(from('lasair', 1n, 2n), 1_790_000_000_000_000);
      await writer.ingest(from('fink', 2n, 3n, 4n), 1_790_000_060_000_000);
      await writer.ingest(from('lasair', 4n), 1_790_000_120_000_000);
      await writer.ingest(from('antares', 3n), 1_790_000_120_000_000);
    });
    const brokers = async () => {
      await using store = openStore(data, 'read');
      return Array.from(store.objects(), each => [each.diaObjectId, ...each.brokers]);
    };
    // 2026-09-21T14:13:20Z is the first time.
    const window = ['--from', '2026-09-21T14:14:20Z', '--to', '2026-09-21T14:15:20Z'];
    const selection = ['remove', '--broker', 'fink', ...window, '--data', data];
    const would = await nearsky(...selection);
    assert.equal(would.deliveries, { staying: 3, staying_with_its_values: 2, undated: 0 });
    assert.equal([would.objects, would.removed], [0, 0]);
    const { stdout } = await start([...selection, '--yes', '--reason', 'a test file']).finished;
    assert.match(stdout, /^objects that only lose this delivery +3$/m);
    assert.match(stdout, /^deliveries removed +3$/m);
    assert.equal(await brokers(), [
      [1n, 'lasair'],
      [2n, 'lasair'],
      [3n, 'antares'],
      [4n, 'lasair'],
    ]);
    const lasair = ['remove', '--broker', 'lasair', '--from', '2026-09-21', '--to', '2026-09-21T14:14:00Z'];
    const both = await nearsky(...lasair, '--data', data, '--yes', '--reason', 'a test file');
    assert.equal([both.objects, both.removed, both.deliveries_removed], [2, 2, 0]);
    assert.equal(await brokers(), [
      [3n, 'antares'],
      [4n, 'lasair'],
    ]);
    assert.equal((await checkDirectory(data, () => {})).faults, []);
  }));

test('what is wrong with the command line', () =>
  withDirectory(async directory => {
    const file = join(directory, 'ids');
    const data = join(directory, 'data');
    await withData(data, (_, writer) => fill(writer, [1n]));
    const cases: [args: string[], code: number, message: RegExp][] = [
      [[], 2, /give one of --ids, --broker and --first-seen-before/],
      [['--broker', 'lasair', '--ids', file], 2, /give one of/],
      [['--broker', 'lasair', '--from', '2026-01-01'], 2, /--broker needs --from and --to/],
      [['--ids', file, '--to', '2026-01-01'], 2, /nothing else takes them/],
      [
        ['--broker', 'lasair', '--from', '2026-01-02', '--to', '2026-01-02'],
        2,
        /be before --to \(2026-01-02 and 2026-01-02 were/,
      ],
      [
        ['--broker', 'lassair', '--from', '2026-01-01', '--to', '2027-01-01'],
        2,
        /--broker must be one of antares, lasair, pittgoogle, or .* \(lassair was given\)/,
      ],
      [['--ids', file, '--first-seen-before', '2027-01-01'], 2, /give one of/],
      [['--ids', file, '--yes'], 2, /--yes needs --reason/],
      [['--ids', file, '--reason', 'x'], 2, /--reason needs --yes/],
      [['--ids', file, '--yes', '--reason', 'x'.repeat(201)], 2, /at most 200 characters \(got 201\)/],
      [['--first-seen-before', 'yesterday'], 2, /must be an ISO 8601 time/],
      [['--ids', file, 'x'], 2, /takes no arguments/],
      [['--ids', join(directory, 'missing')], 1, /missing because .*: fix that and run again; nothing was removed$/m],
      [['--ids', file, '--yes', '--reason', 'x'], 1, /line 2 of .* is not a diaObjectId; nothing was removed/],
    ];
    writeFileSync(file, '1\nGaia DR3 4\n');
    for (const [args, code, message] of cases) {
      const finished = await start(['remove', ...args, '--data', data]).finished;
      assert.is(finished.code, code, args.join(' '));
      assert.match(finished.stderr, message);
    }
    assert.is(await withData(data, async store => readCounts(store.databases).objects), 1);
  }));

test.run();
