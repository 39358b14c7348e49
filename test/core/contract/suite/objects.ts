import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import type { Json, Service } from './service.ts';
import { IDS, NAMES, PAYLOADS, RADIUS_ARCSEC, UNKNOWN_ID } from './world.ts';

const CATALOGS = ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'];

async function resultOf(service: Service, id: string, detail = 'matches'): Promise<Json> {
  return (await service.ok(`/api/objects/${id}`, { detail })).results[0];
}

async function objectOf(service: Service, id: string, detail?: string): Promise<Json> {
  return (await resultOf(service, id, detail)).objects[0];
}

const everywhere = (outcome: string) => Object.fromEntries(CATALOGS.map(name => [name, outcome]));

const provenance = section('Provenance', {
  'every envelope has the block of the service [Provenance]': async service => {
    const { provenance } = await service.ok('/api/status');
    hasKeys(provenance, 'service_version contract_version crossmatch_radius_arcsec catalogs reliability_cuts');
    assert.is(provenance.contract_version, '1.0.0');
    assert.is(provenance.crossmatch_radius_arcsec, 1);
    const releases = ['Gaia DR3', 'DES Y6 Gold', 'DELVE DR3 Gold', 'SkyMapper DR4'];
    assert.equal(
      provenance.catalogs,
      CATALOGS.map((name, i) => ({ name, release: releases[i] })),
    );
    const cuts = provenance.reliability_cuts;
    assert.equal(
      cuts.map((cut: Json) => `${cut.broker} ${cut.enforced_by}`),
      ['antares broker', 'lasair broker', 'pittgoogle service'],
    );
    for (const cut of cuts) {
      hasKeys(cut, 'broker min_reliability enforced_by status as_of');
      assert.is(cut.as_of !== null, cut.status === 'declared');
    }
    assert.equal([cuts[2].status, cuts[2].min_reliability], ['service_setting', 0.6]);
    const others = [
      '/api/describe',
      '/api/recent-crossmatches',
      `/api/objects/${IDS.matched}`,
      `/api/objects/7?response=count`,
    ];
    for (const path of [...others, `/api/tns/${NAMES.states}`, '/api/cone?ra=1&dec=1&radius_arcsec=1'])
      assert.equal((await service.ok(path)).provenance, provenance, path);
    assert.not('provenance' in (await service.ok('/openapi.json')));
  },
  'provenance_sets has what the listed objects refer to: as recorded, not as it is now [Provenance]': async service => {
    const { provenance_sets } = await service.ok(`/api/objects/${IDS.matched}`);
    const [[key, set]] = Object.entries<Json>(provenance_sets) as [[string, Json]];
    assert.match(key, /^[0-9a-f]{64}$/);
    hasKeys(set, 'basis crossmatch_radius_arcsec catalogs reliability_cuts');
    assert.equal([set.basis, set.crossmatch_radius_arcsec], ['recorded', 0.75]);
    assert.equal(set.catalogs, [{ name: 'gaia_dr3', release: 'Gaia DR3' }]);
    assert.equal(set.reliability_cuts[0], {
      broker: 'antares',
      min_reliability: 0.5,
      enforced_by: 'broker',
      status: 'declared',
      as_of: '2026-01-02',
    });
    for (const id of [IDS.largest, UNKNOWN_ID])
      assert.equal((await service.ok(`/api/objects/${id}`)).provenance_sets, {}, id);
  },
  'an object without a record refers to a best guess [Provenance]': async service => {
    const { provenance_sets, provenance, results } = await service.ok(`/api/objects/${IDS.unrecorded}`);
    assert.equal(Object.keys(provenance_sets), ['best_guess_current_settings']);
    const { description, ...set } = provenance_sets.best_guess_current_settings;
    const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = provenance;
    assert.equal(set, { basis: 'best_guess_current_settings', crossmatch_radius_arcsec, catalogs, reliability_cuts });
    assert.match(description, /best guess/i);
    assert.equal(results[0].objects[0].crossmatch, {
      provenance: 'not_recorded',
      match_version: null,
      crossmatched_at: null,
      provenance_set: null,
      brokers_at_crossmatch: null,
      catalog_outcomes: everywhere('not_recorded'),
      recording_release: '0.15.0',
      best_guess_provenance_set: 'best_guess_current_settings',
    });
    assert.is(results[0].objects[0].matches[0].provenance_set, null);
  },
});

const ID_KEYS = 'diaObjectId diaObjectId_str status';
const POSITION_KEYS = 'ra dec reliability ingest_time event_time brokers';

