/** The footprint of a catalog: from its coverage map where it ships one, else from the positions of its rows. */
import { Coverage } from '../../index/mod.ts';
import type { StoredCoverage } from '../store/catalog_registration.ts';
import { CatalogError, withStableFile } from './errors.ts';
import { openHealpixMap } from './fits.ts';
import type { HatsTable } from './hats.ts';
import { PixelSet } from './pixel_set.ts';

/**
 * The name of the coverage map of a HATS table: `skymap.fits`, else `point_map.fits` (its older name), else the finest
 * `skymap.K.fits`. Where folders cannot be listed, the properties tell the orders of the maps.
 */
export async function findCoverageMap({
  files,
  properties,
}: Pick<HatsTable, 'files' | 'properties'>): Promise<string | undefined> {
  for (const name of ['skymap.fits', 'point_map.fits']) if (await files.has(name)) return name;
  const names = await files.list('.');
  const orders = names
    ? names.flatMap(name => /^skymap\.(\d+)\.fits$/.exec(name)?.[1] ?? [])
    : (properties.get('hats_skymap_alt_orders')?.match(/\d+/g) ?? []);
  for (const order of orders.map(Number).sort((a, b) => b - a))
    if (await files.has(`skymap.${order}.fits`)) return `skymap.${order}.fits`;
  return undefined;
}

/**
 * The covered pixels of a map that have a partition: this copy lacks the rest of the catalog, and an object there must
 * not count as searched. A finer map is degraded to `order` (a pixel is covered when any part of it is); a coarser map
 * stays as it is.
 * @throws CatalogError when the map cannot be used, or covers nothing; ReadFailure
 */
export function coverageFromMap(
  { files, partitions }: Pick<HatsTable, 'files' | 'partitions'>,
  name: string,
  order: number,
): Promise<StoredCoverage> {
  return withStableFile(async () => {
    const file = await files.open(name);
    try {
      const map = await openHealpixMap(file);
      const effectiveOrder = Math.min(order, map.order);
      const pixels = new PixelSet(effectiveOrder);
      const finer = 4 ** (map.order - effectiveOrder);
      await map.forEachCovered(ipix => pixels.add(Math.floor(ipix / finer)));
      const held = new PixelSet(effectiveOrder);
      for (const partition of partitions) held.addPixel(partition.order, partition.ipix);
      return stored(pixels, name, pixels.keepOnly(held));
    } finally {
      file.close();
    }
  });
}

/**
 * The pixels of a set that was filled from the rows.
 * @throws CatalogError when the set is empty
 */
export function coverageFromRows(pixels: PixelSet): StoredCoverage {
  return stored(pixels, 'rows', 0);
}

function stored(pixels: PixelSet, source: string, pixelsLeftOut: number): StoredCoverage {
  const { order, ranges } = Coverage.fromPixels(pixels.order, pixels.pixels());
  if (ranges.length === 0)
    throw new CatalogError(`Cannot use the coverage from ${source} because it covers no part of the sky`);
  const bytes = new DataView(new ArrayBuffer(4 * ranges.length));
  ranges.forEach((bound, index) => {
    bytes.setUint32(4 * index, bound, true);
  });
  return { order, ranges: new Uint8Array(bytes.buffer), source, pixelsLeftOut };
}

/** Opens the stored footprint for queries. */
export function openCoverage({ order, ranges }: StoredCoverage): Coverage {
  const bytes = new DataView(ranges.buffer, ranges.byteOffset, ranges.byteLength);
  return Coverage.fromRanges(
    order,
    Uint32Array.from({ length: ranges.length / 4 }, (_, index) => bytes.getUint32(4 * index, true)),
  );
}
