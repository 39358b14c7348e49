/** A data directory with an object in every state that the service can hold, as the lines of an import. Positions are near (150, 2). */

const PROVENANCE = {
  crossmatch_radius_arcsec: 1,
  catalogs: [
    { name: 'gaia_dr3', release: 'Gaia DR3' },
    { name: 'des_y6_gold', release: 'DES Y6 Gold' },
  ],
  reliability_cuts: [
    { broker: 'antares', min_reliability: 0.5, enforced_by: 'broker', status: 'declared', as_of: '2026-01-02' },
    { broker: 'lasair', min_reliability: null, enforced_by: 'broker', status: 'not_declared', as_of: null },
    { broker: 'pittgoogle', min_reliability: 0.6, enforced_by: 'service', status: 'service_setting', as_of: null },
  ],
};

const CROSSMATCHED_AT = '2026-10-07T10:00:00.000001+00:00';

/** ISO 8601 with microseconds, UTC. */
function time(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, -1)}000+00:00`;
}

const NOW = Math.floor(Date.now() / 1000);

function object(diaObjectId: string, fields: object = {}) {
  const ingested = time(NOW - 600 + Number(diaObjectId.slice(-2)));
  return {
    type: 'object',
    diaObjectId,
    ra: 150,
    dec: 2,
    reliability: 0.75,
    ingest_time: ingested,
    event_time: ingested,
    state: 'crossmatched',
    brokers: ['antares', 'lasair'],
    ...fields,
  };
}

function record(diaObjectId: string, catalog_outcomes: Record<string, string>, provenance: object = PROVENANCE) {
  return {
    type: 'crossmatch_record',
    diaObjectId,
    match_version: 1,
    crossmatched_at: CROSSMATCHED_AT,
    brokers_at_crossmatch: ['antares'],
    catalog_outcomes,
    provenance,
  };
}

const STATISTICS = {
  version: 2,
  source_density: 12.3,
  sources_within_radius: 2,
  second_separation_arcsec: 0.75,
  combined_error_mas: 200,
  ln_weight_ratio: 0.15,
  prior_completeness: 1,
};

function match(diaObjectId: string, catalog_name: string, catalog_payload: object | null) {
  return {
    type: 'match',
    diaObjectId,
    match_version: 1,
    catalog_name,
    catalog_source_id: `4${diaObjectId.slice(-3)}`,
    separation_arcsec: 0.25,
    ra: 150,
    dec: 2.00005,
    catalog_payload,
    ...(catalog_payload && { statistics: STATISTICS }),
  };
}

function association(diaObjectId: string, fields: object) {
  return {
    type: 'tns_association',
    diaObjectId,
    checked: true,
    snapshot_epoch: CROSSMATCHED_AT,
    objid: null,
    name: null,
    name_prefix: null,
    classification: null,
    redshift: null,
    separation_arcsec: null,
    ...fields,
  };
}

function registered(objid: number, name: string, dec: number, fields: object = {}) {
  return {
    type: 'tns_object',
    objid,
    name,
    ra: 150,
    dec,
    name_prefix: null,
    classification: null,
    redshift: null,
    ...fields,
  };
}

/** The ids, by the special property of their objects. */
export const IDS = {
  pending: '101',
  matched: '9223372036854775802',
  unmatched: '103',
  invalidPosition: '104',
  unrecorded: '105',
  partly: '106',
  unreliable: '107',
  adrift: '108',
  again: '109',
  unknown: '999',
} as const;

export const NAMES = { found: 'SN 2026abc', bare: '2026abd', nothingThere: '2026zzz', unknown: '2026qqq' } as const;

const { pending, matched, unmatched, invalidPosition, unrecorded, partly, unreliable, adrift, again } = IDS;
const SUPERNOVA = { objid: 7, name: '2026abc', name_prefix: 'SN', classification: 'SN Ia', redshift: 0.1 };

const OBJECTS = [
  object(pending, { state: 'pending' }),
  // Will be crossmatched again.
  object(again, { state: 'pending', reliability: null }),
  record(again, { gaia_dr3: 'searched' }),
  match(again, 'gaia_dr3', null),
  object(matched),
  record(matched, {
    gaia_dr3: 'searched',
    des_y6_gold: 'searched',
    delve_dr3_gold: 'searched',
    skymapper_dr4: 'searched',
  }),
  match(matched, 'gaia_dr3', { ruwe: 1.5, parallax: 5, parallax_error: 0.5 }),
  match(matched, 'des_y6_gold', { dnf_z: 0.3, ext_mash: 4 }),
  association(matched, { ...SUPERNOVA, separation_arcsec: 0.5 }),
  object(unmatched),
  record(unmatched, { gaia_dr3: 'searched', des_y6_gold: 'outside_footprint', skymapper_dr4: 'skipped_read_failure' }),
  association(unmatched, {}),
  object(invalidPosition, { ra: null, dec: null }),
  record(invalidPosition, { gaia_dr3: 'not_searched_invalid_position' }),
  object(unrecorded),
  match(unrecorded, 'gaia_dr3', null),
  association(unrecorded, { name: '2026abd', checked: true, snapshot_epoch: null }),
  object(partly),
  record(partly, { gaia_dr3: 'searched' }, { ...PROVENANCE, crossmatch_radius_arcsec: null }),
  association(partly, { checked: false, snapshot_epoch: null }),
  object(adrift, { ra: null, dec: null }),
  match(adrift, 'gaia_dr3', {}),
  object(unreliable, { reliability: null, state: 'pending' }),
];

/** @param registryAgeSeconds of the TNS snapshot; without it there is no registry */
export function worldLines(registryAgeSeconds?: number): string[] {
  const registry =
    registryAgeSeconds === undefined
      ? []
      : [
          { type: 'tns_snapshot', epoch: time(NOW - registryAgeSeconds) },
          registered(7, '2026abc', 2, SUPERNOVA),
          registered(8, '2026abd', 2),
          registered(9, '2026zzz', -60),
        ];
  return [...OBJECTS, ...registry].map(line => JSON.stringify(line));
}
