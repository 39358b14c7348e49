/** Places on the edges and corners of HEALPix pixels. */
import { pixelCentre, pixelOf } from '@nearsky/sky-index';
import { offset, type Place } from '../../oracle/skies.ts';

/**
 * A place within 1e-9 degrees of an edge of the pixel grid of an order, found by halving an arc that begins in one
 * pixel and ends in another.
 */
export function onAnEdge(order: number, random: () => number): Place {
  const centre = pixelCentre(order, Math.floor(random() * 12 * 4 ** order));
  const pixel = pixelOf(order, centre.ra, centre.dec);
  const bearing = random() * 2 * Math.PI;
  const sideArcsec = (58.6323 * 3600) / 2 ** order;
  let [inside, outside] = [0, 2 * sideArcsec];
  for (let step = 0; step < 60; step++) {
    const middle = (inside + outside) / 2;
    const place = offset(centre, middle, bearing);
    if (pixelOf(order, place.ra, place.dec) === pixel) inside = middle;
    else outside = middle;
  }
  return offset(centre, outside, bearing);
}
