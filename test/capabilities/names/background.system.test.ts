/** The registry is kept up to date in the background while the service runs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BackgroundRefresh } from '../../../src/capabilities/names/background_refresh.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { countRegistry, findByName, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withStore } from '../../core/store/support.ts';
import { eventually, get, start, startServer, withDirectory } from '../../e2e/support.ts';
import { BOT, FakeTns } from './fake_tns.ts';
import { someRecords } from './support.ts';

const test = suite('tns/background');
const MINUTE_MS = 60_000;
const objects = someRecords(50);

const at = (time: string) => Date.parse(`2026-02-10T${time}Z`);
const hourLine = (hour: string) => `2026-02-10 ${hour}:00 - ${hour}:59`;

const variables = (tns: FakeTns) => ({
  TNS_OBJECTS_BASE_URL: tns.baseUrl,
  TNS_BOT_ID: String(BOT.id),
  TNS_BOT_NAME: BOT.name,
  TNS_BOT_API_KEY: BOT.apiKey,
});

async function withTns(use: (tns: FakeTns) => Promise<void>): Promise<void> {
  const tns = await FakeTns.start();
  try {
    await use(tns);
  } finally {
    await tns.close();
  }
}

/** Long enough for a check of the clock. */
const look = () => new Promise(resolve => setTimeout(resolve, 1200));

test('at once, then some minutes after each hour; what fails is tried again, later and later', () =>
  withTns(tns =>
    withStore(async (store, writer, directory) => {
      tns.put('', '2026-02-10 00:00:00', objects);
      tns.put('00', hourLine('00'), []);
      let nowMs = at('01:30:00');
      const events: (readonly [event: string, fields: Record<string, unknown>])[] = [];
      const config = loadConfig({ environment: { ...variables(tns), NEARSKY_DATA: directory } });
      const log = (event: string, fields = {}) => events.push([event, fields]);
      const background = new BackgroundRefresh({
        store,
        writer: new Writer(store),
        config,
        bot: BOT,
        log,
        clock: () => nowMs,
      });
      const happened = (count: number) =>
        eventually(`${count} events`, async () => (events.length >= count ? events.at(-1)! : undefined));
      try {
        const [event, { epoch, objects: count }] = await happened(1);
        assert.equal([event, epoch, count], ['tns_refreshed', '2026-02-10T01:00:00+00:00', 50]);
        assert.is(countRegistry(store.databases), 50);
        const asked = tns.requests.length;
        nowMs = at('02:09:59');
        await look();
        assert.is(tns.requests.length, asked, 'the hour is over, and its file may not be there yet');
        nowMs = at('02:20:00');
        assert.equal([(await happened(2))[1].hours, readRegistryEpochUs(store.databases)], [0, 1000 * at('01:00:00')]);
        tns.put('01', hourLine('01'), [{ ...objects[0]!, name: '2026new' }]);
        nowMs += 10 * MINUTE_MS - 1;
        await look();
        assert.is(events.length, 2, 'not soon again');
        tns.trouble('01', { status: 401 });
        nowMs += 10 * MINUTE_MS;
        const [failed, { error, next_attempt_in_s }] = await happened(3);
        assert.is(failed, 'tns_refresh_failed');
        assert.match(String(error), /check TNS_BOT_ID/);
        assert.ok((next_attempt_in_s as number) >= 20 * 60, `${next_attempt_in_s}`);
        assert.is(readRegistryEpochUs(store.databases), 1000 * at('01:00:00'));
        tns.put('02', hourLine('02'), []);
        nowMs += 40 * MINUTE_MS;
        assert.equal(
          [(await happened(4))[0], readRegistryEpochUs(store.databases)],
          ['tns_refreshed', 1000 * at('03:00:00')],
        );
        assert.is(findByName(store.databases, '2026new')?.objid, objects[0]!.objid);
        const claim = await writer.claimExclusively('refresh the TNS registry');
        await look();
        nowMs = at('04:20:00');
        assert.match(String((await happened(5))[1].error), /another process is already refreshing/);
        await writer.dropClaim(claim!);
        assert.not.match(JSON.stringify(events), BOT.apiKey);
        assert.is(tns.mostAtOnce, 1);
      } finally {
        await background.close();
      }
    }),
  ));

test('closing breaks off what is under way, and leaves the registry as it was', () =>
  withTns(tns =>
    withStore(async (store, _writer, directory) => {
      tns.put('', '2026-02-10 00:00:00', objects);
      tns.trouble('', { status: 429, headers: { 'retry-after': '600' } });
      const config = loadConfig({ environment: { ...variables(tns), NEARSKY_DATA: directory } });
      const waits: string[] = [];
      const log = (event: string) => waits.push(event);
      const background = new BackgroundRefresh({
        store,
        writer: new Writer(store),
        config,
        bot: BOT,
        log,
        clock: () => at('01:30:00'),
      });
      await eventually('it waits', async () => waits.length > 0 || undefined);
      await background.close();
      assert.equal(waits, ['tns_refresh_waits']);
      assert.is(readRegistryEpochUs(store.databases), null);
      assert.is(store.databases.claims.getKeysCount(), 0);
    }),
  ));

test('serve resolves names by a registry that it has fetched itself, where it has a bot', () =>
  withTns(tns =>
    withDirectory(async directory => {
      const midnightMs = Date.now() - (Date.now() % 86_400_000);
      tns.put('', new Date(midnightMs).toISOString().slice(0, 19).replace('T', ' '), objects);
      const settings = { ...variables(tns), TNS_SNAPSHOT_MAX_AGE_SECONDS: '86400' };
      const args = ['serve', '--data', directory, '--port', '0', '--workers', '1'];
      const without = await startServer([...args, '--no-refresh'], settings);
      await look();
      assert.is((await without.stop()).code, 0);
      assert.equal(tns.requests, []);
      const server = await startServer(args, settings);
      const { results } = await eventually('the name is resolved', async () => {
        const answer = await get(`${server.url}/api/tns/${objects[3]!.name}`);
        return answer.results[0].status === 'resolver_unavailable' ? undefined : answer;
      });
      assert.is(results[0].tns.name, objects[3]!.name);
      const { code, stderr } = await server.stop();
      assert.is(code, 0);
      assert.match(stderr, /"event":"tns_refreshed"/);
      const partly = await start(args, { TNS_BOT_ID: '1', TNS_BOT_NAME: 'a bot' }).finished;
      assert.is(partly.code, 2);
      assert.match(partly.stderr, /TNS_BOT_API_KEY must be set/);
    }),
  ));

test.run();
