import type { PartOf } from '../../core/host.ts';
import { uploadsOf } from '../uploads/uploads.ts';
import { AREA } from './area_channel.ts';
import { AreaReader } from './area_reader.ts';

export const part: PartOf = host => {
  const areas = new AreaReader(host.log, uploadsOf(host).reading);
  host.answer(AREA, async (asked, budget) => (await areas.read(asked, budget)) ?? null);
  return {};
};
