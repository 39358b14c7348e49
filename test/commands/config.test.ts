import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SETTINGS } from '../../src/capabilities.ts';
import {
  ConfigError,
  type ConfigSources,
  loadConfig as coreConfig,
  ENVIRONMENT_ONLY,
  loadConfigWithOrigins,
  ownSettings,
  type SettingName,
  settingTable,
  type Written,
  written,
} from '../../src/core/config/config.ts';
import { integer, read } from '../../src/core/config/values.ts';
import { BROKER_NAMES } from '../../src/core/contract/brokers.ts';
import { currentProvenance, provenanceSetOf } from '../../src/core/store/provenance.ts';
import { root, withDirectory } from '../directory.ts';

const test = suite('config');
const loadConfig = (sources?: ConfigSources) => coreConfig(sources, SETTINGS);
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

test('the defaults are those of the contract (docs/contract.md) [Settings and limits]', () => {
  const config = loadConfig();
  const expected = {
    API_REQUEST_BUDGET_SECONDS: 5,
    API_MAX_IDS: 1000,
    API_MAX_POSITIONS: 200,
    API_MAX_CONE_RADIUS_ARCSEC: 60,
    API_MAX_OBJECTS_PER_POSITION: 100,
    API_MAX_OBJECTS_PER_REQUEST: 2000,
    RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE: 1000,
    RECENT_CROSSMATCH_MAX_PAGE_SIZE: 10_000,
    RECENT_CROSSMATCH_MAX_WINDOW_HOURS: 168,
    CROSSMATCH_RADIUS_ARCSEC: 1,
    TNS_MATCH_RADIUS_ARCSEC: 1,
    TNS_SNAPSHOT_MAX_AGE_SECONDS: 7200,
    TNS_OBJECT_URL_TEMPLATE: 'https://www.wis-tns.org/object/{name}',
    MIN_DIASOURCE_RELIABILITY: 0.6,
    APP_VERSION: version,
    NEARSKY_DATA: './data',
    NEARSKY_HOST: '127.0.0.1',
    NEARSKY_PORT: 8080,
  };
  for (const [name, value] of Object.entries(expected)) assert.is(config[name as SettingName], value, name);
  assert.ok(Object.isFrozen(config));
});

test('an option beats the environment, which beats the file, which beats the default', () =>
  withDirectory(async directory => {
    const file = join(directory, 'config.json');
    writeFileSync(file, '{"API_MAX_IDS": 1, "API_MAX_POSITIONS": 1, "NEARSKY_PORT": 1}');
    const environment = { API_MAX_IDS: '2', NEARSKY_PORT: '2', API_MAX_OBJECTS_PER_POSITION: '' };
    const config = loadConfig({ file, environment, options: new Map([['NEARSKY_PORT', '3']] as const) });
    assert.equal([config.API_MAX_POSITIONS, config.API_MAX_IDS, config.NEARSKY_PORT], [1, 2, 3]);
    assert.is(config.API_MAX_OBJECTS_PER_POSITION, 100, 'an empty environment variable counts as absent');
    const defaults = { API_MAX_IDS: 4, API_MAX_OBJECTS_PER_POSITION: 4, OF_NO_CAPABILITY: 4 };
    const changed = loadConfig({ environment, defaults });
    assert.equal([changed.API_MAX_IDS, changed.API_MAX_OBJECTS_PER_POSITION], [2, 4], 'a command changes defaults');
    assert.not('OF_NO_CAPABILITY' in changed);
  }));

