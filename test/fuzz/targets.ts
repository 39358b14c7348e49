import type { Target } from './target.ts';
import { alerts } from './targets/alerts.ts';
import { catalogs } from './targets/catalogs.ts';
import { requests } from './targets/requests.ts';
import { service } from './targets/service.ts';
import { stored } from './targets/stored.ts';
import { transients } from './targets/transients.ts';

export const TARGETS: readonly Target[] = [...alerts, ...catalogs, ...requests, ...service, ...stored, ...transients];
