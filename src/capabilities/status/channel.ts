import { channel } from '../../core/base/channel.ts';

export const METRICS = channel<null, string>('metrics');
