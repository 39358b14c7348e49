/** Which callers share limits, and the limits of each (docs/contract.md, Connector). */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callerOf } from '../../../src/capabilities/connector/caller.ts';
import { type Admission, Limiter } from '../../../src/capabilities/connector/limiter.ts';
import { Sessions } from '../../../src/capabilities/connector/sessions.ts';
import { connectorSettings } from '../../../src/capabilities/connector/settings.ts';
import { isWithin, parseAddress, parseNetwork } from '../../../src/core/base/ip_addresses.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { configOf } from '../../core/http/support.ts';
import { EMPTY, withConnector } from './support.ts';

const test = suite('mcp/limits');

test('one address has one value, however it is written', () => {
  const same = [
    ['192.0.2.1', ' 192.0.2.1 ', '::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:192.0.2.1'],
    ['2001:db8::1', '2001:0DB8:0:0::0001', '2001:db8:0:0:0:0:0:1', '2001:db8::0.0.0.1', '2001:db8::1%eth0'],
    ['::', '0:0:0:0:0:0:0:0', '::0'],
  ];
  for (const spellings of same) assert.is(new Set(spellings.map(parseAddress)).size, 1, spellings[0]);
  assert.is(parseAddress('::1'), 1n);
  assert.is(parseAddress('1:2:3:4:5:6:7:8'), 0x00010002000300040005000600070008n);
  assert.is(parseAddress('1.2.3.4'), 0xffff_0102_0304n);
  for (const text of [
    '',
    '1.2.3',
    '256.1.1.1',
    '1.2.3.4:80',
    '[::1]',
    ':::',
    '1::2::3',
    'localhost',
    '1.2.3.4, 5.6.7.8',
  ]) {
    assert.is(parseAddress(text), undefined, text);
  }
});

test('networks of both families', () => {
  const within = (address: string, network: string) => isWithin(parseAddress(address)!, parseNetwork(network)!);
  assert.ok(within('160.79.104.0', '160.79.104.0/21'));
  assert.ok(within('160.79.111.255', '160.79.104.0/21'));
  assert.ok(within('::ffff:160.79.104.1', '160.79.104.0/21'));
  assert.not(within('160.79.112.0', '160.79.104.0/21'));
  assert.not(within('160.79.103.255', '160.79.104.0/21'));
  assert.not(within('::a04f:6801', '160.79.104.0/21'));
  assert.ok(within('2001:db8:ffff::1', '2001:db8::/32'));
  assert.not(within('2001:db9::', '2001:db8::/32'));
  assert.not(within('32.1.13.184', '2001:db8::/32'));
  assert.ok(within('203.0.113.9', '0.0.0.0/0') && within('203.0.113.9', '::/0'));
  assert.not(within('2001:db8::1', '0.0.0.0/0'));
  assert.ok(within('192.0.2.7', '192.0.2.7/32') && !within('192.0.2.8', '192.0.2.7/32'));
  assert.ok(within('192.0.2.200', '192.0.2.7/24'));
  for (const text of [
    '192.0.2.0',
    '192.0.2.0/33',
    '2001:db8::/129',
    '192.0.2.0/-1',
    '/24',
    'a/24',
    '1.2.3.4/8/8',
    '',
  ]) {
    assert.is(parseNetwork(text), undefined, text);
  }
});

/** A limiter and its clock. */
function limiterWith(options = {}) {
  const clock = { ms: 0 };
  const limits = { maxConcurrent: 1000, maxConcurrentPerKey: 1000, slotSeconds: 15, now: () => clock.ms, ...options };
  return { clock, limiter: new Limiter(limits) };
}

function outcome(admission: Admission): string {
  return admission.admitted ? 'admitted' : `${admission.code} ${admission.retryAfterSeconds}`;
}

test('a window: so many calls in any burst / rate seconds; a refused one does not count', () => {
  const { clock, limiter } = limiterWith();
  const rate = { perSecond: 2, burst: 10 };
  const call = (key = 'a') => outcome(limiter.admit({ key, rate }));
  for (let i = 0; i < 10; i++) {
    clock.ms = i * 100;
    assert.is(call(), 'admitted');
  }
  clock.ms = 1000;
  for (let i = 0; i < 50; i++) assert.is(call(), 'rate_limited 4');
  assert.is(call('b'), 'admitted');
  clock.ms = 4999;
  assert.is(call(), 'rate_limited 1');
  clock.ms = 5000;
  assert.is(call(), 'admitted');
  assert.is(call(), 'rate_limited 1');
  clock.ms = 5100;
  assert.is(call(), 'admitted');
});

