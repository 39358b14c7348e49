import { channel } from '../../core/base/channel.ts';
import type { TapAnswer, TapStep } from './tap.ts';

export const TAP = channel<TapStep, TapAnswer>('tap');
