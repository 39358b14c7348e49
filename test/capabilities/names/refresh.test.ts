/** Refreshing the registry from a server that behaves like the TNS. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { markerOf, TnsClient } from '../../../src/capabilities/names/client.ts';
import { RegistryLoader } from '../../../src/capabilities/names/loader.ts';
import { type RefreshSummary, refreshRegistry } from '../../../src/capabilities/names/refresh.ts';
import { RegistryError } from '../../../src/capabilities/names/registry_file.ts';
import { dropLoad, publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import {
  findByName,
  readRegistry,
  readRegistryEpochUs,
  readRegistrySnapshot,
} from '../../../src/core/store/registry.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { nearsky, start } from '../../commands/in_process.ts';
import { failure } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';
import { BOT, FakeTns } from './fake_tns.ts';
import { csvOf, someRecords, zipOf } from './support.ts';

const test = suite('tns/refresh');
const DAY = '2026-02-10';
const at = (time: string, day = DAY) => Date.parse(`${day}T${time}Z`) * 1000;
/** The time line of an hour's file. */
const hourLine = (hour: string, day = DAY) => `${day} ${hour}:00 - ${hour}:59`;

const objects = someRecords(50);
const [first, second, third] = objects as [TnsRecord, TnsRecord, TnsRecord];
const added: TnsRecord = { ...first, objid: 1000, name: '2026new' };
const classified: TnsRecord = { ...second, namePrefix: 'SN', classification: 'SN II', redshift: 0.02 };
const renamed: TnsRecord = { ...third, name: '2026other', ra: 12.5 };
/** `objects`, in which later records replace those with the same objid. */
const changed = (...changes: readonly TnsRecord[]) => {
  const all = new Map([...objects, ...changes].map(record => [record.objid, record]));
  return [...all.values()].sort((a, b) => a.objid - b.objid);
};

class Site {
  readonly tns: FakeTns;
  readonly store: Store;
  readonly writer: Writer;
  readonly waits: number[] = [];
  readonly #dataDir: string;

  constructor(tns: FakeTns, dataDir: string) {
    this.tns = tns;
    this.store = openStore(dataDir, 'write');
    this.writer = new Writer(this.store);
    this.#dataDir = dataDir;
  }

