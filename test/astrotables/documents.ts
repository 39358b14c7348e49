/** VOTables of rows of every type. */
import { type Column, type ColumnType, type Row, type Serialization, VotableWriter } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';

export const TYPES: readonly ColumnType[] = ['int64', 'int32', 'float64', 'boolean', 'text', 'time'];
export const SERIALIZATIONS: readonly Serialization[] = ['tabledata', 'binary2'];

export function columnsOf(types: readonly ColumnType[]): Column[] {
  return types.map((type, i) => ({ name: `c${i}`, type, description: `Column ${i} & "more" <of it>` }));
}

export function document(
  columns: readonly Column[],
  rows: readonly Row[],
  how: Serialization,
  pieces: string[] = [],
): string {
  const out = new ByteSink();
  const take = () => {
    pieces.push(Buffer.from(out.bytes.subarray(0, out.length)).toString('latin1'));
    out.length = 0;
  };
  const writer = new VotableWriter(out, { name: 'hostile', description: 'A <table> & "more"', columns }, how);
  writer.begin();
  take();
  // Some of them a row at a time, the others as columns.
  const middle = Math.ceil(rows.length / 2);
  for (const row of rows.slice(0, middle)) {
    writer.row(row);
    take();
  }
  const rest = rows.slice(middle);
  if (rest.length > 0) writer.block(columns.map((_, i) => rest.map(cells => cells[i]!)));
  take();
  writer.end('OVERFLOW');
  take();
  return pieces.join('');
}

/** A table with every type, its rows among them the extremes. */
export function everyType(): { columns: Column[]; rows: Row[] } {
  const columns = columnsOf(TYPES).map((column, i) => ({
    ...column,
    ...(i === 2 && { unit: 'deg', ucd: 'pos.eq.ra;meta.main' }),
  }));
  const time = 1_767_225_600_123_456;
  const rows: Row[] = [
    [2n ** 63n - 1n, 2 ** 31 - 1, -0, true, `<&>"'é 🔭`, time],
    [-(2n ** 63n), -(2 ** 31), 1.7976931348623157e308, false, 'ASCII', 0],
    [2n ** 53n + 1n, 0, Number.NaN, null, null, null],
    [null, null, Number.NEGATIVE_INFINITY, null, 'in  it', time],
    [0n, null, null, true, 'a\nb', time],
  ];
  return { columns, rows };
}
