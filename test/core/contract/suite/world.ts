/**
 * The data for the suite: an object in every state that the service can hold, as lines of an import. It is always the
 * same, except for the epoch of the registry's snapshot, which must be recent when the suite runs: see `snapshotLine`.
 */

export const RADIUS_ARCSEC = 10;

/** Positions in degrees, further apart than the radius of any search. */
export const PLACES = {
  states: { ra: 150, dec: 2 },
  crowd: { ra: 200, dec: -30 },
  seam: { ra: 0, dec: 10 },
  pole: { ra: 0, dec: 90 },
  empty: { ra: 20, dec: -60 },
} as const;

/**
 * The ids by the special property of their objects, in order of ingest. All but `invalidPosition` are at
 * `PLACES.states`.
 */
export const IDS = {
  leftover: '170055002004914001',
  matched: '170055002004914002',
  unmatched: '170055002004914003',
  invalidPosition: '170055002004914004',
  unrecorded: '170055002004914005',
  unrecordedEmpty: '170055002004914006',
  skipped: '170055002004914007',
  unreliable: '170055002004914008',
  recrossmatched: '170055002004914009',
  retired: '170055002004914010',
  broken: '170055002004914011',
  largest: '9223372036854775807',
  small: '3',
} as const;

/** An unused id, beyond what a double can hold. */
export const UNKNOWN_ID = '170055002004914999';

export const CROWD_SIZE = 130;
/** A window that contains the whole world. */
export const WINDOW = { start: '2026-03-01T00:00:00+00:00', end: '2026-03-03T00:00:00+00:00' } as const;
const WINDOW_START_US = Date.UTC(2026, 2, 1) * 1000;

export const NAMES = { states: '2026abc', crowd: '2026crd', nothingThere: '2026zzz', tie: '2026tie' } as const;

/** ISO 8601, UTC, six digits. */
function time(timeUs: number): string {
  const micros = `${timeUs % 1e6}`.padStart(6, '0');
  return `${new Date(Math.floor(timeUs / 1e6) * 1000).toISOString().slice(0, 19)}.${micros}+00:00`;
}

const PROVENANCE = {
  crossmatch_radius_arcsec: 0.75,
  catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR3' }],
  reliability_cuts: [
    { broker: 'antares', min_reliability: 0.5, enforced_by: 'broker', status: 'declared', as_of: '2026-01-02' },
    { broker: 'lasair', min_reliability: null, enforced_by: 'broker', status: 'not_declared', as_of: null },
    { broker: 'pittgoogle', min_reliability: 0.55, enforced_by: 'service', status: 'service_setting', as_of: null },
  ],
};
/** The second provenance of `recrossmatched`. */
const LATER_PROVENANCE = { ...PROVENANCE, crossmatch_radius_arcsec: 1 };

type Line = Readonly<Record<string, unknown>>;

function object(diaObjectId: string, ingestUs: number, fields: Line = {}): Line {
  return {
    type: 'object',
    diaObjectId,
    ra: PLACES.states.ra,
    dec: PLACES.states.dec,
    reliability: 0.75,
    ingest_time: time(ingestUs),
    event_time: time(ingestUs + 1e6),
    state: 'crossmatched',
    brokers: ['lasair', 'antares'],
    ...fields,
  };
}

