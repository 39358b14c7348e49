/**
 * IP addresses and networks. Both families share one 128-bit space: an IPv4 address is represented by its IPv4-mapped
 * IPv6 address.
 */
import { isIP } from 'node:net';

export interface Network {
  /** The range as it was written. */
  readonly text: string;
  /** The bits that all the addresses share; the other bits are zero. */
  readonly prefix: bigint;
  /** The number of low bits that differ between the addresses, 0 to 128. */
  readonly freeBits: number;
}

const MAPPED = 0xffffn << 32n;
const ADDRESS_BITS = 128;
const IPV4_BITS = 32;

/**
 * The address as a 128-bit integer, the same for every spelling of the address. A zone (`%eth0`) is ignored. Undefined
 * if the text is not an address.
 */
export function parseAddress(text: string): bigint | undefined {
  const address = text.trim().replace(/%.*$/, '');
  switch (isIP(address)) {
    case 4:
      return MAPPED | ipv4(address);
    case 6:
      return ipv6(address);
    default:
      return undefined;
  }
}

/**
 * A network in CIDR notation (`192.0.2.0/24`, `2001:db8::/32`); bits beyond the prefix are ignored. Undefined if the
 * text is not a network.
 */
export function parseNetwork(text: string): Network | undefined {
  const [, base = '', length = ''] = /^\s*([^/\s]+)\/(\d{1,3})\s*$/.exec(text) ?? [];
  const address = parseAddress(base);
  const width = isIP(base) === 4 ? IPV4_BITS : ADDRESS_BITS;
  if (address === undefined || Number(length) > width) return undefined;
  const freeBits = width - Number(length);
  return { text: text.trim(), prefix: (address >> BigInt(freeBits)) << BigInt(freeBits), freeBits };
}

export function isWithin(address: bigint, { prefix, freeBits }: Network): boolean {
  return address >> BigInt(freeBits) === prefix >> BigInt(freeBits);
}

function ipv4(address: string): bigint {
  return address.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function ipv6(address: string): bigint {
  const [head = '', tail] = hexOnly(address).split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** The same address; if its last 32 bits were written as an IPv4 address, they are now in hexadecimal. */
function hexOnly(address: string): string {
  return address.replace(/[\d.]+$/, part => {
    if (!part.includes('.')) return part;
    const bits = ipv4(part);
    return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
  });
}

function groups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
