/** The databases of the environment, by name. docs/design.md describes each one. */
import type { Table } from './table.ts';

export const DATABASE_NAMES = [
  'meta',
  'objects',
  'history',
  'sources',
  'pending',
  'unread',
  'claims',
  'journal',
  'positions',
  'provenance_sets',
  'payload_keys',
  'catalogs',
  'recent_ingest',
  'recent_event',
  'objects_by_ingest',
  'objects_by_event',
  'matches_by_source',
  'tns_objects',
  'tns_names',
] as const;

export type DatabaseName = (typeof DATABASE_NAMES)[number];
export type Databases = Readonly<Record<DatabaseName, Table>>;
