import { MAX_FOLLOWED_BYTES } from '../../core/contract/limits.ts';
import type { PartOf } from '../../core/host.ts';
import { AreaSlots, FOLLOW_AREA } from './area_slots.ts';

export const part: PartOf = ({ config, lend }) => {
  const slots = new AreaSlots(config.NEARSKY_MAX_STREAM_AREAS, MAX_FOLLOWED_BYTES);
  lend(
    FOLLOW_AREA,
    asked => slots.enter(asked),
    slot => slots.leave(slot),
  );
  return {};
};
