/** The kinds of values that settings have: how each is read from text or JSON, and how it is written. */
import { type Network, parseNetwork } from '../base/ip_addresses.ts';

/** At most `burst` calls in any `burst / perSecond` seconds. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A value as a configuration file has it. */
export type Written = string | number | boolean | null | readonly Written[];

export interface Kind<T> {
  readonly default: T;
  /** The condition that a value must meet, as it reads after "must be". */
  readonly bound: string;
  /** The value, from text (option, environment) or from JSON; undefined when it is impossible. */
  parse(value: unknown): T | undefined;
  /** The value as `parse` reads it from a file; without this function, the value itself. */
  write?(value: T): Written;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : Number.NaN;
}

/** A number, bounds inclusive. */
export function number(fallback: number, min: number, max: number): Kind<number> {
  const parse = (value: unknown) => {
    const parsed = toNumber(value);
    return parsed >= min && parsed <= max ? parsed : undefined;
  };
  return { default: fallback, bound: `a number from ${min} to ${max}`, parse };
}

/** An integer, bounds inclusive. */
export function integer(fallback: number, min: number, max: number): Kind<number> {
  const parse = (value: unknown) => {
    const parsed = toNumber(value);
    return Number.isInteger(parsed) && parsed >= min && parsed <= max ? parsed : undefined;
  };
  return { default: fallback, bound: `an integer from ${min} to ${max}`, parse };
}

export function yesNo(fallback: boolean): Kind<boolean> {
  const parse = (value: unknown) => {
    if (typeof value === 'boolean') return value;
    return value === 'yes' ? true : value === 'no' ? false : undefined;
  };
  return { default: fallback, bound: 'yes or no', parse, write: value => (value ? 'yes' : 'no') };
}

export function flag(fallback: boolean): Kind<boolean> {
  const parse = (value: unknown) => {
    if (typeof value === 'boolean') return value;
    return value === 'true' ? true : value === 'false' ? false : undefined;
  };
  return { default: fallback, bound: 'true or false', parse };
}

export function text(fallback: string): Kind<string> {
  return {
    default: fallback,
    bound: 'a non-empty string',
    parse: value => (typeof value === 'string' && value.trim() ? value : undefined),
  };
}

/** Text, null when it is blank. */
export function textOrNull(fallback: string | null): Kind<string | null> {
  const parse = (value: unknown) => {
    if (value === null) return null;
    return typeof value === 'string' ? value.trim() || null : undefined;
  };
  return { default: fallback, bound: 'text', parse };
}

export function oneOf<const T extends string>(fallback: T, ...others: T[]): Kind<T> {
  const values = [fallback, ...others];
  return { default: fallback, bound: `one of ${values.join(', ')}`, parse: value => values.find(one => one === value) };
}

/** Text without white space. */
export function name(): Kind<string> {
  const parse = (value: unknown) =>
    typeof value === 'string' && /^\S+$/.test(value.trim()) ? value.trim() : undefined;
  return { default: '', bound: 'a name without white space', parse };
}

/** An identifier of IVOA Identifiers 2.0, without a query. */
export function ivoid(): Kind<string> {
  const parse = (value: unknown) =>
    typeof value === 'string' && /^ivo:\/\/[A-Za-z\d][\w.~-]{2,}(?:\/[\w.~-]+)+$/.test(value.trim())
      ? value.trim()
      : undefined;
  return { default: '', bound: 'an identifier such as ivo://example.org/nearsky', parse };
}

/** A name in the form of a broker's name. */
export function label(fallback: string): Kind<string> {
  const parse = (value: unknown) =>
    typeof value === 'string' && /^[a-z][a-z\d_]{0,39}$/.test(value) ? value : undefined;
  return { default: fallback, bound: 'a name of at most 40 characters a-z, 0-9 and _, starting with a letter', parse };
}

export function server(): Kind<string> {
  const parse = (value: unknown) => {
    const [, text, port] = (typeof value === 'string' && /^(\S+:(\d{1,5}))$/.exec(value.trim())) || [];
    return Number(port) >= 1 && Number(port) <= 65535 ? text : undefined;
  };
  return { default: '', bound: 'a server as host:port', parse };
}

/** A topic of a Kafka cluster. */
export interface KafkaTopic {
  /** `host:port` of one or more of the cluster's servers. */
  readonly servers: readonly string[];
  readonly topic: string;
}

export function kafkaTopic(): Kind<KafkaTopic> {
  const parse = (value: unknown) => {
    const [, texts, topic] = (typeof value === 'string' && /^kafka:\/\/([^/]+)\/([\w.-]+)$/.exec(value.trim())) || [];
    const servers = texts?.split(',').map(text => server().parse(text));
    return topic && servers?.every(text => text !== undefined) ? { servers: servers as string[], topic } : undefined;
  };
  const bound = 'a topic as kafka://HOST:PORT,HOST:PORT/TOPIC';
  return {
    default: { servers: [], topic: '' },
    bound,
    parse,
    write: ({ servers, topic }) => `kafka://${servers.join(',')}/${topic}`,
  };
}

