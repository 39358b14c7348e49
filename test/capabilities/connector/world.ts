/** The objects that the tools are asked about. */
import { nowUs } from '../../../src/core/base/times.ts';
import { statisticsOf } from '../../../src/core/store/match_statistics.ts';
import {
  crossmatched,
  delivery,
  loadRegistry,
  match,
  NOW_US,
  reshape,
  searched,
  type World,
} from '../../core/http/support.ts';
import { NO_TNS } from '../../core/store/support.ts';

export const LOOKUP = 'lookup_rubin_transients';
export const NEAR = 'search_rubin_transients_near_position';
export const ABOUT = 'describe_crossmatch_service';

/** Crossmatched with sources, delivered twice, associated; an id that a double cannot hold. */
export const RICH = 170666293697970325n;
export const PENDING = 2n;
/** Crossmatched before recording began, without sources; searched for in the registry in vain. */
export const UNRECORDED = 3n;
/** Crossmatched without a look at the registry: it says so, or says nothing. */
export const UNCHECKED = 4n;
export const UNASKED = 6n;
/** Ids of a crowd of 30 around one place, and of the 3 of them that lie within 1 arcsec. */
export const CROWD = 1000n;
export const CROWD_SIZE = 30;
export const CLOSE = 3;
export const CENTRE = { ra: 10, dec: -10 };
export const EPOCH_US = nowUs() - 60e6;

const separations: readonly (readonly [id: string, arcsec: number])[] = [
  ['9', 0.5],
  ['8', 0.1],
  ['7', 0.4],
  ['6', 0.3],
  ['5', 0.2],
];

export async function fill(world: World): Promise<void> {
  const { writer } = world;
  const far = (dec: number) => ({ position: { ra: 150, dec } });
  await writer.ingest([delivery(RICH), delivery(RICH, { broker: 'antares' })], NOW_US);
  await writer.ingest(
    [delivery(PENDING, far(3)), delivery(UNRECORDED, far(4)), delivery(UNCHECKED, far(5)), delivery(UNASKED, far(6))],
    NOW_US,
  );
  const payload = {
    phot_g_mean_mag: 19.5,
    parallax: null,
    parallax_error: 0.25,
    ruwe: 1.5,
    classprob_dsc_combmod_star: 1,
  };
  const gaia = separations.map(([id, separationArcsec]) => ({
    ...match('gaia_dr3', id, { payload }),
    separationArcsec,
    ...(id === '8' && { statistics: statisticsOf(12.3, 5, 0.2) }),
  }));
  const sky = match('skymapper_dr4', '12', { payload: { g_psf: 18.5, r_psf: 18.25, class_star: 0.5 } });
  const des = match('des_y6_gold', '11', { payload: { dnf_z: 0.5, ext_mash: 3 } });
  await crossmatched(world, RICH, searched('gaia_dr3'), [...gaia, sky, des]);
  await crossmatched(world, UNRECORDED, searched('gaia_dr3'));
  await crossmatched(world, UNCHECKED, searched('gaia_dr3'));
  await crossmatched(world, UNASKED, searched('gaia_dr3'));
  const found = {
    objid: 5,
    name: '2026xyz',
    namePrefix: 'SN',
    classification: 'SN Ia',
    redshift: 0.03,
    separationArcsec: 0.5,
  };
  reshape(world, RICH, { tns: { checked: true, snapshotEpochUs: NOW_US, ...found } });
  reshape(world, UNRECORDED, { records: [], tns: { checked: true, snapshotEpochUs: NOW_US, ...NO_TNS } });
  reshape(world, UNCHECKED, { tns: { checked: false, snapshotEpochUs: null, ...NO_TNS } });
  // Later ids lie nearer; the last three, and no other, within 1 arcsec.
  const crowd = Array.from({ length: CROWD_SIZE }, (_, i) =>
    delivery(CROWD + BigInt(i), {
      position: { ra: CENTRE.ra, dec: CENTRE.dec + offsetArcsec(CROWD_SIZE - i) / 3600 },
    }),
  );
  await writer.ingest(crowd, NOW_US);
  await loadRegistry(world, EPOCH_US, [
    { name: '2026XYZ', ra: 150, dec: 2, namePrefix: 'SN', classification: 'SN Ia', redshift: 0.03 },
    { name: '2026crowd', ...CENTRE },
    { name: '2026lonely', ra: 200, dec: 20 },
  ]);
}

function offsetArcsec(rank: number): number {
  return rank <= CLOSE ? 0.25 * rank : 0.99 * rank;
}
