import type { PartOf } from '../../core/host.ts';
import { SKY_MAP } from './channel.ts';
import { SkyMap } from './sky_map.ts';

export const part: PartOf = host => {
  const map = new SkyMap({ dataDir: host.config.NEARSKY_DATA, log: host.log, admission: host.admission });
  host.answer(SKY_MAP, (query, budget) => map.answer(query, budget));
  return map;
};