test('any window of any sequence of calls holds at most the burst, and a call is refused only when it is full', () => {
  const steps = fc.array(fc.nat({ max: 700 }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 6 }), fc.constantFrom(0.5, 1, 2, 3), (waits, burst, perSecond) => {
      const { clock, limiter } = limiterWith();
      const windowMs = (burst / perSecond) * 1000;
      const admitted: number[] = [];
      for (const wait of waits) {
        clock.ms += wait;
        const full = admitted.filter(atMs => atMs > clock.ms - windowMs).length >= burst;
        const admission = limiter.admit({ key: 'a', rate: { perSecond, burst } });
        assert.is(admission.admitted, !full);
        if (admission.admitted) admitted.push(clock.ms);
        else assert.ok(Number.isInteger(admission.retryAfterSeconds) && admission.retryAfterSeconds >= 1);
      }
    }),
    { numRuns: 200 },
  );
});

const FREE = { perSecond: 1000, burst: 1_000_000 };

test('slots: of one key, of all, given back, and given up', () => {
  const { clock, limiter } = limiterWith({ maxConcurrent: 3, maxConcurrentPerKey: 2 });
  const call = (key: string) => limiter.admit({ key, rate: FREE });
  const first = call('a');
  assert.is(outcome(call('a')), 'admitted');
  assert.is(outcome(call('a')), 'busy 1');
  assert.is(outcome(call('b')), 'admitted');
  assert.is(outcome(call('c')), 'busy 1');
  if (first.admitted) limiter.free(first.slot);
  if (first.admitted) limiter.free(first.slot);
  assert.is(outcome(call('a')), 'admitted');
  assert.is(outcome(call('b')), 'busy 1');
  clock.ms = 14_999;
  assert.is(outcome(call('b')), 'busy 1');
  clock.ms = 15_000;
  for (const key of ['b', 'b', 'c']) assert.is(outcome(call(key)), 'admitted');
  assert.is(outcome(call('d')), 'busy 1');
});

test('a call that was refused as busy does not count against the rate', () => {
  const { limiter } = limiterWith({ maxConcurrentPerKey: 1 });
  const rate = { perSecond: 1, burst: 2 };
  const first = limiter.admit({ key: 'a', rate });
  assert.is(outcome(limiter.admit({ key: 'a', rate })), 'busy 1');
  if (first.admitted) limiter.free(first.slot);
  const second = limiter.admit({ key: 'a', rate });
  if (second.admitted) limiter.free(second.slot);
  assert.equal([second.admitted, outcome(limiter.admit({ key: 'a', rate }))], [true, 'rate_limited 2']);
});

test('callers without end are not all remembered', () => {
  const { limiter } = limiterWith();
  const rate = { perSecond: 1, burst: 1 };
  const call = (i: number) => {
    const admission = limiter.admit({ key: `${i}`, rate });
    if (admission.admitted) limiter.free(admission.slot);
    return admission.admitted;
  };
  for (let i = 0; i < 10_001; i++) assert.ok(call(i));
  assert.ok(call(0), 'the oldest is forgotten');
  assert.not(call(10_000), 'the newest is not');
});

test('sessions: ours, unchanged and young', () => {
  let nowMs = 1_790_000_000_000;
  const options = { maxAgeSeconds: 60, now: () => nowMs };
  const sessions = new Sessions({ ...options, secret: 'hush' });
  const id = sessions.issue();
  assert.is.not(sessions.issue(), id);
  assert.ok(sessions.isValid(id));
  for (let i = 0; i < id.length; i++) {
    const other = id[i] === 'A' ? 'B' : 'A';
    assert.not(sessions.isValid(id.slice(0, i) + other + id.slice(i + 1)), `character ${i} changed`);
  }
  for (const changed of ['', id.slice(1), `${id}A`, ` ${id}`, 'A'.repeat(72)]) assert.not(sessions.isValid(changed));
  nowMs += 60_000;
  assert.ok(sessions.isValid(id));
  nowMs += 1;
  assert.not(sessions.isValid(id));
});

test('sessions: an id has one spelling, and another secret does not know it', () => {
  const make = (secret: string | Uint8Array) => new Sessions({ maxAgeSeconds: 60, secret });
  const shared = make('shared');
  const ids = Array.from({ length: 50 }, () => shared.issue());
  const respelled = ids.map(id => id.replaceAll('-', '+').replaceAll('_', '/'));
  assert.ok(respelled.some((id, i) => id !== ids[i]));
  respelled.forEach((id, i) => {
    assert.is(shared.isValid(id), id === ids[i]);
  });
  assert.ok(make('shared').isValid(ids[0]!));
  assert.not(make('other').isValid(ids[0]!));
  assert.not(make(new SharedState().secret).isValid(ids[0]!));
  const state = new SharedState();
  const id = make(state.secret).issue();
  assert.ok(make(new SharedState(state.memory).secret).isValid(id), 'another thread of the process');
  assert.not(make(new SharedState().secret).isValid(id), 'another process');
});

