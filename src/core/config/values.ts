/** The kinds of setting values: each reads a value from text or JSON, and writes it. */
import { type Network, parseNetwork } from '../base/ip_addresses.ts';
import * as kinds from '../contract/kind.ts';
import { type Kind, matching, textual } from '../contract/kind.ts';

/** At most `burst` calls in any `burst / perSecond` seconds. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A value as a configuration file contains it. */
export type Written = string | number | boolean | null | readonly Written[];

export interface SettingKind<T> extends Kind<T> {
  readonly default: T;
  /** Converts the value to the form in the file; by default the value itself. */
  write?(value: T): Written;
}

export const withDefault = <T>(kind: Kind<T>, fallback: T): SettingKind<T> => ({ ...kind, default: fallback });

/** The value, read from text (option, environment, file) or JSON; undefined if it is invalid. */
export function read<T>(kind: Kind<T>, value: unknown): T | undefined {
  return typeof value === 'string' ? kind.parseText(value) : kind.parse(value);
}

/** A number, bounds inclusive. */
export function number(fallback: number, min: number, max: number): SettingKind<number> {
  return withDefault(kinds.number({ min, max }), fallback);
}

/** An integer, bounds inclusive. */
export function integer(fallback: number, min: number, max: number): SettingKind<number> {
  return withDefault(kinds.integer({ min, max }), fallback);
}

export function yesNo(fallback: boolean): SettingKind<boolean> {
  return { ...withDefault(kinds.flag('yes', 'no'), fallback), write: value => (value ? 'yes' : 'no') };
}

export function text(fallback: string): SettingKind<string> {
  return withDefault(matching(/\S/, 'a non-empty string'), fallback);
}

/** Text; a blank one means the fallback. */
export function textOr(fallback: string): SettingKind<string> {
  return withDefault(
    textual('text', text => text.trim() || fallback),
    fallback,
  );
}

export function oneOf<const T extends string>(fallback: T, ...others: T[]): SettingKind<T> {
  return withDefault(kinds.oneOf([fallback, ...others]), fallback);
}

/** Text without white space. */
export function name(): SettingKind<string> {
  return withDefault(matching(/^\S+$/, 'a name without white space', true), '');
}

/** An identifier of IVOA Identifiers 2.0, without a query. */
export function ivoid(): SettingKind<string> {
  const pattern = /^ivo:\/\/[A-Za-z\d][\w.~-]{2,}(?:\/[\w.~-]+)+$/;
  return withDefault(matching(pattern, 'an identifier such as ivo://example.org/nearsky', true), '');
}

/** A name in the form of a broker's name. */
export function label(fallback: string): SettingKind<string> {
  const must = 'a name of at most 40 characters a-z, 0-9 and _, starting with a letter';
  return withDefault(matching(/^[a-z][a-z\d_]{0,39}$/, must), fallback);
}

const SERVER = textual('a server as host:port', text => {
  const [, server, port] = /^(\S+:(\d{1,5}))$/.exec(text.trim()) ?? [];
  return Number(port) >= 1 && Number(port) <= 65535 ? server : undefined;
});

export function server(): SettingKind<string> {
  return withDefault(SERVER, '');
}

interface KafkaTopic {
  /** `host:port` of one or more of the cluster's servers. */
  readonly servers: readonly string[];
  readonly topic: string;
}

export function kafkaTopic(): SettingKind<KafkaTopic> {
  const kind = textual('a topic as kafka://HOST:PORT,HOST:PORT/TOPIC', text => {
    const [, texts, topic] = /^kafka:\/\/([^/]+)\/([\w.-]+)$/.exec(text.trim()) ?? [];
    const servers = texts?.split(',').map(SERVER.parseText);
    return topic && servers?.every(each => each !== undefined) ? { servers, topic } : undefined;
  });
  const write = ({ servers, topic }: KafkaTopic) => `kafka://${servers.join(',')}/${topic}`;
  return { ...withDefault<KafkaTopic>(kind, { servers: [], topic: '' }), write };
}

export function subscription(): SettingKind<string> {
  const pattern = /^projects\/[\w.:-]+\/subscriptions\/[\w.~+%-]+$/;
  return withDefault(matching(pattern, 'a subscription as projects/PROJECT/subscriptions/NAME'), '');
}

