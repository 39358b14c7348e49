/** Writes the texts about the catalogs, based on their definitions and filters. */

import type { CatalogDefinition, Catalogs } from '../contract/catalogs.ts';

const ARCMIN_PER_RADIAN = (180 * 60) / Math.PI;

/** The side of an equal-area HEALPix pixel of that order, arcmin, rounded to one decimal. */
export function pixelArcmin(order: number): number {
  const side = Math.sqrt((4 * Math.PI) / (12 * 4 ** order)) * ARCMIN_PER_RADIAN;
  return Math.round(side * 10) / 10;
}

export function sourceIdMeaning({ name, release, idColumn, idType, idRemark }: CatalogDefinition): string {
  const remark = idRemark === undefined ? '' : ` ${idRemark}`;
  const what = idType === 'text' ? 'a text' : 'a 64-bit integer as a decimal string';
  return `The ${idColumn} of ${release}, ${what}; unique only within ${name}.${remark}`;
}

/**
 * Describes the epochs of positions, for the catalogs that have one.
 * @param sources the words before each catalog's name
 * @param verb the verb after it
 */
export function epochs({ all }: Catalogs, sources: string, verb: string): string {
  const known = all.flatMap(({ name, epoch }) => (epoch ? [{ name, ...epoch }] : []));
  return known
    .map(({ name, column, value }) => `; ${sources} ${name} ${verb} at the epoch in \`${column}\`, which is ${value}`)
    .join('');
}

/** The order of the footprint in use. If there is none, or it is unknown, the order in the catalog's definition. */
export function orderInForce({ name, footprintOrder }: CatalogDefinition, { footprintOrders }: Catalogs): number {
  return footprintOrders?.get(name) ?? footprintOrder;
}

/** A remark that explains `orderInForce`. Empty if a footprint of the catalog's own order is in use. */
export function orderRemark({ name, footprintOrder }: CatalogDefinition, { footprintOrders }: Catalogs): string {
  if (!footprintOrders)
    return "This is the catalog's own order. The database could not be read, so a coarser map may be in use.";
  const order = footprintOrders.get(name);
  if (order === undefined)
    return "The catalog is not registered here, so it is not searched. This is the catalog's own order.";
  return order === footprintOrder
    ? ''
    : `The footprint of the copy that is searched here is ${order < footprintOrder ? 'coarser' : 'finer'} than the catalog's own order, ${footprintOrder}.`;
}
