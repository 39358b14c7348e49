/** The facts about the registered catalogs that determine the tables. */
import { createHash } from 'node:crypto';
import { tableName } from '@nearsky/adql';
import { Catalogs, type DescribedRegistration } from '../../core/contract/catalogs.ts';
import { matchColumns, objectColumns } from '../hats/columns.ts';
import type { Origin } from './edition.ts';
import { INDEXED, settingsOf, tapTables } from './tables.ts';

export function originOf(registrations: readonly DescribedRegistration[]): Origin {
  const registered = registrations.map(described);
  return { key: keyOf(new Catalogs(registered)), registered };
}

/** The part of a registration that editions store. */
function described(registration: DescribedRegistration): DescribedRegistration {
  const { name, definition, release, narrowTypes, leftOut, coverage } = registration;
  return {
    name,
    ...(definition && { definition }),
    ...(release && { release }),
    ...(narrowTypes && { narrowTypes }),
    ...(leftOut && { leftOut }),
    coverage: { order: coverage.order },
  };
}

/** A short string that differs if the catalogs or the tables differ. */
export function keyOf(catalogs: Catalogs): string {
  const tables = tapTables(catalogs).map(table => [tableName(table), table.sql?.(relation => relation)]);
  const relations = [objectColumns(catalogs.all), matchColumns(catalogs.all, 'all'), settingsOf('objects')];
  return createHash('sha256')
    .update(JSON.stringify([catalogs.all, tables, relations, [...INDEXED]]))
    .digest('hex')
    .slice(0, 12);
}
