import type { Target } from './target.ts';
import { queries } from './targets/adql.ts';
import { alerts } from './targets/alerts.ts';
import { catalogs } from './targets/catalogs.ts';
import { requests } from './targets/requests.ts';
import { service } from './targets/service.ts';
import { stored } from './targets/stored.ts';
import { tables } from './targets/tables.ts';
import { transients } from './targets/transients.ts';

export const TARGETS: readonly Target[] = [
  ...alerts,
  ...catalogs,
  ...queries,
  ...requests,
  ...service,
  ...stored,
  ...tables,
  ...transients,
];
