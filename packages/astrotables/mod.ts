/** Tables of astronomers: opened in the format that their bytes show, with units and frames, and written in any of their formats. */
export {
  type Cell,
  CellError,
  type Column,
  type ColumnService,
  type ColumnType,
  checkBlock,
  MAX_COLUMNS,
  MAX_ROW_BYTES,
  type Row,
  type Table,
  withOwnNames,
} from './columns.ts';
export type { TableFormat } from './formats.ts';
export { readEpochs } from './read/epochs.ts';
export {
  type Block,
  blocksOf,
  checkTimes,
  type DeclaredFrame,
  type DescribedTable,
  distinctName,
  type InputTable,
  outOfYears,
  type PositionParam,
  TableError,
  type TableLimits,
  withColumns,
} from './read/input_table.ts';
export { describeParquet, openQuickTable, openTable } from './read/open.ts';
export type { FrameSource } from './read/position_frame.ts';
export {
  findPositions,
  type NamedColumns,
  type PositionColumns,
  type Positions,
  positionReader,
  readPositionErrors,
  readPositions,
  withFrames,
  withIcrs,
} from './read/positions.ts';
export { beginCsv, type CsvWriter } from './write/csv.ts';
export { beginFits, type FitsRows } from './write/fits.ts';
export { type About, type BeginTable, rowByRow, type TableWriter } from './write/table_writer.ts';
export {
  type Datatype,
  datatypeOf,
  type Info,
  type Serialization,
  VOTABLE_TYPE,
  VotableWriter,
  votableError,
} from './write/votable.ts';
export { escapeXml } from './write/xml.ts';
export { tableFormat } from './writers.ts';
