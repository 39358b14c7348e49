import type { PartOf } from '../../core/host.ts';
import { AREA } from './area_channel.ts';
import { AreaReader } from './area_reader.ts';

export const part: PartOf = ({ log, reading, answer }) => {
  const areas = new AreaReader(log, reading);
  answer(AREA, async (asked, budget) => (await areas.read(asked, budget)) ?? null);
  return {};
};