test('whom a call counts against [Connector]', () => {
  const config = configOf('/nowhere', {
    MCP_PROVIDER_CIDRS: '160.79.104.0/21, 2001:db8::/32',
    TRUSTED_PROXIES: '10.0.0.0/8',
  });
  const sessions = new Sessions({ maxAgeSeconds: 60, secret: 'hush' });
  const session = sessions.issue();
  const caller = (peer: string | undefined, headers = {}) => callerOf(new Headers(headers), peer, config, sessions);
  const withSession = { 'Mcp-Session-Id': session };
  const own = connectorSettings.of(config);
  const [byIp, bySession, byRange] = [own.MCP_IP_RATE, own.MCP_SESSION_RATE, own.MCP_PROVIDER_RATE];
  assert.equal(byIp, { perSecond: 2, burst: 10 });
  assert.equal(bySession, { perSecond: 2, burst: 10 });
  assert.equal(byRange, { perSecond: 10, burst: 50 });

  assert.equal(caller('160.79.104.9', withSession), { key: `session ${session}`, rate: bySession });
  assert.is(caller('2001:db8::9', withSession).key, `session ${session}`);
  assert.equal(caller('160.79.104.9'), { key: 'range 160.79.104.0/21', rate: byRange });
  assert.is(caller('160.79.104.9', { 'Mcp-Session-Id': 'x' }).key, 'range 160.79.104.0/21');
  assert.is(caller('::ffff:160.79.105.9').key, 'range 160.79.104.0/21');
  assert.is(caller('2001:db8::1').key, 'range 2001:db8::/32');

  const outside = caller('192.0.2.1');
  assert.equal(outside.rate, byIp);
  assert.equal(caller('192.0.2.1', withSession), outside);
  assert.equal(caller('10.0.0.1', { 'X-Real-Ip': '192.0.2.1' }), outside);
  assert.equal(caller('10.0.0.1', { 'X-Real-Ip': 'nonsense' }), caller('10.0.0.1'));
  assert.equal(caller('192.0.2.1', { 'X-Forwarded-For': '192.0.2.2' }), outside);
  assert.is.not(caller('192.0.2.2').key, outside.key);
  assert.is(caller('10.0.0.1', { 'X-Real-Ip': '160.79.104.9' }).key, 'range 160.79.104.0/21');
  assert.equal(caller(undefined), { key: 'ip undefined', rate: byIp });
});

