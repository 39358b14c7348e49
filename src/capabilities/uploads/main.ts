import type { PartOf } from '../../core/host.ts';
import { sweepSpool } from './spool.ts';
import { uploadsOf } from './uploads.ts';

export const part: PartOf = host => {
  sweepSpool(host.config.NEARSKY_DATA);
  const { reading, childMemory } = uploadsOf(host);
  return {
    close() {
      reading.close();
      childMemory.close();
    },
  };
};
