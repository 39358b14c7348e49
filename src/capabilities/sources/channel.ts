import { channel } from '../../core/base/channel.ts';
import type { SourcesAnswer } from './near_task.ts';
import type { SourcesAsked } from './nearby_sources.ts';

export const SOURCES = channel<SourcesAsked, SourcesAnswer>('sources');
