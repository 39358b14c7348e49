/** The settings of the service and of a crossmatch, as answers and records contain them. */

import type { Config } from '../config/config.ts';
import { BROKER_NAMES, type BrokerName, brokerSetting, declaringBrokers } from '../contract/brokers.ts';
import { radiusColumnText } from '../contract/catalog.ts';
import { type CatalogDefinition, type Catalogs, PROJECT_CATALOGS } from '../contract/catalogs.ts';
import type { CatalogRelease, ProvenanceSet, ReliabilityCut } from './types.ts';

/** The version of the contract (docs/contract.md) that the service implements. */
export const CONTRACT_VERSION = '1.0.0';
/** The service release from which provenance is recorded with each crossmatch. */
export const PROVENANCE_RECORDING_RELEASE = '0.15.0';

/** The `provenance` block of every enveloped answer; keys as on the wire. */
export interface Provenance extends ProvenanceSet {
  readonly service_version: string;
  readonly contract_version: string;
}

/** The service's settings that answers contain; each thread gets them when it starts. */
export interface AnswerSettings {
  readonly catalogs: Catalogs;
  /** The `provenance` block of every answer; keys as on the wire. */
  readonly provenance: Provenance;
  /** The first release that recorded provenance with each crossmatch. */
  readonly recordingRelease: string;
  /** `{name}` stands for the bare designation. */
  readonly tnsUrlTemplate: string;
  /** The maximum age, seconds, inclusive, of a registry snapshot that may resolve names. */
  readonly tnsSnapshotMaxAgeSeconds: number;
}

/** The current settings as the `provenance` block of an answer. */
export function currentProvenance(config: Config, catalogs = PROJECT_CATALOGS): Provenance {
  return {
    service_version: config.APP_VERSION,
    contract_version: CONTRACT_VERSION,
    ...provenanceSetOf(config, catalogs),
  };
}

/** The current settings as they are recorded with a crossmatch. */
export function provenanceSetOf(config: Config, catalogs = PROJECT_CATALOGS): ProvenanceSet {
  return {
    crossmatch_radius_arcsec: config.CROSSMATCH_RADIUS_ARCSEC,
    catalogs: releasesOf(catalogs, config.CROSSMATCH_PROPER_MOTION),
    reliability_cuts: BROKER_NAMES.map(name => cutOf(name, config)),
  };
}

/** @param areMoved whether crossmatches move the sources of catalogs with proper motions */
export function releasesOf({ all }: Catalogs, areMoved: boolean): CatalogRelease[] {
  return all.map(catalog => releaseOf(catalog, areMoved && catalog.motion !== undefined));
}

/** A catalog's entry in the provenance. */
export function releaseOf(
  { name, release, radius }: Pick<CatalogDefinition, 'name' | 'release' | 'radius'>,
  isMoved: boolean,
): CatalogRelease {
  const column = radius && radiusColumnText(radius);
  return {
    name,
    release,
    ...(isMoved && { proper_motion: true }),
    ...(radius && { radius_arcsec: radius.arcsec }),
    ...(column !== undefined && { radius_column: column }),
  };
}

/** Whether two crossmatches used a catalog in the same way, whatever its release. */
export function isUsedAlike(a: CatalogRelease, b: CatalogRelease): boolean {
  return (
    a.proper_motion === b.proper_motion && a.radius_arcsec === b.radius_arcsec && a.radius_column === b.radius_column
  );
}

function cutOf(name: BrokerName, config: Config): ReliabilityCut {
  const declaring = declaringBrokers.find(broker => broker.name === name);
  if (declaring) {
    const value = config[brokerSetting(declaring.name, 'DECLARED_MIN_RELIABILITY')];
    return declaredCut(name, value, config[brokerSetting(declaring.name, 'DECLARED_MIN_RELIABILITY_AS_OF')]);
  }
  return {
    broker: name,
    min_reliability: config.MIN_DIASOURCE_RELIABILITY,
    enforced_by: 'service',
    status: 'service_setting',
    as_of: null,
  };
}

/** The minimum reliability of a broker. It is declared only if both its value and its date are set. */
function declaredCut(broker: string, value: number | null, asOf: string | null): ReliabilityCut {
  const declared = value !== null && asOf !== null;
  return {
    broker,
    min_reliability: declared ? value : null,
    enforced_by: 'broker',
    status: declared ? 'declared' : 'not_declared',
    as_of: declared ? asOf : null,
  };
}

/** The service's settings that answers contain. */
export function answerSettings(config: Config, catalogs = PROJECT_CATALOGS): AnswerSettings {
  return {
    catalogs,
    provenance: currentProvenance(config, catalogs),
    recordingRelease: PROVENANCE_RECORDING_RELEASE,
    tnsUrlTemplate: config.TNS_OBJECT_URL_TEMPLATE,
    tnsSnapshotMaxAgeSeconds: config.TNS_SNAPSHOT_MAX_AGE_SECONDS,
  };
}