function record(diaObjectId: string, catalog_outcomes: Record<string, string>, fields: Line = {}): Line {
  return {
    type: 'crossmatch_record',
    diaObjectId,
    match_version: 1,
    crossmatched_at: '2026-03-01T12:00:00.000001+00:00',
    brokers_at_crossmatch: ['lasair'],
    catalog_outcomes,
    provenance: PROVENANCE,
    ...fields,
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

function match(diaObjectId: string, catalog_name: string, catalog_source_id: string, fields: Line = {}): Line {
  return {
    type: 'match',
    diaObjectId,
    match_version: 1,
    catalog_name,
    catalog_source_id,
    separation_arcsec: 0.25,
    ra: 150.00001,
    dec: 2.00005,
    catalog_payload: null,
    ...fields,
  };
}

function association(diaObjectId: string, fields: Line = {}): Line {
  return {
    type: 'tns_association',
    diaObjectId,
    checked: true,
    snapshot_epoch: '2026-03-01T11:00:00.000000+00:00',
    objid: null,
    name: null,
    name_prefix: null,
    classification: null,
    redshift: null,
    separation_arcsec: null,
    ...fields,
  };
}

function registered(objid: number, name: string, place: { ra: number; dec: number }, fields: Line = {}): Line {
  return {
    type: 'tns_object',
    objid,
    name,
    name_prefix: 'AT',
    ra: place.ra,
    dec: place.dec,
    classification: null,
    redshift: null,
    ...fields,
  };
}

const everywhere = (outcome: string) =>
  Object.fromEntries(['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'].map(name => [name, outcome]));

/** The payloads of `matched`. Of its two Gaia sources only the nearer one counts. */
export const PAYLOADS = {
  gaia10: { parallax: 5, parallax_error: 0.5, pmra: -3.5, pmdec: 2, ruwe: 1.5, classprob_dsc_combmod_star: 0.9 },
  gaia9: { parallax: -5, parallax_error: 0.5, pmra: 0, pmdec: null, ruwe: 0.9, classprob_dsc_combmod_star: 0.1 },
  des: { dnf_z: 0.3, dnf_zsigma: 0.02, ext_mash: 4, flags_gold: 0 },
} as const;

const SUPERNOVA = { name: '2026abc', name_prefix: 'SN', classification: 'SN Ia', redshift: 0.1 };

function states(): Line[] {
  const ids = Object.values(IDS);
  const at = (id: string, fields: Line = {}) => {
    const n = ids.indexOf(id as (typeof ids)[number]);
    // A whole second, except for the first crossmatch: answers omit a fraction of zero.
    return object(id, WINDOW_START_US + (n + 1) * 1e6 + (n === 0 ? 4210 : 0), {
      dec: PLACES.states.dec + n * 1e-4,
      ...fields,
    });
  };
  const { matched, recrossmatched, broken } = IDS;
  return [
    at(IDS.leftover, { state: 'pending' }),
    match(IDS.leftover, 'gaia_dr3', '4'),
    at(matched),
    record(matched, everywhere('searched')),
    match(matched, 'skymapper_dr4', '8', { catalog_payload: { CLASS_STAR: 0.5, NGOOD: '12345678901234567890' } }),
    match(matched, 'gaia_dr3', '9', { separation_arcsec: 0.75, catalog_payload: PAYLOADS.gaia9 }),
    match(matched, 'gaia_dr3', '10', { statistics: STATISTICS, catalog_payload: PAYLOADS.gaia10 }),
    match(matched, 'des_y6_gold', '9007199254740993', {
      separation_arcsec: 0.5,
      catalog_payload: { DNF_Z: 0.3, DNF_ZSIGMA: 0.02, EXT_MASH: 4, FLAGS_GOLD: 0 },
    }),
    match(matched, 'delve_dr3_gold', '5', { catalog_payload: { DNF_Z: '0.3', EXT_MASH: null } }),
    association(matched, { ...SUPERNOVA, objid: 11, separation_arcsec: 0.36 }),
    at(IDS.unmatched),
    record(IDS.unmatched, everywhere('searched')),
    association(IDS.unmatched),
    at(IDS.invalidPosition, { ra: null, dec: null }),
    record(IDS.invalidPosition, everywhere('not_searched_invalid_position')),
    at(IDS.unrecorded),
    match(IDS.unrecorded, 'gaia_dr3', '6'),
    at(IDS.unrecordedEmpty),
    at(IDS.skipped),
    record(IDS.skipped, { ...everywhere('outside_footprint'), gaia_dr3: 'skipped_read_failure' }),
    association(IDS.skipped, { checked: false, snapshot_epoch: null }),
    at(IDS.unreliable, { reliability: null }),
    record(IDS.unreliable, everywhere('searched')),
    match(IDS.unreliable, 'gaia_dr3', '12', { catalog_payload: { parallax: 5, parallax_error: 0 } }),
    at(recrossmatched),
    record(recrossmatched, { gaia_dr3: 'searched' }),
    record(recrossmatched, everywhere('searched'), { match_version: 2, provenance: LATER_PROVENANCE }),
    match(recrossmatched, 'gaia_dr3', '13', { separation_arcsec: 0.5 }),
    // The newest crossmatch did not find it again, so it is history.
    match(recrossmatched, 'des_y6_gold', '77', { separation_arcsec: 0.05 }),
    match(recrossmatched, 'gaia_dr3', '13', { match_version: 2, separation_arcsec: 0.125 }),
    at(IDS.retired),
    record(IDS.retired, { old_survey: 'outside_footprint', gaia_dr3: 'searched' }),
    at(broken),
    record(broken, everywhere('searched')),
    match(broken, 'gaia_dr3', '14', { ra: null, dec: null }),
    at(IDS.largest, { state: 'pending' }),
    at(IDS.small, { state: 'pending', brokers: [] }),
  ];
}

/** Whether the nth of the crowd has a match. */
const hasMatch = (n: number) => n % 3 === 0;

/** Groups of seven have the same times; ids are in a different order than times. */
function crowd(): Line[] {
  return Array.from({ length: CROWD_SIZE }, (_, n) => {
    const id = `${170100000000000000n + BigInt((n * 37) % CROWD_SIZE)}`;
    const place = { ra: PLACES.crowd.ra, dec: PLACES.crowd.dec + n * 1e-5 };
    const ingestUs = WINDOW_START_US + 3600e6 + Math.floor(n / 7);
    const eventUs = WINDOW_START_US + 7200e6 - Math.floor(n / 5);
    const fields = { ...place, event_time: time(eventUs), reliability: n / CROWD_SIZE };
    if (!hasMatch(n)) return [object(id, ingestUs, { ...fields, state: 'pending' })];
    const payload = { catalog_payload: { ruwe: n } };
    return [object(id, ingestUs, fields), record(id, { gaia_dr3: 'searched' }), match(id, 'gaia_dr3', `${n}`, payload)];
  }).flat();
}

function edges(): Line[] {
  const places = [
    { ra: 359.9999, dec: 10 },
    { ra: 0.0001, dec: 10 },
    { ra: 10, dec: 89.9999 },
    { ra: 190, dec: 89.9999 },
  ];
  return places.map((place, n) =>
    object(`17020000000000000${n}`, WINDOW_START_US + 7200e6 + n, { ...place, state: 'pending' }),
  );
}

/** One line of an import each, without the snapshot's. */
export function worldLines(): string[] {
  const registry = [
    registered(11, '2026abc', PLACES.states, SUPERNOVA),
    registered(21, '2026crd', PLACES.crowd),
    registered(31, '2026zzz', PLACES.empty),
    registered(42, '2026Tie', PLACES.empty),
    registered(41, '2026tIE', PLACES.states, { name_prefix: null }),
  ];
  // JSON.stringify cannot write it: an integer beyond 2^53, in a payload.
  const exact = (line: string) => line.replace('"12345678901234567890"', '9007199254740993');
  return [...states(), ...crowd(), ...edges(), ...registry].map(line => exact(JSON.stringify(line)));
}

/** The line that dates the registry. Names can be resolved for two hours after its epoch. */
export function snapshotLine(epochUs: number): string {
  return JSON.stringify({ type: 'tns_snapshot', epoch: time(epochUs) });
}
