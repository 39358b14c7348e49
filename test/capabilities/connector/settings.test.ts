/** The settings of the connector (docs/contract.md, Settings and limits). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectorSettings } from '../../../src/capabilities/connector/settings.ts';
import { SETTINGS } from '../../../src/capabilities.ts';
import { ConfigError, loadConfig } from '../../../src/core/config/config.ts';

const test = suite('mcp/settings');

type Name = 'MCP_CLIENT_IP_HEADER' | keyof typeof connectorSettings.settings;
const load = (environment: Partial<Record<Name, string>> = {}) =>
  connectorSettings.of(loadConfig({ environment }, SETTINGS));
const read = (name: Name, value: string) => load({ [name]: value })[name];

test('the defaults [Settings and limits]', () => {
  const config = load();
  const mcp = Object.fromEntries(Object.entries(config).filter(([name]) => name.startsWith('MCP_')));
  const { MCP_PROVIDER_CIDRS, ...rest } = mcp;
  assert.equal(
    config.MCP_PROVIDER_CIDRS.map(({ text }) => text),
    ['160.79.104.0/21'],
  );
  assert.ok(MCP_PROVIDER_CIDRS);
  assert.equal(rest, {
    MCP_MAX_IDENTIFIERS: 100,
    MCP_MAX_OBJECTS: 20,
    MCP_MATCHES_PER_CATALOG: 3,
    MCP_MAX_RESULT_CHARS: 30_000,
    MCP_API_BASE_URL: null,
    MCP_ALLOWED_ORIGINS: [],
    MCP_SESSION_MAX_AGE_SECONDS: 86_400,
    MCP_SESSION_SECRET: null,
    MCP_SESSION_RATE: { perSecond: 2, burst: 10 },
    MCP_IP_RATE: { perSecond: 2, burst: 10 },
    MCP_PROVIDER_RATE: { perSecond: 10, burst: 50 },
    MCP_MAX_CONCURRENT: 6,
    MCP_MAX_CONCURRENT_PER_KEY: 2,
    MCP_CLIENT_IP_HEADER: 'X-Real-Ip',
  });
});

test('values', () => {
  assert.equal(read('MCP_IP_RATE', '0.5/s burst 3'), { perSecond: 0.5, burst: 3 });
  assert.equal(read('MCP_ALLOWED_ORIGINS', 'https://A.example/, http://b.example:8080'), [
    'https://a.example',
    'http://b.example:8080',
  ]);
  assert.equal(read('MCP_ALLOWED_ORIGINS', ' '), []);
  assert.is(read('MCP_API_BASE_URL', 'https://sky.example/'), 'https://sky.example');
  assert.is(read('MCP_API_BASE_URL', ' https://Sky.example:8443/rubin/api/ '), 'https://sky.example:8443/rubin/api');
  assert.is((read('MCP_PROVIDER_CIDRS', '10.0.0.0/8, 2001:db8::/32') as readonly unknown[]).length, 2);
});

test('values that cannot be', () => {
  const table: readonly (readonly [Name, string, RegExp])[] = [
    ['MCP_IP_RATE', '2', /a rate such as "2\/s burst 10"/],
    ['MCP_IP_RATE', '0/s burst 10', /a rate/],
    ['MCP_IP_RATE', '2/s burst 0', /a rate/],
    ['MCP_ALLOWED_ORIGINS', 'https://a.example, b.example', /each item an http or https address/],
    ['MCP_PROVIDER_CIDRS', '10.0.0.0', /each item a network/],
    ['MCP_API_BASE_URL', 'sky.example', /an http or https address/],
    ['MCP_API_BASE_URL', 'https://sky.example/?x=1', /without \? or #/],
    ['MCP_CLIENT_IP_HEADER', 'X Real', /a header's name/],
    ['MCP_MAX_IDENTIFIERS', '0', /an integer from 1/],
  ];
  for (const [name, value, message] of table) {
    assert.throws(
      () => read(name, value),
      (error: Error) => error instanceof ConfigError && message.test(error.message) && error.message.includes(name),
      `${name}=${value}`,
    );
  }
});

test.run();
