import { channel } from '../base/channel.ts';

export const METRICS = channel<null, string>('metrics');
