/** Describes a table as the service lists it. */
import type { DescribedTable } from '@nearsky/adql';

/** A table as its users see it. */
export interface ListedTable extends DescribedTable {
  readonly refers: readonly ForeignKey[];
  /** The names of the most important columns, if they differ from those of other tables. */
  readonly principal?: ReadonlySet<string>;
}

/** A column whose values occur in a column of another table. */
export interface ForeignKey {
  readonly from: string;
  /** The table's name with its schema. */
  readonly table: string;
  readonly target: string;
}
