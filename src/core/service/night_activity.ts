/** What arrived in a night, and what was done with it. */
import { formatTime } from '../base/times.ts';
import { latestNight, type NightCounts, nightAfter, nightStartUs, readNight } from '../store/nights.ts';
import type { StoreReader } from '../store/store_reader.ts';

/** The part of a report that anyone may read. */
export interface NightActivity extends NightCounts {
  readonly night: string;
  readonly start: string;
  readonly end: string;
  /** The end of the night, or now if the night has not ended. */
  readonly is_over: boolean;
}

/** @param night by default the latest one that has reached dusk */
export function nightActivity(store: StoreReader, nowUs: number, night = latestNight(nowUs)): NightActivity {
  const end = nightStartUs(nightAfter(night, 1));
  return {
    night,
    start: formatTime(nightStartUs(night)),
    end: formatTime(end),
    is_over: nowUs >= end,
    ...readNight(store.databases, night),
  };
}
