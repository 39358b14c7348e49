/** `nearsky config`: the current settings, their origins, and no secrets. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SETTINGS } from '../../src/capabilities.ts';
import { ENVIRONMENT_ONLY } from '../../src/core/config/config.ts';
import { start, withDirectory } from './support.ts';

const SECRETS = {
  TNS_BOT_API_KEY: 'hush-tns',
  MCP_SESSION_SECRET: 'hush-mcp',
  ANTARES_API_KEY: 'hush-antares',
  ANTARES_API_SECRET: 'hush-kafka',
};

const test = suite('e2e/config');

test('the settings in force and their origins; of secrets only whether they are set', () =>
  withDirectory(async directory => {
    const file = join(directory, 'nearsky.json');
    writeFileSync(
      file,
      JSON.stringify({ API_MAX_IDS: 7, MCP_IP_RATE: '1/s burst 3', TNS_OBJECTS_BASE_URL: 'http://u:hush@x/' }),
    );
    const args = ['config', '--config', file, '--port', '0'];
    const environment = { ...SECRETS, LASAIR_TOPICS: 'a, b' };
    const [json, text] = await Promise.all([
      start([...args, '--json'], environment).finished,
      start(args, environment).finished,
    ]);
    assert.equal([json.code, text.code, json.stderr, text.stderr], [0, 0, '', '']);
    for (const { stdout } of [json, text]) assert.not.match(stdout, /hush/);

    const { values, secrets, from, environment_only } = JSON.parse(json.stdout);
    assert.equal([values.NEARSKY_PORT, from.NEARSKY_PORT], [0, 'option']);
    assert.equal([values.LASAIR_TOPICS, from.LASAIR_TOPICS], [['a', 'b'], 'environment']);
    assert.equal([values.MCP_IP_RATE, from.MCP_IP_RATE], ['1/s burst 3', 'file']);
    assert.equal([values.API_MAX_POSITIONS, from.API_MAX_POSITIONS], [200, 'default']);
    assert.equal(secrets, { TNS_BOT_API_KEY: true, MCP_SESSION_SECRET: true });
    assert.equal(Object.keys(from).sort(), Object.keys(SETTINGS.settings).sort());
    assert.equal(Object.keys({ ...values, ...secrets }).sort(), Object.keys(SETTINGS.settings).sort());
    assert.equal([environment_only.ANTARES_API_KEY, environment_only.NEARSKY_DEBUG], [true, false]);
    assert.match(text.stdout, /API_MAX_IDS +file +7\n/);
    assert.match(text.stdout, /TNS_BOT_API_KEY +environment +set\n/);
    assert.match(text.stdout, /TNS_BOT_NAME +default +\(unset\)\n/);

    // The printed values are a configuration file.
    delete values.TNS_OBJECTS_BASE_URL;
    writeFileSync(file, JSON.stringify(values));
    const again = await start(['config', '--config', file, '--json', 'LASAIR_TOPICS', 'MCP_IP_RATE']).finished;
    assert.is(again.code, 0, again.stderr);
    const { MCP_IP_RATE, LASAIR_TOPICS } = values;
    assert.equal(JSON.parse(again.stdout), {
      values: { LASAIR_TOPICS, MCP_IP_RATE },
      secrets: {},
      from: { LASAIR_TOPICS: 'file', MCP_IP_RATE: 'file' },
      environment_only: {},
    });
  }));

test('the help has every setting and variable; a wrong name is answered with the nearest', async () => {
  const [help, wrong, typo] = await Promise.all([
    start(['config', '--help']).finished,
    start(['config', 'API_MAX_ID']).finished,
    start(['stats'], { NEARSKY_DTA: '/x', API_MAX_ID: '5' }).finished,
  ]);
  for (const name of [...Object.keys(SETTINGS.settings), ...Object.keys(ENVIRONMENT_ONLY)])
    assert.match(help.stdout, new RegExp(`^  ${name}$`, 'm'));
  assert.is(wrong.code, 2);
  assert.match(wrong.stderr, 'API_MAX_ID is not a setting: did you mean API_MAX_IDS?');
  assert.is(typo.code, 2);
  assert.match(typo.stderr, 'NEARSKY_DTA in the environment is not a setting: did you mean NEARSKY_DATA?');
});

test('a doubtful variable is logged, and the command goes on', async () => {
  const { code, stderr } = await start(['config', 'API_MAX_IDS'], { API_MAX_ID: '5' }).finished;
  assert.is(code, 0, stderr);
  const { time, ...logged } = JSON.parse(stderr);
  assert.equal(logged, { event: 'not_a_setting', name: 'API_MAX_ID', did_you_mean: 'API_MAX_IDS' });
});

test.run();