const entries = section('Objects', {
  'each level adds its keys': async service => {
    for (const id of [IDS.matched, IDS.largest, IDS.unrecorded]) {
      hasKeys(await objectOf(service, id, 'ids'), `${ID_KEYS} crossmatch`);
      hasKeys(await objectOf(service, id, 'position'), `${ID_KEYS} crossmatch ${POSITION_KEYS}`);
      hasKeys(await objectOf(service, id, 'matches'), `${ID_KEYS} crossmatch ${POSITION_KEYS} matches tns`);
      hasKeys(await objectOf(service, id, 'full'), `${ID_KEYS} crossmatch ${POSITION_KEYS} matches tns`);
    }
  },
  'an id that is not in service has its id and status, at every level': async service => {
    for (const detail of ['ids', 'position', 'matches', 'full']) {
      const { status, objects } = await resultOf(service, UNKNOWN_ID, detail);
      assert.is(status, 'not_in_service');
      assert.equal(objects, [{ diaObjectId: BigInt(UNKNOWN_ID), diaObjectId_str: UNKNOWN_ID, status }]);
    }
  },
  'every state has its status': async service => {
    const expected = {
      leftover: 'crossmatch_pending',
      matched: 'coincident_sources',
      unmatched: 'no_coincident_source',
      invalidPosition: 'not_searched',
      unrecorded: 'coincident_sources',
      unrecordedEmpty: 'no_coincident_source',
      skipped: 'not_searched',
      unreliable: 'coincident_sources',
      recrossmatched: 'coincident_sources',
      retired: 'no_coincident_source',
      broken: 'coincident_sources',
      largest: 'crossmatch_pending',
      small: 'crossmatch_pending',
    } satisfies Record<keyof typeof IDS, string>;
    for (const [name, id] of Object.entries(IDS)) {
      const { status, objects } = await resultOf(service, id);
      assert.equal([status, objects[0].status], [expected[name as keyof typeof IDS], status], name);
    }
  },
  'position, times and brokers, sorted; null where there is none': async service => {
    const { ra, dec, reliability, event_time, brokers } = await objectOf(service, IDS.matched, 'position');
    assert.equal([ra, dec, reliability, brokers], [150, 2.0001, 0.75, ['antares', 'lasair']]);
    assert.is(event_time, '2026-03-01T00:00:03+00:00');
    const nowhere = await objectOf(service, IDS.invalidPosition, 'position');
    assert.equal([nowhere.ra, nowhere.dec], [null, null]);
    assert.is((await objectOf(service, IDS.unreliable)).reliability, null);
    assert.equal((await objectOf(service, IDS.small)).brokers, []);
  },
  'of a pending object no left-over matches are shown, and no crossmatch': async service => {
    const { crossmatch, matches, tns } = await objectOf(service, IDS.leftover);
    assert.equal([crossmatch, matches, tns], [null, [], null]);
  },
});

const crossmatch = section('Objects: crossmatch', {
  'the block of a recorded crossmatch': async service => {
    const { crossmatch } = await objectOf(service, IDS.matched);
    hasKeys(
      crossmatch,
      'provenance match_version crossmatched_at provenance_set brokers_at_crossmatch catalog_outcomes',
    );
    assert.equal([crossmatch.provenance, crossmatch.match_version], ['recorded', 1]);
    assert.is(crossmatch.crossmatched_at, '2026-03-01T12:00:00.000001+00:00');
    assert.equal(crossmatch.brokers_at_crossmatch, ['lasair'], 'those of then, not of now');
    assert.equal(crossmatch.catalog_outcomes, everywhere('searched'));
  },
  'outcomes: as recorded, of catalogs added since, and of catalogs that are gone': async service => {
    const outcomes = async (id: string) => (await objectOf(service, id, 'ids')).crossmatch.catalog_outcomes;
    assert.equal(await outcomes(IDS.invalidPosition), everywhere('not_searched_invalid_position'));
    assert.equal(await outcomes(IDS.skipped), { ...everywhere('outside_footprint'), gaia_dr3: 'skipped_read_failure' });
    assert.equal(await outcomes(IDS.retired), {
      ...everywhere('not_in_service_at_crossmatch'),
      gaia_dr3: 'searched',
      old_survey: 'outside_footprint',
    });
  },
  'of several records the highest version is current, and its matches are [Objects]': async service => {
    const { results, provenance_sets } = await service.ok(`/api/objects/${IDS.recrossmatched}`);
    const { crossmatch, matches } = results[0].objects[0];
    assert.is(crossmatch.match_version, 2);
    assert.is(provenance_sets[crossmatch.provenance_set].crossmatch_radius_arcsec, 1);
    assert.equal(
      matches.map((match: Json) => [match.catalog_source_id, match.separation_arcsec]),
      [['13', 0.125]],
    );
    assert.is(matches[0].provenance_set, crossmatch.provenance_set);
  },
});

/** The statistics of one match; those of the other imported ones are not known. */
const STATISTICS = {
  chance_probability: 0.000671,
  source_density: 12.3,
  sources_within_radius: 2,
  second_separation_arcsec: 0.75,
  normalized_separation: 1.25,
  match_probability: 0.861,
  any_match_probability: 0.998,
};
const PUBLISHED =
  'diaObjectId ra dec catalog_name catalog_source_id separation_arcsec catalog_release catalog_payload catalogs_skipped partial ' +
  'tns_checked tns_snapshot_epoch provenance_set';

