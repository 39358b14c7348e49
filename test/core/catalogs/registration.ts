/** Shared by the tests of the map and of the pages. */
import { Coverage } from '@nearsky/sky-index/areas';
import type { CatalogDefinition } from '../../../src/core/contract/catalogs.ts';
import type { CatalogRegistration } from '../../../src/core/store/catalog_registration.ts';

/** A registration without files, for a footprint of whole pixels of order 2: those below `pixels`. */
export function registrationOf({ name }: CatalogDefinition, pixels = 96): CatalogRegistration {
  const covered = Coverage.fromPixels(2, Array(pixels).keys());
  return {
    name,
    location: '/nowhere',
    addedAtUs: 1_790_000_000_000_000,
    partitions: [],
    columns: { id: 'id', ra: 'ra', dec: 'dec', payload: [] },
    coverage: { order: 2, ranges: new Uint8Array(covered.ranges.buffer), source: 'rows', pixelsLeftOut: 0 },
    counted: null,
    hats: { rows: name === 'gaia_dr3' ? 1000 : null, builder: null, releaseDate: null },
  };
}