test('who the client is, only this machine and the proxies of the settings may say [P14]', () => {
  const config = configOf('/nowhere', { TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32' });
  const sessions = new Sessions({ maxAgeSeconds: 60, secret: 'hush' });
  const caller = (peer: string, headers = {}) => callerOf(new Headers(headers), peer, config, sessions).key;
  const client = caller('192.0.2.1');
  for (const headers of [
    { 'X-Real-Ip': '192.0.2.9' },
    { Forwarded: 'for=192.0.2.9' },
    { 'X-Forwarded-For': '192.0.2.9' },
  ])
    assert.is(caller('192.0.2.1', headers), client, 'a client says that it is another one');
  for (const proxy of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '10.1.2.3', '2001:db8::7']) {
    for (const headers of [
      { 'X-Real-Ip': '192.0.2.1' },
      { Forwarded: 'for=192.0.2.9, proto=https;For="192.0.2.1:4711"' },
      { Forwarded: 'for=192.0.2.1, for="[2001:db8::7]:80"' },
      { 'X-Forwarded-For': '192.0.2.9, 192.0.2.1' },
      { 'X-Forwarded-For': '192.0.2.9, 192.0.2.1, 10.0.0.7' },
      { 'X-Forwarded-For': '192.0.2.9', 'X-Real-Ip': '192.0.2.1' },
    ])
      assert.is(caller(proxy, headers), client, `${proxy} ${JSON.stringify(headers)}`);
    assert.is(caller(proxy, { 'X-Forwarded-For': '192.0.2.9, unknown' }), caller(proxy), 'what no proxy can know');
  }
  assert.is(caller('127.0.0.1', { 'X-Forwarded-For': '10.0.0.5, 10.0.0.7' }), caller('10.0.0.5'), 'nobody but proxies');
});

test('the header that names the client can be another one', () => {
  const config = configOf('/nowhere', { MCP_CLIENT_IP_HEADER: 'CF-Connecting-IP', TRUSTED_PROXIES: '10.0.0.1/32' });
  const sessions = new Sessions({ maxAgeSeconds: 60, secret: 'hush' });
  const caller = (headers: Record<string, string>) => callerOf(new Headers(headers), '10.0.0.1', config, sessions).key;
  assert.is(caller({ 'X-Real-Ip': '192.0.2.1' }), caller({}));
  assert.is.not(caller({ 'CF-Connecting-IP': '192.0.2.1' }), caller({}));
});

const ABOUT = 'describe_crossmatch_service';

test('over HTTP: the eleventh call at once is refused with when to try again, as a result and not as 429 [Connector]', () =>
  withConnector(
    EMPTY,
    async connection => {
      const session = (await connection.request('initialize')).headers.get('Mcp-Session-Id')!;
      for (let i = 0; i < 10; i++) assert.not((await connection.call(ABOUT)).isError, `call ${i}`);
      const { isError, answer } = await connection.call(ABOUT);
      assert.is(isError, true);
      assert.equal(Object.keys(answer.error), ['code', 'message', 'retryable', 'retry_after_seconds']);
      assert.equal([answer.error.code, answer.error.retryable], ['rate_limited', true]);
      assert.match(answer.error.message, 'more calls than 0.001 a second, or 10 at once');
      assert.ok(Number.isInteger(answer.error.retry_after_seconds) && answer.error.retry_after_seconds >= 1);

      const headers = { 'Mcp-Session-Id': session };
      assert.is((await connection.call(ABOUT, {}, { headers })).answer.error.code, 'rate_limited');
      assert.not((await connection.call(ABOUT, {}, { peer: '192.0.2.2' })).isError);
      const named = { headers: { 'X-Real-Ip': '192.0.2.3' } };
      assert.is((await connection.call(ABOUT, {}, named)).answer.error.code, 'rate_limited');
      assert.not((await connection.call(ABOUT, {}, { ...named, peer: '127.0.0.1' })).isError);
    },
    // A window so long that no machine is too slow for the test.
    { MCP_IP_RATE: '0.001/s burst 10' },
  ));

test('over HTTP: arguments that are wrong, and other methods, do not count [Connector]', () =>
  withConnector(
    EMPTY,
    async connection => {
      for (let i = 0; i < 5; i++) {
        const wrong = await connection.call('lookup_rubin_transients', {});
        assert.is(wrong.answer.error.code, 'invalid_arguments');
        for (const method of ['ping', 'tools/list', 'initialize']) await connection.request(method);
        await connection.request('tools/call', { name: 'none' });
      }
      assert.not((await connection.call(ABOUT)).isError);
      assert.is((await connection.call(ABOUT)).answer.error.code, 'rate_limited');
    },
    { MCP_IP_RATE: '0.001/s burst 1' },
  ));

test('over HTTP: more calls at a time than there are slots are refused as busy, and the slots come back', () =>
  withConnector(
    EMPTY,
    async connection => {
      const codes = async (peers: readonly string[]) => {
        const calls = await Promise.all(peers.map(peer => connection.call(ABOUT, {}, { peer })));
        return calls.map(({ isError, answer }) => (isError ? answer.error.code : 'ok')).sort();
      };
      const own = ['192.0.2.1', '192.0.2.1', '192.0.2.1'];
      const others = Array.from({ length: 8 }, (_, i) => `192.0.2.${i + 10}`);
      for (let round = 0; round < 2; round++) {
        assert.equal(await codes(own), ['busy', 'ok', 'ok']);
        assert.equal(await codes(others), ['busy', 'busy', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok']);
      }
    },
    { MCP_MAX_CONCURRENT: '6', MCP_MAX_CONCURRENT_PER_KEY: '2' },
  ));

test('over HTTP: one address has at most half of the slots, whatever it may have by the setting', () =>
  withConnector(
    EMPTY,
    async connection => {
      const calls = await Promise.all([1, 2, 3, 4].map(() => connection.call(ABOUT, {}, { peer: '192.0.2.1' })));
      const codes = calls.map(({ isError, answer }) => (isError ? answer.error.code : 'ok')).sort();
      assert.equal(codes, ['busy', 'busy', 'ok', 'ok']);
    },
    { MCP_MAX_CONCURRENT: '4', MCP_MAX_CONCURRENT_PER_KEY: '4' },
  ));

test.run();
