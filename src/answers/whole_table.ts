/** A table to which the pages of a walk are written, one after another. */

import type { TableWriter } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import type { ObjectTable } from '../tables/object_table.ts';
import type { ReadArea } from '../vo/areas.ts';

export class WholeTable {
  /** The part that is not sent yet. */
  readonly out = new ByteSink();
  /** The columns and the writer, from the first page on. A catalog that is added later does not change the columns. */
  begun: { readonly table: ObjectTable; readonly writer: TableWriter } | undefined;
  /** The number of written rows. A page of which a row was written cannot be written again. */
  rows = 0;
  /** The area of the walk, read once. */
  area: ReadArea | undefined;
}