export function date(): SettingKind<string> {
  const kind = textual('a date as YYYY-MM-DD', text => {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
    const time = new Date(`${text}T00:00:00Z`);
    return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text) ? text : undefined;
  });
  return withDefault(kind, '');
}

export function urlTemplate(fallback: string, placeholder: string): SettingKind<string> {
  const must = `an http or https address${placeholder && ` with ${placeholder} in it`}`;
  const parse = (text: string) => (/^https?:\/\//.test(text) && text.includes(placeholder) ? text : undefined);
  return withDefault(textual(must, parse), fallback);
}

/** Accepts or converts a value from a web address. */
const address = (must: string, take: (url: URL) => string | undefined) =>
  textual(must, text => {
    const url = /^https?:/i.test(text.trim()) ? URL.parse(text.trim()) : null;
    return url === null ? undefined : take(url);
  });

/** The base of relative addresses. Its path ends in a slash: without one, its last part would be lost. */
export function httpUrl(fallback: string): SettingKind<string> {
  const parse = (text: string) => {
    const url = /^https?:/i.test(text) ? URL.parse(text) : null;
    if (url && !url.pathname.endsWith('/')) url.pathname += '/';
    return url?.href;
  };
  return withDefault(textual('an http or https address', parse), fallback);
}

/**
 * An address to which paths of the API are appended: scheme, host, port, and optionally a path. It has no slash at the
 * end, no query and no fragment.
 */
export function baseAddress(): SettingKind<string> {
  const kind = address('an http or https address without ? or #', url =>
    url.search + url.hash === '' ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : undefined,
  );
  return withDefault(kind, '');
}

/** Scheme, host and port in the spelling of browsers; a path is omitted. */
export function origin(fallback = ''): SettingKind<string> {
  return withDefault(
    address('an http or https address', url => url.origin),
    fallback,
  );
}

export function network(): SettingKind<Network> {
  const kind = textual('a network such as 192.0.2.0/24 or 2001:db8::/32', parseNetwork);
  return { ...withDefault(kind, parseNetwork('::/0')!), write: ({ text }) => text };
}

export function headerName(fallback: string): SettingKind<string> {
  return withDefault(matching(/^[\w-]+$/, "a header's name"), fallback);
}

const RATE = /^\s*(\d+(?:\.\d+)?)\s*\/\s*s\s+burst\s+(\d{1,6})\s*$/i;

/** A rate: the average number of calls per second, and up to `burst` at once. */
export function rate(perSecond: number, burst: number): SettingKind<Rate> {
  const kind = textual('a rate such as "2/s burst 10"', text => {
    const [, rateText, burstText] = RATE.exec(text) ?? [];
    const parsed = { perSecond: Number(rateText), burst: Number(burstText) };
    return parsed.perSecond > 0 && parsed.burst >= 1 ? parsed : undefined;
  });
  return { ...withDefault(kind, { perSecond, burst }), write: value => `${value.perSecond}/s burst ${value.burst}` };
}

/** Like `kind`, but null (in text, the word) is also allowed, and is the default unless another default is given. */
export function optional<T>(
  kind: Kind<T> & Pick<SettingKind<T>, 'write'>,
  fallback: T | null = null,
): SettingKind<T | null> {
  return {
    ...kind,
    default: fallback,
    parse: value => (value === null ? null : kind.parse(value)),
    parseText: text => (text.trim() === 'null' ? null : kind.parseText(text)),
    write: value => (value === null ? null : written(kind, value)),
  };
}

/** A list of values of `kind`: comma-separated text, or an array in the file. */
export function list<T>(kind: SettingKind<T>, fallback: readonly string[]): SettingKind<readonly T[]> {
  const parse = (value: unknown): readonly T[] | undefined => {
    const parsed = Array.isArray(value) ? value.map(part => read(kind, part)) : [undefined];
    return parsed.includes(undefined) ? undefined : (parsed as T[]);
  };
  return {
    must: `a comma-separated list, each item ${kind.must}`,
    schema: { type: 'array', items: kind.schema },
    parse,
    parseText: text => parse(text.split(',').filter(part => part.trim() !== '')),
    default: parse([...fallback])!,
    write: values => values.map(value => written(kind, value)),
  };
}

/** A value of a kind, in the form of a configuration file. */
export function written<T>(kind: Pick<SettingKind<T>, 'write'>, value: T): Written {
  return kind.write ? kind.write(value) : (value as Written);
}
