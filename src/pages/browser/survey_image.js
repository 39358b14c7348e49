/** An image of a survey under the finder. It comes from another host, which then learns the position: only a click loads it. */
import { h } from './page.js';

/**
 * @param {{ ra: number, dec: number }} centre
 * @param {string} template an address with `{ra}`, `{dec}` and `{fov}`, degrees
 * @param {() => void} changed called when the image to show is another one
 */
export function surveyImage({ ra, dec }, template, changed) {
  const host = new URL(template).host;
  /** By half width; a null one failed. @type {Map<number, HTMLImageElement | null>} */
  const images = new Map();
  const box = h('input', { type: 'checkbox', change: () => toggled() });
  const said = h('span', { class: 'hint', role: 'status' });
  const choice = h('p', { class: 'survey' }, h('label', { class: 'pick' }, box, ` Image from ${host}`), ' ', said);
  return { choice, image };

  /** Shows the image or hides it. An image that failed is requested again. */
  function toggled() {
    for (const [halfWidth, made] of images) if (made === null) images.delete(halfWidth);
    changed();
  }

  /** The image for a half width, once it is loaded. @param {number} halfWidth arcsec */
  function image(halfWidth) {
    said.textContent = '';
    if (!box.checked) return undefined;
    const known = images.get(halfWidth);
    if (known && !known.complete) said.textContent = 'Loading';
    if (known === null) said.textContent = `No image came from ${host}. Is the network there?`;
    if (known !== undefined) return known?.complete && known;
    const values = { ra, dec, fov: halfWidth / 1800 };
    const address = template.replace(
      /\{(ra|dec|fov)\}/g,
      (_, name) => `${values[/** @type {keyof typeof values} */ (name)]}`,
    );
    const made = h('img', { alt: '', crossorigin: 'anonymous', referrerpolicy: 'no-referrer' });
    images.set(halfWidth, made);
    said.textContent = 'Loading';
    made.addEventListener('load', changed);
    made.addEventListener('error', () => {
      images.set(halfWidth, null);
      changed();
    });
    made.src = address;
    return undefined;
  }
}
