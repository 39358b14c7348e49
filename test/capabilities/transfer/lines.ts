/** Lines of an import, made by hand: any field may be replaced, and a field that is undefined is left out. */
type Fields = Readonly<Record<string, unknown>>;

const line = (type: string, defaults: Fields, fields: Fields) => JSON.stringify({ type, ...defaults, ...fields });

export const objectLine = (diaObjectId: string, fields: Fields = {}) =>
  line(
    'object',
    {
      diaObjectId,
      ra: 10.5,
      dec: -20.25,
      reliability: 0.9,
      ingest_time: '2026-10-07T09:15:00.000001+00:00',
      event_time: '2026-10-07T09:00:00.000000+00:00',
      state: 'crossmatched',
      brokers: ['lasair'],
    },
    fields,
  );

export const recordLine = (diaObjectId: string, fields: Fields = {}) =>
  line(
    'crossmatch_record',
    {
      diaObjectId,
      match_version: 1,
      crossmatched_at: '2026-10-07T10:00:00.000000+00:00',
      brokers_at_crossmatch: ['lasair'],
      catalog_outcomes: { gaia_dr3: 'searched', des_y6_gold: 'outside_footprint' },
      provenance: {
        crossmatch_radius_arcsec: 1,
        catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR3' }],
        reliability_cuts: [
          { broker: 'lasair', min_reliability: 0.6, enforced_by: 'broker', status: 'declared', as_of: '2026-10-01' },
        ],
      },
    },
    fields,
  );

export const matchLine = (diaObjectId: string, fields: Fields = {}) =>
  line(
    'match',
    {
      diaObjectId,
      match_version: 1,
      catalog_name: 'gaia_dr3',
      catalog_source_id: '4611686018427387905',
      separation_arcsec: 0.25,
      ra: 10.5,
      dec: -20.25,
      catalog_payload: { parallax: 1.5, ruwe: null },
    },
    fields,
  );

export const associationLine = (diaObjectId: string, fields: Fields = {}) =>
  line(
    'tns_association',
    {
      diaObjectId,
      checked: true,
      snapshot_epoch: '2026-10-07T08:00:00.000000+00:00',
      objid: 7,
      name: '2026abc',
      name_prefix: 'SN',
      classification: 'SN Ia',
      redshift: 0.02,
      separation_arcsec: 0.5,
    },
    fields,
  );

export const snapshotLine = (epoch = '2026-10-07T08:00:00.000000+00:00') => line('tns_snapshot', { epoch }, {});

export const registryLine = (objid: number, name: string, fields: Fields = {}) =>
  line('tns_object', { objid, name, name_prefix: 'AT', ra: 1, dec: 2, classification: null, redshift: null }, fields);