export function subscription(): Kind<string> {
  const parse = (value: unknown) => {
    return typeof value === 'string' && /^projects\/[\w.:-]+\/subscriptions\/[\w.~+%-]+$/.test(value)
      ? value
      : undefined;
  };
  return { default: '', bound: 'a subscription as projects/PROJECT/subscriptions/NAME', parse };
}

export function date(): Kind<string> {
  const parse = (value: unknown) => {
    if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
    const time = new Date(`${value}T00:00:00Z`);
    return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value) ? value : undefined;
  };
  return { default: '', bound: 'a date as YYYY-MM-DD', parse };
}

export function urlTemplate(fallback: string, placeholder: string): Kind<string> {
  const parse = (value: unknown) => {
    return typeof value === 'string' && /^https?:\/\//.test(value) && value.includes(placeholder) ? value : undefined;
  };
  return { default: fallback, bound: `an http or https address${placeholder && ` with ${placeholder} in it`}`, parse };
}

export function httpUrl(fallback: string): Kind<string> {
  const parse = (value: unknown) =>
    typeof value === 'string' && /^https?:/i.test(value) ? URL.parse(value)?.href : undefined;
  return { default: fallback, bound: 'an http or https address', parse };
}

/**
 * An address to which paths of the API are appended: scheme, host and port, perhaps a path; without a slash at the end,
 * a query or a fragment.
 */
export function baseAddress(): Kind<string> {
  const parse = (value: unknown) => {
    const url = typeof value === 'string' && /^https?:/i.test(value.trim()) && URL.parse(value.trim());
    return url && url.search + url.hash === '' ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : undefined;
  };
  return { default: '', bound: 'an http or https address without ? or #', parse };
}

/** Scheme, host and port, in the spelling that browsers use; a path is left out. */
export function origin(fallback = ''): Kind<string> {
  const parse = (value: unknown) => {
    const url = typeof value === 'string' && /^https?:/i.test(value.trim()) && URL.parse(value.trim());
    return url ? url.origin : undefined;
  };
  return { default: fallback, bound: 'an http or https address', parse };
}

export function network(): Kind<Network> {
  const parse = (value: unknown) => (typeof value === 'string' ? parseNetwork(value) : undefined);
  const bound = 'a network such as 192.0.2.0/24 or 2001:db8::/32';
  return { default: parseNetwork('::/0')!, bound, parse, write: ({ text }) => text };
}

export function headerName(fallback: string): Kind<string> {
  const parse = (value: unknown) => (typeof value === 'string' && /^[\w-]+$/.test(value) ? value : undefined);
  return { default: fallback, bound: "a header's name", parse };
}

const RATE = /^\s*(\d+(?:\.\d+)?)\s*\/\s*s\s+burst\s+(\d{1,6})\s*$/i;

/** A rate: so many calls a second in the long run, and at most `burst` at once. */
export function rate(perSecond: number, burst: number): Kind<Rate> {
  const parse = (value: unknown) => {
    const [, rateText, burstText] = (typeof value === 'string' && RATE.exec(value)) || [];
    const parsed = { perSecond: Number(rateText), burst: Number(burstText) };
    return parsed.perSecond > 0 && parsed.burst >= 1 ? parsed : undefined;
  };
  const write = (value: Rate) => `${value.perSecond}/s burst ${value.burst}`;
  return { default: { perSecond, burst }, bound: 'a rate such as "2/s burst 10"', parse, write };
}

/** Like `kind`, but null by default and in the file. */
export function optional<T>(kind: Kind<T>): Kind<T | null> {
  return {
    default: null,
    bound: kind.bound,
    parse: value => (value === null ? null : kind.parse(value)),
    write: value => (value === null ? null : written(kind, value)),
  };
}

/** Values of `kind`: text with commas between them, or an array in the file. */
export function list<T>(kind: Kind<T>, fallback: readonly string[]): Kind<readonly T[]> {
  const parse = (value: unknown): readonly T[] | undefined => {
    const parts = typeof value === 'string' ? value.split(',').filter(part => part.trim() !== '') : value;
    const parsed = Array.isArray(parts) ? parts.map(part => kind.parse(part)) : [undefined];
    return parsed.includes(undefined) ? undefined : (parsed as T[]);
  };
  const write = (values: readonly T[]) => values.map(value => written(kind, value));
  return { default: parse([...fallback])!, bound: `a comma-separated list, each item ${kind.bound}`, parse, write };
}

/** A value of a kind, as a configuration file has it. */
export function written<T>(kind: Kind<T>, value: T): Written {
  return kind.write ? kind.write(value) : (value as Written);
}
