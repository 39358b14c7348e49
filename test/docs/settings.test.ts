/** Settings that no other test gives a value: each has the effect that docs/settings.md names. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { remoteOptions } from '../../src/capabilities/catalogs/remote_options.ts';
import { kafkaOptions } from '../../src/capabilities/consume/feeds.ts';
import { SETTINGS as ALL_SETTINGS } from '../../src/capabilities.ts';
import { formatTime } from '../../src/core/base/times.ts';
import { logSettings } from '../../src/core/cluster/kafka_log.ts';
import { ENVIRONMENT_ONLY } from '../../src/core/config/config.ts';
import { BROKER_NAMES } from '../../src/core/contract/brokers.ts';
import { maxOpenFiles, serverLimits } from '../../src/core/server/server_limits.ts';
import {
  type Answer,
  configOf,
  crossmatched,
  delivery,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  type Settings,
  searched,
  startApp,
  type World,
} from '../core/http/support.ts';
import { root } from '../directory.ts';
import { needs } from '../needs.ts';
import { describesMore } from '../removed.ts';

const test = suite<{ running: Running }>('docs/settings');

const SETTINGS: Settings = {
  RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE: '1',
  RECENT_CROSSMATCH_MAX_PAGE_SIZE: '2',
  RECENT_CROSSMATCH_MAX_WINDOW_HOURS: '13',
  TNS_MATCH_RADIUS_ARCSEC: '3',
  TNS_OBJECT_URL_TEMPLATE: 'https://tns.example/{name}/of-the-registry',
};

async function fill(world: World): Promise<void> {
  await world.writer.ingest(
    [1n, 2n, 3n].map(id => delivery(id)),
    NOW_US,
  );
  for (const id of [1n, 2n, 3n]) await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', '9')]);
  await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc', dec: 2 + 2 / 3600 }]);
}

test.before(async context => {
  context.running = await startApp(fill, SETTINGS);
});

test.after(({ running }) => running.close());

const at = (hours: number) => encodeURIComponent(formatTime(NOW_US + hours * 3_600_000_000));
const recent = (hours: number) => `/api/recent-crossmatches?start=${at(-1)}&end=${at(hours - 1)}`;

/** The settings of each line, a request, and what its answer must hold. */
const EFFECTS: readonly (readonly [settings: string, path: string, holds: (answer: Answer) => void])[] = [
  ['RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE', recent(2), ({ body }) => assert.is(body.objects.length, 1)],
  ['RECENT_CROSSMATCH_MAX_PAGE_SIZE', `${recent(2)}&page_size=3`, ({ body }) => assert.is(body.objects.length, 2)],
  ['RECENT_CROSSMATCH_MAX_WINDOW_HOURS', recent(13), ({ status }) => assert.is(status, 200)],
  ['RECENT_CROSSMATCH_MAX_WINDOW_HOURS', recent(13.1), ({ status }) => assert.is(status, 400)],
  [
    'TNS_OBJECT_URL_TEMPLATE',
    '/api/tns/2026abc',
    ({ text }) => assert.match(text, 'tns.example/2026abc/of-the-registry'),
  ],
  [
    'TNS_MATCH_RADIUS_ARCSEC',
    '/api/tns/2026abc?response=count',
    ({ text }) => assert.match(text, '"objects_found": 1'),
  ],
];

for (const [i, [setting, path, holds]] of EFFECTS.entries())
  test(`${setting}, ${i + 1}`, async ({ running }) => holds(await running.app.get(path)));

test('what may be read of remote catalogs and kept of them', () => {
  const { cache, ...limits } = remoteOptions(
    configOf('/d', {
      CATALOG_CACHE_MAX_BYTES: '5',
      CATALOG_PRIVATE_REDIRECTS: 'yes',
    }),
  );
  assert.equal(cache, { directory: '/d/catalog-cache', maxBytes: 5, leavesBytes: 0 });
  // A message names the setting.
  assert.equal(limits.names, { privateRedirects: 'CATALOG_PRIVATE_REDIRECTS to yes' });
  assert.is(limits.userAgent, 'nearsky');
  assert.is(limits.privateRedirects, true);
  assert.is(remoteOptions(configOf('/d', { CATALOG_CACHE_MAX_BYTES: '0' })).cache, undefined);
});

test('how messages are consumed', () => {
  const config = configOf('/d', {
    LASAIR_KAFKA_SERVERS: 'h:1,i:2',
    LASAIR_TOPICS: 't,u',
    LASAIR_GROUP_ID: 'g',
    KAFKA_SESSION_TIMEOUT_SECONDS: '3',
    KAFKA_GROUP_INSTANCE_ID: 'observatory-1',
    CONSUME_BATCH_MESSAGES: '4',
    CONSUME_BATCH_SECONDS: '6',
  });
  const { log: _, ...options } = kafkaOptions('lasair', config, () => {});
  assert.equal(options, {
    servers: ['h:1', 'i:2'],
    topics: ['t', 'u'],
    groupId: 'g',
    sessionTimeoutSeconds: 3,
    groupInstanceId: 'observatory-1',
    limits: { messages: 4, bytes: 16 * 2 ** 20, seconds: 6 },
  });
});

test('where the log of the nodes is; its credentials come from the environment', () => {
  const config = configOf('/d', {
    NEARSKY_LOG: 'kafka://h:1,i:2/t',
    NEARSKY_LOG_TLS: 'no',
    NEARSKY_LOG_SASL_MECHANISM: 'PLAIN',
  });
  const settings = logSettings(config, { NEARSKY_LOG_USERNAME: 'u', NEARSKY_LOG_PASSWORD: 'p' })!;
  assert.equal([settings.servers, settings.topic, settings.tls], [['h:1', 'i:2'], 't', false]);
  assert.equal(settings.sasl, { mechanism: 'PLAIN', username: 'u', password: 'p' });
  assert.is(logSettings(config, {})!.sasl, undefined);
});

test('connections are those of the setting, or of the files that may be open, shared by the threads', () => {
  assert.equal([serverLimits(40, 5, 1).maxConnections, serverLimits(40, 5, 4).maxConnections], [40, 10]);
  const files = maxOpenFiles();
  if (files !== undefined) assert.is(serverLimits(1e9, 5, 1).maxConnections, Math.max(64, files - 256));
});

/** Files that name settings and do not show their effects. */
const NAMES_ONLY = [
  'docs/statements.test.ts',
  'commands/config.test.ts',
  'e2e/config.system.test.ts',
  'e2e/secrets.system.test.ts',
];

/** A setting that every broker has needs a test of one broker only. */
const ofAnyBroker = (name: string) => name.replace(new RegExp(`^(${BROKER_NAMES.join('|')})_`, 'i'), 'BROKER_');

// The effects of some are tested by capabilities that answer what depends on them.
needs(test, describesMore)('a test names every setting and variable', () => {
  const folder = join(root, 'test');
  const files = globSync('**/*.ts', { cwd: folder }).filter(file => !file.includes('node_modules'));
  const tests = files.filter(file => !NAMES_ONLY.includes(file)).map(file => readFileSync(join(folder, file), 'utf8'));
  const named = new Set(tests.flatMap(text => text.match(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g) ?? []).map(ofAnyBroker));
  assert.equal(
    [...Object.keys(ALL_SETTINGS.settings), ...Object.keys(ENVIRONMENT_ONLY)].filter(
      name => !named.has(ofAnyBroker(name)),
    ),
    [],
  );
});

test.run();
