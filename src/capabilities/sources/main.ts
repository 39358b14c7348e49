import type { PartOf } from '../../core/host.ts';
import { SOURCES } from './channel.ts';
import { NearbySources } from './nearby_sources.ts';

export const part: PartOf = ({ config, log, admission, answer }) => {
  const sources = new NearbySources(config, log, admission);
  answer(SOURCES, (query, budget) => sources.near(query, budget));
  return sources;
};
