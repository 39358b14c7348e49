/** Shows for each listed catalog how much of it this service has. */
import { count } from './format.js';
import { ApiError, ask } from './page.js';
import { root } from './root.js';

const SKY_DEG2 = 41_252.96;
const held = new Map();
let problem = 'not registered: objects are not compared with it';
try {
  const { registered } = await ask(`${root}/api/sky-map?layer=coverage&resolution=0`);
  for (const each of registered) held.set(each.name, each);
} catch (error) {
  problem = error instanceof ApiError ? error.message : 'it cannot be asked for';
}
for (const list of document.querySelectorAll('[data-catalog]')) {
  const place = list.querySelector('.held');
  if (place) place.textContent = textOf(held.get(list.getAttribute('data-catalog'))) ?? problem;
}

/** @param {{ rows: number | null, area_deg2: number } | undefined} catalog */
function textOf(catalog) {
  if (!catalog) return undefined;
  const { rows, area_deg2: area } = catalog;
  const share = (100 * area) / SKY_DEG2;
  const percent = share >= 1 ? Math.round(share) : Number(share.toPrecision(1));
  return `${rows === null ? 'an unknown number of' : count(rows)} rows; ${area < 10 ? area : count(Math.round(area))} square degrees, ${percent} % of the sky`;
}