  refresh(nowUs: number, backoffMs = 1): Promise<RefreshSummary> {
    const { store, writer, tns } = this;
    tns.requests.length = 0;
    const rejects = new RejectLog({ ...loadConfig(), NEARSKY_DATA: this.#dataDir }, 'tns');
    const loader = new RegistryLoader({ writer, rejects, onBatch: () => {} });
    const onWait = (_why: string, waitMs: number) => this.waits.push(waitMs);
    const client = new TnsClient({ baseUrl: tns.baseUrl, bot: BOT, backoffMs, onWait });
    return refreshRegistry({ dataDir: this.#dataDir, store, writer, client, loader, nowUs });
  }

  /** Epoch and objects; and nothing of other loads is there. */
  registry() {
    const { store } = this;
    store.resetRead();
    const records = [...readRegistry(store.databases)];
    for (const database of [store.databases.tns_objects, store.databases.tns_names])
      assert.is(database.getKeysCount(), records.length);
    for (const { name, objid } of records) assert.is(findByName(store.databases, name.toLowerCase())?.objid, objid);
    return { epochUs: readRegistryEpochUs(store.databases), records };
  }
}

function withSite(use: (site: Site) => Promise<void>): () => Promise<void> {
  return () =>
    withDirectory(async directory => {
      const tns = await FakeTns.start();
      const site = new Site(tns, directory);
      try {
        await use(site);
        assert.is(tns.mostAtOnce, 1, 'one request at a time');
      } finally {
        await tns.close();
        await site.store.close();
      }
    });
}

test(
  'the whole file of the day and its hours, then only the hours since',
  withSite(async site => {
    const { tns } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    tns.put('00', hourLine('00'), [added]);
    tns.put('01', hourLine('01'), []);
    tns.put('02', hourLine('02'), [classified]);
    tns.put('03', hourLine('03', '2026-02-09'), [renamed]);
    tns.put('04', hourLine('04', '2026-02-09'), [renamed]);
    tns.put('05', hourLine('05', '2026-02-09'), [renamed]);
    const summary = await site.refresh(at('05:10:00'));
    assert.equal(summary, { objects: 50, hours: 3, changes: 2, epochUs: at('03:00:00'), gap: null });
    assert.equal(site.registry(), { epochUs: at('03:00:00'), records: changed(added, classified) });
    const hours = (...names: string[]) => names.map(name => `tns_public_objects_${name}.csv.zip`);
    assert.equal(tns.requests, ['tns_public_objects.csv.zip', ...hours('00', '01', '02', '03', '04')]);

    assert.equal(await site.refresh(at('05:20:00')), {
      objects: null,
      hours: 0,
      changes: 0,
      epochUs: at('03:00:00'),
      gap: null,
    });
    assert.equal(tns.requests, hours('03', '04'));

    tns.put('03', hourLine('03'), [{ ...added, ra: 1 }]);
    tns.put('04', `${DAY} 04:00:00 - 04:59:59`, [renamed]);
    tns.put('05', hourLine('05'), [first]);
    assert.is((await site.refresh(at('05:30:00'))).hours, 2, 'that of an hour that is not over is left');
    assert.equal(tns.requests, hours('03', '04', '05'));
    const records = changed({ ...added, ra: 1 }, classified, renamed);
    assert.equal(site.registry(), { epochUs: at('05:00:00'), records });
    assert.is(findByName(site.store.databases, third.name), undefined);
  }),
);

test(
  'files that bear the hour at which their span ends do as well',
  withSite(async site => {
    const { tns } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    tns.put('00', `2026-02-09 23:00:00 - ${DAY} 00:00:00`, [renamed]);
    tns.put('01', `${DAY} 00:00:00 - 01:00:00`, [added]);
    tns.put('02', `${DAY} 01:00:00 - 02:00:00`, [classified]);
    const summary = await site.refresh(at('02:10:00'));
    assert.equal([summary.hours, summary.epochUs], [2, at('02:00:00')]);
    assert.equal(site.registry().records, changed(added, classified));
  }),
);

test(
  'the next day it asks for the whole file, once there is a newer one',
  withSite(async site => {
    const { tns } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    tns.put('23', hourLine('23', '2026-02-09'), []);
    await site.refresh(at('00:30:00'));
    for (let hour = 0; hour < 24; hour++) tns.put(`${hour}`.padStart(2, '0'), hourLine(`${hour}`.padStart(2, '0')), []);
    const nextDay = '2026-02-11';
    assert.equal((await site.refresh(at('00:05:00', nextDay))).objects, null);
    assert.is(tns.requests[0], 'tns_public_objects.csv.zip');
    assert.is(site.registry().epochUs, at('00:00:00', nextDay), 'all of its hours were applied');
    // The same content under another tag: its first line says that it is not newer.
    tns.put('', `${DAY} 00:00:00`, objects.slice(0, 30));
    assert.equal((await site.refresh(at('00:10:00', nextDay))).objects, null);
    tns.put('', `${nextDay} 00:00:00`, [...objects, added]);
    assert.is((await site.refresh(at('00:20:00', nextDay))).objects, 51);
    assert.equal(site.registry(), { epochUs: at('00:00:00', nextDay), records: changed(added) });
    await site.refresh(at('00:50:00', nextDay));
    assert.not.ok(tns.requests.includes('tns_public_objects.csv.zip'));
  }),
);

test(
  'an hour that is missing holds the epoch where it is',
  withSite(async site => {
    const { tns } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    tns.put('00', hourLine('00'), [added]);
    tns.put('02', hourLine('02'), [classified]);
    const summary = await site.refresh(at('03:10:00'));
    assert.equal([summary.hours, summary.epochUs], [1, at('01:00:00')]);
    assert.match(summary.gap!, 'tns_public_objects_02.csv.zip begins at 2026-02-10T02:00:00');
    assert.equal(site.registry(), { epochUs: at('01:00:00'), records: changed(added) });
  }),
);

test(
  'troubles that pass are waited out, as long as the server says',
  withSite(async site => {
    const { tns } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    tns.put('00', hourLine('00'), [added]);
    const soon = { 'retry-after': '0' };
    tns.trouble('', 'drop', { status: 503 }, 'truncate', { status: 429, headers: soon }, { status: 500 });
    const date = new Date(Date.now() + 1500).toUTCString();
    tns.trouble(
      '00',
      { status: 503, headers: { 'retry-after': date } },
      { status: 429, headers: { 'x-rate-limit-reset': '0' } },
    );
    const summary = await site.refresh(at('01:10:00'), 16);
    assert.equal([summary.objects, summary.hours], [50, 1]);
    assert.is(tns.requests.length, 6 + 3 + 1);
    const [drop, unavailable, truncated, asked, error, until, window] = site.waits;
    assert.ok(drop! >= 8 && drop! <= 16 && unavailable! >= 16 && unavailable! <= 32, `${site.waits}`);
    assert.ok(truncated! >= 32 && truncated! <= 64 && error! >= 128 && error! <= 256, `${site.waits}`);
    assert.equal([asked, window], [0, 0]);
    assert.ok(until! >= 0 && until! <= 1500, `${until}`);
  }),
);

test(
  'any failure leaves data and epoch as they were',
  withSite(async site => {
    const { tns } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    await site.refresh(at('00:30:00'));
    const before = site.registry();
    const next = (time: string) => at(time, '2026-02-11');
    const whole = csvOf('2026-02-11 00:00:00', objects);
    const zipped = (csv: string) => zipOf([{ name: 'a.csv', content: csv }]);
    const six = Array(6);
    const cases: [() => void, RegExp][] = [
      [() => tns.trouble('', ...six.fill({ status: 503 })), /the server answered 503 \(attempt 6\): try again later/],
      [() => tns.trouble('', ...six.fill('drop')), /\(attempt 6\): try again later/],
      [() => tns.trouble('', { status: 429, headers: { 'retry-after': '3600' } }), /try again in 60 minutes/],
      [() => tns.trouble('', { status: 401 }), /answered 401: check TNS_BOT_ID, TNS_BOT_NAME and TNS_BOT_API_KEY/],
      [() => tns.trouble('', { status: 302 }), /answered 302: check TNS_OBJECTS_BASE_URL/],
      [() => tns.remove(''), /there is no tns_public_objects.csv.zip/],
      [
        () =>
          tns.putBytes(
            '',
            zipOf([{ name: 'a.csv', content: whole }], checksum => checksum ^ 1),
          ),
        /checksum/,
      ],
      [() => tns.putBytes('', zipped(whole).subarray(0, 900)), /Cannot read tns_public_objects.csv.zip/],
      [() => tns.putBytes('', zipped(whole.slice(0, -400))), /ends within a quoted string/],
      [() => tns.putBytes('', zipped('<html>')), /it has no column/],
      [() => tns.put('', '2026-02-11 00:00:00', objects.slice(0, 20)), /has only 20 objects, and 50 are known/],
      [() => tns.put('', '2026-02-11 01:31:00', objects), /is in the future, 2026-02-11T01:31:00/],
      [() => tns.putBytes('00', zipped('"2026-02-11 00:00:00"\n')), /not a time span/],
      [() => tns.putBytes('00', Buffer.from('PK\x03\x04')), /Cannot read tns_public_objects_00/],
    ];
    for (const [spoil, reason] of cases) {
      tns.put('', '2026-02-11 00:00:00', [...objects, added]);
      tns.remove('00');
      spoil();
      const error = await failure(() => site.refresh(next('01:30:00')));
      assert.instance(error, RegistryError);
      assert.match(error.message, reason);
      assert.not.match(error.message, /secret/);
      assert.equal(site.registry(), before);
      tns.trouble('');
    }
    tns.remove('00');
    await site.refresh(next('01:30:00'));
    assert.is(site.registry().records.length, 51);
  }),
);

test(
  'where another has loaded a registry meanwhile, it is not overwritten',
  withSite(async site => {
    const { tns, writer, store } = site;
    tns.put('', `${DAY} 00:00:00`, objects);
    await site.refresh(at('00:30:00'));
    const base = readRegistrySnapshot(store.databases)!;
    await writer.commit({ kind: 'change_registry', base, records: [added], epochUs: at('01:00:00') });
    const load = await writer.commit({ kind: 'begin_registry' });
    const behind = await failure(() => publishLoad(writer, load, at('00:30:00'), { base }));
    assert.match(behind.message, /another load has replaced it meanwhile/);
    await dropLoad(writer, load);
    assert.match(
      (await failure(() => writer.commit({ kind: 'change_registry', base, records: [], epochUs: 5 }))).message,
      /another load has replaced it meanwhile/,
    );
    assert.equal(site.registry(), { epochUs: at('01:00:00'), records: changed(added) });
  }),
);

test('the marker', () => {
  assert.is(markerOf({ id: 1, name: 'a', apiKey: '' }), 'tns_marker{"tns_id":1,"type":"bot","name":"a"}');
});

test('the command takes the bot from the environment, and shows its key nowhere', () =>
  withDirectory(async directory => {
    const tns = await FakeTns.start();
    try {
      const epochMs = Date.now() - (Date.now() % 86_400_000);
      const line = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
      tns.put('', line(epochMs), objects);
      const variables = {
        TNS_OBJECTS_BASE_URL: tns.baseUrl,
        TNS_BOT_ID: String(BOT.id),
        TNS_BOT_NAME: BOT.name,
        TNS_BOT_API_KEY: BOT.apiKey,
      };
      const args = ['tns', 'refresh', '--data', directory];
      const { code, stdout, stderr } = await start([...args, '--json'], variables).finished;
      assert.equal([code, stderr], [0, '']);
      assert.equal([JSON.parse(stdout).objects, JSON.parse(stdout).rejected], [50, 0]);
      assert.is((await nearsky('stats', '--data', directory)).objects, 0);
      const wrong = await start(args, {
        ...variables,
        TNS_BOT_API_KEY: 'another secret',
        TNS_OBJECTS_BASE_URL: tns.baseUrl.replace('//', '//me:secret@'),
      }).finished;
      assert.equal([wrong.code, wrong.stdout], [1, '']);
      assert.match(wrong.stderr, /answered 401: check TNS_BOT_ID/);
      assert.not.match(wrong.stderr, /secret/);
      const missing = await start(args, { TNS_BOT_ID: '1' }).finished;
      assert.is(missing.code, 2);
      assert.match(missing.stderr, /TNS_BOT_NAME, TNS_BOT_API_KEY must be set/);
    } finally {
      await tns.close();
    }
  }));

test.run();
