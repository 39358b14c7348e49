/** A table to which the pages of a walk are written, one after another. */
import { ByteSink } from '../base/bytes.ts';
import type { ObjectTable } from '../tables/object_table.ts';
import type { TableWriter } from '../tables/table_writer.ts';
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
