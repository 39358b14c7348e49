/** The names by which clients are counted. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAddress } from '../../../src/core/base/ip_addresses.ts';
import { clientName } from '../../../src/core/http/client_address.ts';

const test = suite('http/client_address');

const nameOf = (text: string) => clientName(parseAddress(text));

test('all addresses of an IPv6 /64 are one client [Crossmatch of a table]', () => {
  assert.is(nameOf('2001:db8:1:2::1'), nameOf('2001:db8:1:2:ffff:ffff:ffff:ffff'));
  assert.is.not(nameOf('2001:db8:1:2::1'), nameOf('2001:db8:1:3::1'));
  assert.is.not(nameOf('192.0.2.1'), nameOf('192.0.2.2'));
  assert.is(nameOf('192.0.2.1'), nameOf('::ffff:192.0.2.1'));
  assert.is(clientName(undefined), clientName(undefined));
});

test.run();