const matches = section('Objects: matches', {
  'at matches: name, source, separation, provenance set; by name, then source id, both as text': async service => {
    const { matches, crossmatch } = await objectOf(service, IDS.matched);
    const expected = [
      ['delve_dr3_gold', '5', 0.25],
      ['des_y6_gold', '9007199254740993', 0.5],
      ['gaia_dr3', '10', 0.25],
      ['skymapper_dr4', '8', 0.25],
    ];
    assert.equal(
      matches,
      expected.map(([catalog_name, catalog_source_id, separation_arcsec]) => {
        const { provenance_set } = crossmatch;
        return { catalog_name, catalog_source_id, separation_arcsec, provenance_set };
      }),
    );
  },
  'at full: the published match, its keys lowercased, the position the source’s': async service => {
    const [, des, gaia10, skymapper] = (await objectOf(service, IDS.matched, 'full')).matches;
    assert.equal(gaia10.statistics, STATISTICS);
    for (const match of [des, gaia10, skymapper]) {
      hasKeys(match, `${PUBLISHED} tns${match === gaia10 ? ' statistics' : ''}`);
      assert.is(match.catalog_release, match.catalog_name === 'gaia_dr3' ? 'Gaia DR3' : null);
      assert.is(match.diaObjectId, BigInt(IDS.matched));
      assert.equal([match.ra, match.dec, match.catalogs_skipped, match.partial], [150.00001, 2.00005, [], false]);
      assert.equal([match.tns_checked, match.tns_snapshot_epoch], [true, '2026-03-01T11:00:00+00:00']);
      hasKeys(match.tns, 'objid name classification redshift separation_arcsec url');
      assert.equal([match.tns.objid, match.tns.name, match.tns.redshift], [11, '2026abc', 0.1]);
    }
    const holds = (payload: Json, values: object) => {
      for (const [key, value] of Object.entries(values)) assert.is(payload[key], value, key);
    };
    holds(des.catalog_payload, PAYLOADS.des);
    holds(gaia10.catalog_payload, PAYLOADS.gaia10);
    holds(skymapper.catalog_payload, { class_star: 0.5 });
  },
  'at full: no tns where none is associated, no payload where none is stored': async service => {
    const [match] = (await objectOf(service, IDS.unrecorded, 'full')).matches;
    hasKeys(match, PUBLISHED);
    assert.equal([match.catalog_payload, match.tns_checked, match.tns_snapshot_epoch], [null, false, null]);
  },
  'a source without a position is left out at full; its object stays': async service => {
    const { status, matches } = await objectOf(service, IDS.broken, 'full');
    assert.equal([status, matches], ['coincident_sources', []]);
  },
});

const association = section('Objects: tns', {
  'associated, checked without one, not checked, nothing stored': async service => {
    const nothing = {
      name: null,
      name_prefix: null,
      classification: null,
      redshift: null,
      separation_arcsec: null,
      url: null,
    };
    const snapshot_epoch = '2026-03-01T11:00:00+00:00';
    for (const detail of ['matches', 'full']) {
      const tnsOf = async (id: string) => (await objectOf(service, id, detail)).tns;
      const { url, ...tns } = await tnsOf(IDS.matched);
      assert.match(url, /2026abc$/);
      assert.equal(tns, {
        checked: true,
        snapshot_epoch,
        name: '2026abc',
        name_prefix: 'SN',
        classification: 'SN Ia',
        redshift: 0.1,
        separation_arcsec: 0.36,
      });
      assert.equal(await tnsOf(IDS.unmatched), { checked: true, snapshot_epoch, ...nothing });
      assert.equal(await tnsOf(IDS.skipped), { checked: false, snapshot_epoch: null, ...nothing });
      assert.is(await tnsOf(IDS.retired), null);
    }
  },
});

const getObject = section('One object', {
  'the envelope of a lookup with one result, its input the segment [One object]': async service => {
    const body = await service.ok(`/api/objects/00${IDS.matched}`);
    hasKeys(body, 'provenance detail count provenance_sets truncated results');
    assert.equal([body.detail, body.count, body.truncated], ['matches', 1, false]);
    const { objects, ...result } = body.results[0];
    assert.is(objects.length, 1);
    assert.equal(result, {
      index: 0,
      kind: 'id',
      input: `00${IDS.matched}`,
      normalized: { kind: 'id', diaObjectId: BigInt(IDS.matched), diaObjectId_str: IDS.matched },
      status: 'coincident_sources',
    });
  },
  'the order of the checks: detail, filters, response, id': async service => {
    const spoilt = ['detail=x', 'a.b=1', 'response=x'];
    const blamed = ['detail', 'a.b', 'response', 'diaObjectId'];
    for (const [i, param] of blamed.entries())
      assert.equal(await service.refused('/api/objects/x', spoilt.slice(i).join('&')), [INVALID, param]);
  },
  'an object without a position is found by its id, and by no position [Purpose]': async service => {
    assert.is((await resultOf(service, IDS.invalidPosition)).objects.length, 1);
    const { text } = await service.get('/api/cone', `ra=150&dec=2&radius_arcsec=${RADIUS_ARCSEC}&page_size=2000`);
    assert.not(text.includes(IDS.invalidPosition));
  },
});

export const objects = [...provenance, ...entries, ...crossmatch, ...matches, ...association, ...getObject];
