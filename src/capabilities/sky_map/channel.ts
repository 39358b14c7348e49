import { channel } from '../../core/base/channel.ts';
import type { SkyMapAnswer } from './map_thread.ts';
import type { SkyMapAsked } from './sky_map.ts';

export const SKY_MAP = channel<SkyMapAsked, SkyMapAnswer>('sky map');
