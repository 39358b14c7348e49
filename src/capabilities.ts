/** The capabilities of the service. To take one away, delete its folder, its folder of tests, and its two lines here. */
import { adql } from './capabilities/adql/mod.ts';
import { archiveConnector } from './capabilities/archive_connector/mod.ts';
import { areas } from './capabilities/areas/mod.ts';
import { backup } from './capabilities/backup/mod.ts';
import { catalogs } from './capabilities/catalogs/mod.ts';
import { connector } from './capabilities/connector/mod.ts';
import { consume } from './capabilities/consume/mod.ts';
import { crossmatch } from './capabilities/crossmatch/mod.ts';
import { demo } from './capabilities/demo/mod.ts';
import { documents } from './capabilities/documents/mod.ts';
import { feeds } from './capabilities/feeds/mod.ts';
import { hats } from './capabilities/hats/mod.ts';
import { ingest } from './capabilities/ingest/mod.ts';
import { jobs } from './capabilities/jobs/mod.ts';
import { listing } from './capabilities/listing/mod.ts';
import { names } from './capabilities/names/mod.ts';
import { nodes } from './capabilities/nodes/mod.ts';
import { objects } from './capabilities/objects/mod.ts';
import { pages } from './capabilities/pages/mod.ts';
import { publish } from './capabilities/publish/mod.ts';
import { recent } from './capabilities/recent/mod.ts';
import { removal } from './capabilities/removal/mod.ts';
import { report } from './capabilities/report/mod.ts';
import { sample } from './capabilities/sample/mod.ts';
import { skyMap } from './capabilities/sky_map/mod.ts';
import { sources } from './capabilities/sources/mod.ts';
import { status } from './capabilities/status/mod.ts';
import { streams } from './capabilities/streams/mod.ts';
import { tableMatch } from './capabilities/table_match/mod.ts';
import { tables } from './capabilities/tables/mod.ts';
import { taskList } from './capabilities/tasks/mod.ts';
import { transfer } from './capabilities/transfer/mod.ts';
import { uploads } from './capabilities/uploads/mod.ts';
import { validation } from './capabilities/validation/mod.ts';
import { vo } from './capabilities/vo/mod.ts';
import { settingTable } from './core/config/config.ts';
import type { Capability } from './core/host.ts';
import { loadOutside } from './core/outside.ts';

/** The capabilities that the specification of the service requires. Operations are documented in this order. */
const SPECIFIED: readonly Capability[] = [
  documents,
  objects,
  names,
  status,
  recent,
  tables,
  taskList,
  connector,
  ingest,
  consume,
  catalogs,
  crossmatch,
];

export const OPTIONAL: readonly Capability[] = [
  uploads,
  jobs,
  streams,
  sources,
  areas,
  listing,
  adql,
  tableMatch,
  skyMap,
  pages,
  vo,
  archiveConnector,
  transfer,
  hats,
  publish,
  report,
  sample,
  feeds,
  validation,
  nodes,
  removal,
  backup,
  demo,
];

const OWN = [...SPECIFIED, ...OPTIONAL];

/** Capabilities from outside. If one cannot be loaded, the error that names it: then nothing may start. */
export const OUTSIDE: readonly Capability[] | Error = await loadOutside(process.env.NEARSKY_CAPABILITIES, OWN).catch(
  error => error,
);

export const CAPABILITIES: readonly Capability[] = [...OWN, ...(OUTSIDE instanceof Error ? [] : OUTSIDE)];

/** All settings of the service. */
export const SETTINGS = settingTable(CAPABILITIES.flatMap(({ settings }) => settings ?? []));
