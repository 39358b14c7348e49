import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mjdTaiToUtcUs, unixSecondsToUs, utcTextToUs } from '../../../src/capabilities/ingest/time.ts';

const test = suite('ingest/time');

test('a modified Julian date in TAI becomes UTC, to the microsecond', () => {
  // ((Decimal(mjd) - 40587) * 86400 - 37) * 10**6 in Python, rounded.
  assert.is(mjdTaiToUtcUs(61105.093643486834), 1772763253797262);
  assert.is(mjdTaiToUtcUs(60975.20468840409), 1761540848078113);
  assert.is(mjdTaiToUtcUs(61029.346), 1766218657400000);
});

test('the leap seconds are those of the date', () => {
  const secondsInTai = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;
  const mjd = (taiSeconds: number) => taiSeconds / 86_400 + 40_587;
  const offsets = [
    ['2026-01-30', 37],
    ['2017-01-02', 37],
    ['2016-12-30', 36],
    ['2015-07-02', 36],
    ['2015-06-29', 35],
    ['1999-01-02', 32],
    ['1998-12-30', 31],
    ['1972-07-02', 11],
    ['1972-01-02', 10],
  ] as const;
  for (const [day, offset] of offsets) {
    const us = mjdTaiToUtcUs(mjd(secondsInTai(day)))!;
    assert.ok(Math.abs(us / 1e6 - (secondsInTai(day) - offset)) < 2e-6, day);
  }
  // 2017-01-01T00:00:00Z is 00:00:37 TAI; the second before it is the leap second, which UTC counts twice.
  const start = secondsInTai('2017-01-01');
  assert.is(Math.round(mjdTaiToUtcUs(mjd(start + 37.001))! / 1000), start * 1000 + 1);
  assert.is(Math.round(mjdTaiToUtcUs(mjd(start + 35.5))! / 1000), start * 1000 - 500);
});

test('what is no time, or far off, is undefined', () => {
  const noNumber = [null, undefined, '61105.09', true, Number.NaN, Number.POSITIVE_INFINITY];
  for (const value of [...noNumber, 0, -1, 41_316, 1e9]) assert.is(mjdTaiToUtcUs(value), undefined, String(value));
  for (const value of [...noNumber, -1, 1e12]) assert.is(unixSecondsToUs(value), undefined, String(value));
  const noText = ['', '2026-13-30 13:55:19', '2026-01-30 25:55:19', '1969-12-31 23:59:59', 'now', 5, null];
  for (const value of noText) assert.is(utcTextToUs(value), undefined, String(value));
});

test('Unix seconds and UTC texts keep their microseconds', () => {
  assert.is(unixSecondsToUs(1772010265), 1772010265000000);
  assert.is(unixSecondsToUs(1772010265.123456), 1772010265123456);
  assert.is(utcTextToUs('2026-01-30 13:55:19'), Date.UTC(2026, 0, 30, 13, 55, 19) * 1000);
  assert.is(utcTextToUs('2026-01-30T13:55:19.0042109Z'), Date.UTC(2026, 0, 30, 13, 55, 19) * 1000 + 4210, 'cut off');
  assert.is(utcTextToUs('2026-01-30 13:55:19+02:00'), Date.UTC(2026, 0, 30, 11, 55, 19) * 1000);
});

test.run();
