/** Reads a list of transients from a table. This is the task of a process that reads uploads. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type Cell,
  findPositions,
  type InputTable,
  type PositionColumns,
  readPositions,
  TableError,
} from '@nearsky/astrotables';
import { isPosition, wrapRa } from '@nearsky/sky-index';
import { requireSpareBytes } from '../../core/base/disk.ts';
import type { RaUnit } from '../../core/contract/table_match.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { hoursWarning, withRaUnit } from '../jobs/ra_unit.ts';
import { openSent, refusalOf, type TableInput, type TableRefusal } from '../jobs/table_task.ts';
import { MAX_LABEL } from './limits.ts';

/** The columns that a request names. */
export interface ListColumns {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly ra?: string | undefined;
  readonly dec?: string | undefined;
  readonly frame?: string | undefined;
  readonly raUnit?: RaUnit | undefined;
}

export interface ListTask extends Task<ListRead>, TableInput {
  readonly module: 'src/capabilities/sample/list_task';
  readonly kind: 'readList';
  readonly columns: ListColumns;
  /** The path for the inputs, which are JSON, one a line: see `ListedInput`. */
  readonly inputs: string;
}

export type ListRead =
  | {
      readonly outcome: 'read';
      readonly rows: number;
      /** Set if the positions look like hours, and were taken for degrees. */
      readonly warning?: string;
    }
  | TableRefusal;

/** A row of the list: an id, else a position (ICRS degrees), else a name, else what is wrong. */
export interface ListedInput {
  readonly id?: string;
  readonly ra?: number;
  readonly dec?: number;
  readonly name?: string;
  readonly wrong?: string;
  readonly label?: string;
}

const ID_NAMES = ['diaobjectid', 'diaobjectidstr', 'nearskydiaobjectid', 'objectid'];
const LABEL_NAMES = ['tnsname', 'iauname', 'name', 'objname', 'sn', 'transient', 'label', 'target', 'id'];
/** The maximum number of bytes that are gathered before they are written. */
const WRITTEN_BYTES = 1 << 20;

export const tasks: Tasks<ListTask> = { readList: runReadList };

async function runReadList(task: ListTask): Promise<ListRead> {
  try {
    return { outcome: 'read', ...(await readList(task)) };
  } catch (error) {
    return refusalOf(error);
  }
}

async function readList(task: ListTask): Promise<{ readonly rows: number; readonly warning?: string }> {
  const { inputs, columns } = task;
  // Ids keep their digits as text, and numbers stay numbers.
  const table = withRaUnit(await openSent(task, true), columns.raUnit, columns);
  const id = columnOf(table, columns.id, ID_NAMES);
  const name = columnOf(table, columns.name, LABEL_NAMES);
  if (id !== undefined && table.columns[id]!.type === 'float64')
    throw new TableError(`its column ${table.columns[id]!.name} has ids as floating-point numbers, which lose digits`);
  const placed = positionsOf(table, columns, id === undefined && name === undefined);
  const positions = placed && (await readPositions(table, placed));
  const warning = positions && hoursWarning(table, placed, positions);
  const file = openSync(inputs, 'w', 0o600);
  try {
    let text = '';
    const write = () => {
      const bytes = Buffer.from(text);
      requireSpareBytes(dirname(inputs), bytes.length);
      writeSync(file, bytes);
      text = '';
    };
    const wanted = [id, name].filter(column => column !== undefined);
    let row = 0;
    // A table needs a column to have blocks.
    for await (const { rows, cells } of table.blocks(wanted.length > 0 ? wanted : [0])) {
      for (let i = 0; i < rows; i++, row++) {
        const idCell = id === undefined ? null : cells[0]![i]!;
        const nameCell = name === undefined ? null : cells[wanted.indexOf(name)]![i]!;
        const place = positions && { ra: wrapRa(positions.ra[row]!), dec: positions.dec[row]! };
        // For readline, these two end a line.
        text += `${JSON.stringify(inputOf(idCell, nameCell, place)).replace(/[\u2028\u2029]/g, ' ')}\n`;
        if (text.length > WRITTEN_BYTES) write();
      }
    }
    write();
  } finally {
    closeSync(file);
  }
  return { rows: table.rows, ...(warning !== undefined && { warning }) };
}

/** The named column, or the first one with a usual name. */
function columnOf(table: InputTable, named: string | undefined, usual: readonly string[]): number | undefined {
  if (named !== undefined) {
    const found = table.columns.findIndex(({ name }) => name === named);
    if (found < 0) throw new TableError(`it has no column ${named.slice(0, 64)}`);
    return found;
  }
  const plain = table.columns.map(({ name }) => name.toLowerCase().replace(/[^a-z]/g, ''));
  const found = usual.map(name => plain.indexOf(name)).find(column => column >= 0);
  return found;
}

/** @throws TableError if there is no position, and one is needed or asked for */
function positionsOf(table: InputTable, columns: ListColumns, isNeeded: boolean): PositionColumns | undefined {
  const { ra, dec, frame } = columns;
  try {
    return findPositions(table, { ra, dec, frame });
  } catch (error) {
    if (isNeeded || ra !== undefined || dec !== undefined || frame !== undefined) throw error;
    if (error instanceof TableError) return undefined;
    throw error;
  }
}

function inputOf(id: Cell, name: Cell, place: { readonly ra: number; readonly dec: number } | undefined): ListedInput {
  const label = name === null || `${name}` === '' ? {} : { label: `${name}`.slice(0, MAX_LABEL) };
  if (id !== null && `${id}` !== '') return { id: `${id}`, ...label };
  if (place && isPosition(place.ra, place.dec)) return { ...place, ...label };
  if (label.label !== undefined && (!place || Number.isNaN(place.ra))) return { name: label.label, ...label };
  return { wrong: place ? 'the row has no valid position' : 'the row has neither an id nor a name', ...label };
}
