/** Parses times. `src/core/base/times.ts` writes them. */
import { formatParts } from './times.ts';

/** An instant, and the UTC offset with which it was written. */
export interface Instant {
  /** Integer microseconds since 1970, UTC; exact from 1685 to 2255. */
  readonly timeUs: number;
  readonly offsetMinutes: number;
  /** The same instant and offset in the format of `formatTime`; exact in every year. */
  readonly text: string;
}

const DATE = /^(?:(\d{4})-(\d{2})-(\d{2})|(\d{4})(\d{2})(\d{2})|(\d{4})-?W(\d{2})(?:-?([1-7]))?|(\d{4})-?(\d{3}))$/;
const TIME = /^(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;
const MS_PER_DAY = 86_400_000;

/** Whether a time, in seconds since 1970, lies in the years 1 to 9999. */
const isInRange = (second: number) => second >= -62_135_596_800 && second <= 253_402_300_799;

/**
 * Parses an ISO-8601 time: a date, then `T` or a space, then a time of day. Date and time of day may each be in the
 * extended or the basic form. The date may be a calendar date, a week date or an ordinal date; without a time of day it
 * means midnight. Digits after the sixth of a fraction are cut off. A time without an offset is UTC. Returns undefined
 * for any other text, for a date or time of day that does not exist, and for years before 1 or after 9999.
 */
export function parseInstant(text: string): Instant | undefined {
  const parsed = parse(text);
  if (!parsed) return undefined;
  const { seconds, micros, offsetMinutes } = parsed;
  return { timeUs: seconds * 1e6 + micros, offsetMinutes, text: formatParts(seconds, micros, offsetMinutes) };
}

/** The microseconds of `parseInstant`. */
export function parseTime(text: string): number | undefined {
  const parsed = parse(text);
  return parsed && parsed.seconds * 1e6 + parsed.micros;
}

interface Parsed {
  /** Since 1970, UTC. */
  readonly seconds: number;
  readonly micros: number;
  readonly offsetMinutes: number;
}

function parse(text: string): Parsed | undefined {
  const end = text.search(/[T ]/);
  const midnightMs = midnightOf(end < 0 ? text : text.slice(0, end));
  const parts = end < 0 ? [] : TIME.exec(text.slice(end + 1));
  if (midnightMs === undefined || parts === null) return undefined;
  const [hour, minute, second] = [Number(parts[1] ?? 0), Number(parts[2] ?? 0), Number(parts[3] ?? 0)];
  const offsetMinutes = parseOffset(parts[5] ?? 'Z');
  if (hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined;
  const localSeconds = midnightMs / 1000 + hour * 3600 + minute * 60 + second;
  const seconds = localSeconds - offsetMinutes * 60;
  if (!isInRange(seconds) || !isInRange(localSeconds)) return undefined;
  return { seconds, micros: Number((parts[4] ?? '').slice(0, 6).padEnd(6, '0')), offsetMinutes };
}

/** Cached, because most times of a night have one of a few dates. */
const knownDates = new Map<string, number>();
const MAX_KNOWN_DATES = 100;

/** Midnight of a date, UTC, milliseconds since 1970. */
function midnightOf(date: string): number | undefined {
  let ms = knownDates.get(date);
  if (ms === undefined) {
    ms = parseDate(date);
    if (ms !== undefined && knownDates.size < MAX_KNOWN_DATES) knownDates.set(date, ms);
  }
  return ms;
}

function parseDate(text: string): number | undefined {
  const parts = DATE.exec(text);
  if (!parts) return undefined;
  const number = (...groups: number[]) => Number(groups.map(i => parts[i]).find(part => part !== undefined));
  const year = number(1, 4, 7, 10);
  if (parts[8] !== undefined) return weekDate(year, number(8), Number(parts[9] ?? 1));
  if (parts[11] !== undefined) return existing(year, 1, number(11), day => day.getUTCFullYear() === year);
  const month = number(2, 5);
  return existing(year, month, number(3, 6), day => day.getUTCMonth() === month - 1);
}

/** A day of a month; undefined if the month is shorter. */
function existing(year: number, month: number, day: number, isWithin: (date: Date) => boolean): number | undefined {
  const ms = midnight(year, month, day);
  return month >= 1 && month <= 12 && day >= 1 && isWithin(new Date(ms)) ? ms : undefined;
}

/** The date of a day in a week. Week 1 contains 4 January; weeks begin on Monday. */
function weekDate(year: number, week: number, day: number): number | undefined {
  const firstMonday = (of: number) => {
    const fourth = midnight(of, 1, 4);
    return fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * MS_PER_DAY;
  };
  const monday = firstMonday(year) + (week - 1) * 7 * MS_PER_DAY;
  return week >= 1 && monday < firstMonday(year + 1) ? monday + (day - 1) * MS_PER_DAY : undefined;
}

/** Like Date.UTC, except that Date.UTC reads the years 0 to 99 as 1900 to 1999. */
function midnight(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

function parseOffset(text: string): number | undefined {
  if (text === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (60 * hours + minutes);
}
