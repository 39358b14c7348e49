/** Columns of small catalogs with the names and types of the four releases. */
import { type CatalogColumn, columnNames } from '../../../src/core/contract/catalog.ts';
import type { CatalogDefinition } from '../../../src/core/contract/catalogs.ts';
import type { HatsColumn, HatsColumnType } from './write_hats.ts';

/** Which payload columns are not doubles, by lowercased name; as in the published schemas. */
const OTHER_TYPES: Readonly<Record<string, Readonly<Record<string, HatsColumnType>>>> = {
  gaia_dr3: Object.fromEntries(
    [
      'phot_g_mean_mag phot_bp_mean_mag phot_rp_mean_mag phot_g_mean_flux_over_error phot_bp_mean_flux_over_error',
      'phot_rp_mean_flux_over_error ra_error dec_error parallax_error pmra_error pmdec_error classprob_dsc_combmod_star',
      'classprob_dsc_combmod_galaxy classprob_dsc_combmod_quasar ruwe astrometric_excess_noise astrometric_excess_noise_sig',
    ]
      .join(' ')
      .split(' ')
      .map(name => [name, 'FLOAT'] as const),
  ),
  des_y6_gold: {
    ext_mash: 'INT64',
    flags_gold: 'INT64',
    flags_foreground: 'INT64',
    flags_footprint: 'INT64',
    bdf_flags: 'INT64',
  },
  delve_dr3_gold: {
    ext_mash: 'INT32',
    flags_gold: 'INT32',
    flags_foreground: 'INT32',
    flags_footprint: 'INT32',
    bdf_flags: 'INT64',
  },
  skymapper_dr4: { e_raj2000: 'INT64', e_dej2000: 'INT64', flags: 'INT32', nimaflags: 'INT64', ngood: 'INT32' },
};

/** Payload columns of these names, all else of them made up. */
export function columnsNamed(...names: readonly string[]): CatalogColumn[] {
  return names.map(name => ({ name, type: 'float64', ucd: 'stat.value', description: name }));
}

/** The value of a payload column in a row: different in each, now and then null. */
export function payloadValue(type: HatsColumnType, column: number, row: number): unknown {
  if ((row + column) % 11 === 0) return null;
  if (type === 'INT64') return BigInt(row) * 1_000_003n + 9_007_199_254_740_993n;
  if (type === 'INT32') return row * 7 - column;
  return type === 'FLOAT' ? Math.fround(row / 3 + column) : row / 3 + column;
}

/** The columns of a catalog with these positions. Ids are beyond 2^53 and descend, unless given. */
export function catalogColumns(
  { name, idColumn, raColumn, decColumn, columns }: CatalogDefinition,
  ra: ArrayLike<number | null>,
  dec: ArrayLike<number | null>,
  id: ArrayLike<bigint> = BigInt64Array.from(
    { length: ra.length },
    (_, row) => 4_612_352_219_396_039_168n - 7n * BigInt(row),
  ),
): HatsColumn[] {
  const payload = columnNames({ columns })
    .filter(column => column !== raColumn && column !== decColumn)
    .map((column, index): HatsColumn => {
      const type = OTHER_TYPES[name]?.[column.toLowerCase()] ?? 'DOUBLE';
      return { name: column, type, data: Array.from(ra, (_, row) => payloadValue(type, index, row)) };
    });
  return [
    { name: idColumn, type: 'INT64', data: id },
    { name: raColumn, type: 'DOUBLE', data: ra },
    { name: decColumn, type: 'DOUBLE', data: dec },
    ...payload,
  ];
}