test('an impossible value stops the start, with its name, value and bound', () => {
  const wrong: [string, string, RegExp][] = [
    ['NEARSKY_PORT', '65536', /NEARSKY_PORT must be an integer from 0 to 65535 \("65536" was given/],
    ['NEARSKY_HOST', ' ', /NEARSKY_HOST must be a non-empty string/],
    [
      'LASAIR_KAFKA_SERVERS',
      'a:9092,b:65536',
      /LASAIR_KAFKA_SERVERS must be a comma-separated list.*a server as host:port/,
    ],
    ['ANTARES_KAFKA_SERVERS', 'a:0', /a server as host:port/],
    ['NEARSKY_PORT', '80.5', /an integer from 0 to 65535/],
    ['NEARSKY_WORKERS', '0', /NEARSKY_WORKERS must be an integer from 1 to 256/],
    ['NEARSKY_LOG_REQUESTS', 'true', /NEARSKY_LOG_REQUESTS must be yes or no \("true" was given/],
    ['API_REQUEST_BUDGET_SECONDS', 'soon', /a number from 0.001 to 3600 \("soon" was given/],
    ['API_REQUEST_BUDGET_SECONDS', 'Infinity', /a number from/],
    ['API_MAX_IDS', '0x10', /an integer from/],
    ['CROSSMATCH_RADIUS_ARCSEC', '-1', /a number from/],
    ['MIN_DIASOURCE_RELIABILITY', '1.01', /a number from 0 to 1/],
    ['LASAIR_DECLARED_MIN_RELIABILITY_AS_OF', '2026-02-30', /a date as YYYY-MM-DD/],
    ['LASAIR_OBJECT_URL_TEMPLATE', 'https://lasair/{id}', /an http or https address with \{diaObjectId\} in it/],
  ];
  for (const [name, value, message] of wrong)
    assert.throws(
      () => loadConfig({ environment: { [name]: value } }),
      (error: unknown) => {
        return error instanceof ConfigError && message.test(error.message);
      },
      `${name}=${value}`,
    );
});

test('a file with an unknown setting, a wrong type, or no object is refused', () =>
  withDirectory(async directory => {
    const file = join(directory, 'config.json');
    const refused = [
      ['{"API_MAX_ID": 5}', /unknown setting, API_MAX_ID: did you mean API_MAX_IDS\?/],
      ['{"API_MAX_IDS": true}', /API_MAX_IDS must be an integer.* \(true was given/],
      ['{"NEARSKY_HOST": 5}', /NEARSKY_HOST must be a non-empty string/],
      ['{"ANTARES_API_SECRET": "x"}', /names ANTARES_API_SECRET, which is read from the environment only/],
      ['[1]', /one JSON object/],
      ['{', /Cannot read the configuration file/],
    ] as const;
    for (const [content, message] of refused) {
      writeFileSync(file, content);
      assert.throws(() => loadConfig({ file }), message);
    }
    assert.throws(() => loadConfig({ file: join(directory, 'missing') }), /ENOENT/);
  }));

const messageFor = (sources: ConfigSources): string => {
  try {
    loadConfig(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('expected a ConfigError');
};

test('every impossible value is named at once', () => {
  const message = messageFor({ environment: { API_MAX_IDS: '0', NEARSKY_PORT: 'x', API_MAX_POSITIONS: '7' } });
  for (const part of ['API_MAX_IDS must be', '"0" was given in the environment', 'NEARSKY_PORT must be', '"x"'])
    assert.ok(message.includes(part), message);
  assert.not.ok(message.includes('API_MAX_POSITIONS'), message);
});

test('settings that contradict each other stop the start', () => {
  const pairs: [Record<string, string>, string][] = [
    [{ RECENT_CROSSMATCH_MAX_WINDOW_HOURS: '11' }, 'RECENT_CROSSMATCH_MAX_WINDOW_HOURS must be at least 12'],
    [{ API_TABLE_MEMORY_MIB: '480' }, 'NEARSKY_CHILD_MEMORY_MIB must be at least 576'],
    [{ RECENT_CROSSMATCH_MAX_PAGE_SIZE: '999' }, 'RECENT_CROSSMATCH_MAX_PAGE_SIZE must be at least 1000'],
    [
      { TNS_MATCH_RADIUS_ARCSEC: '30', API_MAX_CONE_RADIUS_ARCSEC: '20' },
      'API_MAX_CONE_RADIUS_ARCSEC must be at least 30',
    ],
  ];
  for (const [environment, message] of pairs) {
    assert.throws(
      () => loadConfig({ environment }),
      (error: Error) => error instanceof ConfigError && error.message.includes(message),
      message,
    );
  }
  loadConfig({ environment: { RECENT_CROSSMATCH_MAX_WINDOW_HOURS: '12' } });
  loadConfig({ environment: { RECENT_CROSSMATCH_MAX_PAGE_SIZE: '7', RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE: '7' } });
});

test('a capability has settings of its own, which exist only with it', () => {
  const settings = { NEARSKY_LAMPS: { ...integer(2, 0, 9), help: 'Lamps.' } };
  const lamps = ownSettings({
    title: 'Service',
    settings,
    least: ({ NEARSKY_WORKERS }) => [{ name: 'NEARSKY_LAMPS', least: NEARSKY_WORKERS, why: 'each worker needs one' }],
  });
  const table = settingTable([lamps]);
  assert.is(Object.keys(table.groups[0]!.settings).at(-1), 'NEARSKY_LAMPS');
  const environment = { NEARSKY_LAMPS: '3', NEARSKY_WORKERS: '3' };
  assert.is(lamps.of(coreConfig({ environment }, table)).NEARSKY_LAMPS, 3);
  assert.throws(
    () => coreConfig({ environment: { NEARSKY_WORKERS: '3' } }, table),
    /NEARSKY_LAMPS must be at least 3, because each worker needs one \(2 was given\)/,
  );
  assert.throws(() => coreConfig({ environment }), /NEARSKY_LAMPS in the environment is not a setting/);
  assert.throws(() => lamps.of(coreConfig()), /the settings of its capability were not loaded/);
});

test('a variable that only looks like a setting: NEARSKY_ stops the start, one slip elsewhere is doubtful', () => {
  const typo = messageFor({ environment: { NEARSKY_WORKER: '4' } });
  assert.is(
    typo,
    'Cannot start because NEARSKY_WORKER in the environment is not a setting: did you mean NEARSKY_WORKERS?',
  );
  assert.match(messageFor({ environment: { NEARSKY_COLOUR_OF_THE_SKY: 'blue' } }), /lists all settings/);
  const environment = { API_MAX_ID: '4', API_MAX: '4', api_max_ids: '4', PATH: '/bin', NEARSKY_WORKER: '', ...known() };
  const { doubtful, config } = loadConfigWithOrigins({ environment }, SETTINGS);
  assert.equal(doubtful, [
    { name: 'API_MAX_ID', nearest: 'API_MAX_IDS' },
    { name: 'api_max_ids', nearest: 'API_MAX_IDS' },
  ]);
  assert.is(config.API_MAX_IDS, 1000);
});

const known = () => Object.fromEntries(Object.keys(ENVIRONMENT_ONLY).map(name => [name, 'x']));

test('no message shows a secret, or the password in an address', () =>
  withDirectory(async directory => {
    const file = join(directory, 'config.json');
    const broken = [
      '{"TNS_BOT_API_KEY": hush-hush}',
      // The parser's message about a longer file quotes some characters on either side.
      `{"TNS_BOT_API_KEY": hush-hush, "TNS_BOT_NAME": "${'x'.repeat(60)}"}`,
      `hush-hush ${'x'.repeat(60)}`,
      '{"TNS_BOT_API_KEY": "hush-hush" "A"}',
      '{"MCP_SESSION_SECRET": ["hush-hush"]}',
    ];
    for (const content of broken) {
      writeFileSync(file, content);
      const message = messageFor({ file });
      assert.not.match(message, /hush/, message);
    }
    const url = 'ftp://me:hush-hush@tns.example/{name}';
    const addressed = messageFor({ environment: { TNS_OBJECT_URL_TEMPLATE: url } });
    assert.match(addressed, '("ftp://…@tns.example/{name}" was given');
  }));

test('where each value comes from', () =>
  withDirectory(async directory => {
    const file = join(directory, 'config.json');
    writeFileSync(file, '{"API_MAX_IDS": 1, "API_MAX_POSITIONS": 1, "NEARSKY_PORT": 1}');
    const environment = { API_MAX_IDS: '2', NEARSKY_PORT: '2', APP_VERSION: '', NEARSKY_HOST: '' };
    const options = new Map([['NEARSKY_PORT', '3']]);
    const { origins } = loadConfigWithOrigins({ file, environment, options }, SETTINGS);
    const of = (...names: string[]) => names.map(name => origins.get(name));
    assert.equal(of('NEARSKY_PORT', 'API_MAX_IDS', 'APP_VERSION'), ['option', 'environment', 'default']);
    assert.equal(of('API_MAX_POSITIONS', 'NEARSKY_HOST'), ['file', 'default']);
    assert.equal([...origins.keys()], Object.keys(SETTINGS.settings));
  }));

const all = Object.entries(SETTINGS.settings);

test('every setting says what it is, is in one group, and its default is possible', () => {
  assert.equal(
    SETTINGS.groups.flatMap(group => Object.keys(group.settings)),
    all.map(([name]) => name),
  );
  for (const [name, setting] of all) {
    assert.match(setting.help, /^[A-Z].*\.$/s, name);
    assert.equal(read(setting, written(setting, setting.default)), setting.default, name);
    assert.is(/API_KEY$|SECRET$|PASSWORD|TOKEN/.test(name), setting.secret ?? false, name);
  }
});

test('a value that was read and written again is read as the same', () => {
  const likely: Written[] = [
    '0.5/s burst 3',
    'https://A.example:80/x',
    'a:9092, b:9093',
    '10.0.0.0/8,::/0',
    'yes',
    true,
  ];
  const values = fc.oneof(
    fc.constantFrom<Written>(
      ...likely,
      'https://x/{name}/{diaObjectId}',
      '2026-02-28',
      'projects/p/subscriptions/s',
      null,
    ),
    fc.double({ noNaN: true }).map(value => (Object.is(value, -0) ? 0 : value)),
    fc.integer(),
    fc.integer().map(String),
    fc.string(),
    fc.array(fc.string()),
  );
  fc.assert(
    fc.property(values, value => {
      for (const [name, setting] of all) {
        const parsed = read(setting, value);
        if (parsed === undefined) continue;
        const again = read(setting, JSON.parse(JSON.stringify(written(setting, parsed))));
        assert.equal(again, parsed, `${name}=${JSON.stringify(value)}`);
      }
    }),
  );
});

test('a cut is declared only with both its value and its date', () => {
  const cuts = (environment: Record<string, string>) => {
    const all = provenanceSetOf(loadConfig({ environment })).reliability_cuts;
    assert.equal(
      all.map(({ broker }) => broker),
      BROKER_NAMES,
    );
    return all.filter(({ broker }) => ['antares', 'lasair', 'pittgoogle'].includes(broker));
  };
  const undeclared = {
    broker: 'antares',
    min_reliability: null,
    enforced_by: 'broker',
    status: 'not_declared',
    as_of: null,
  };
  for (const value of ['0.7', '0.6', 'null'])
    assert.equal(cuts({ ANTARES_DECLARED_MIN_RELIABILITY: value })[0], undeclared, value);
  for (const date of ['2026-10-01', 'null'])
    assert.equal(cuts({ ANTARES_DECLARED_MIN_RELIABILITY_AS_OF: date })[0], undeclared, date);
  const both = { LASAIR_DECLARED_MIN_RELIABILITY: '0.7', LASAIR_DECLARED_MIN_RELIABILITY_AS_OF: '2026-10-01' };
  const lasair = {
    broker: 'lasair',
    min_reliability: 0.7,
    enforced_by: 'broker',
    status: 'declared',
    as_of: '2026-10-01',
  };
  assert.equal(cuts(both)[1], lasair);
});

test('the default cuts are those of the specification', () => {
  const declared = { min_reliability: 0.6, enforced_by: 'broker', status: 'declared', as_of: '2026-11-19' };
  assert.equal(provenanceSetOf(loadConfig()).reliability_cuts, [
    { broker: 'antares', ...declared },
    { broker: 'lasair', ...declared },
    { broker: 'pittgoogle', min_reliability: 0.6, enforced_by: 'service', status: 'service_setting', as_of: null },
  ]);
});

test('the provenance block names versions, radius and catalogs; a blank version is that of the release', () => {
  const block = currentProvenance(loadConfig({ environment: { CROSSMATCH_RADIUS_ARCSEC: '1.5' } }));
  assert.equal(Object.keys(block), [
    'service_version',
    'contract_version',
    'crossmatch_radius_arcsec',
    'catalogs',
    'reliability_cuts',
  ]);
  assert.equal(
    [block.service_version, block.contract_version, block.crossmatch_radius_arcsec],
    [version, '1.0.0', 1.5],
  );
  assert.equal(block.catalogs, [
    { name: 'gaia_dr3', release: 'Gaia DR3' },
    { name: 'des_y6_gold', release: 'DES Y6 Gold' },
    { name: 'delve_dr3_gold', release: 'DELVE DR3 Gold' },
    { name: 'skymapper_dr4', release: 'SkyMapper DR4' },
  ]);
  for (const APP_VERSION of ['', ' '])
    assert.is(currentProvenance(loadConfig({ environment: { APP_VERSION } })).service_version, version);
});

test.run();
