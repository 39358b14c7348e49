import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import type { AboutReport } from './options.ts';
import type { SampleRow } from './rows.ts';
import type { reportHead, reportTail } from './sample_task.ts';

/** A finished report. */
export interface WholeReport extends ReturnType<typeof reportHead>, ReturnType<typeof reportTail> {
  readonly date: AboutReport['date'];
  /** The catalogs that it is on. */
  readonly catalogs: readonly CatalogDefinition[];
  /** @param index less than `count` */
  row(index: number): SampleRow;
}
