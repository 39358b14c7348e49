/**
 * A survey image under the finder. It comes from another host, which then learns the position. So it is loaded only
 * after a click.
 */
import { html } from './page.js';

/**
 * @param {{ ra: number, dec: number }} centre
 * @param {string} template an address with `{ra}`, `{dec}` and `{fov}`, degrees
 * @param {() => void} changed called when a different image must be shown
 */
export function surveyImage({ ra, dec }, template, changed) {
  const host = new URL(template).host;
  /** Images by half width; null if loading failed. @type {Map<number, HTMLImageElement | null>} */
  const images = new Map();
  let isChosen = false;
  let said = '';
  return { image, choice };

  /** The box that shows and hides the image, with a message about the last requested image. */
  function choice() {
    return html`
      <p class="survey"><label class="pick"><input type="checkbox" @change=${toggle}> Sky image from ${host}</label>
      <span class="hint" role="status">${said}</span></p>`;
  }

  /** Shows or hides the image. An image that failed is requested again. */
  function toggle(/** @type {any} */ { target }) {
    isChosen = target.checked;
    for (const [halfWidth, made] of images) if (made === null) images.delete(halfWidth);
    changed();
  }

  /** The image for a half width, once it is loaded. @param {number} halfWidth arcsec */
  function image(halfWidth) {
    said = '';
    if (!isChosen) return undefined;
    const known = images.has(halfWidth) ? images.get(halfWidth) : requested(halfWidth);
    if (!known) said = `No image came from ${host}. Is the network there?`;
    else if (!known.complete) said = 'Loading';
    return known?.complete && known;
  }

  /** @param {number} halfWidth arcsec */
  function requested(halfWidth) {
    const image = document.createElement('img');
    Object.assign(image, { alt: '', crossOrigin: 'anonymous', referrerPolicy: 'no-referrer' });
    images.set(halfWidth, image);
    image.addEventListener('load', changed);
    image.addEventListener('error', () => {
      images.set(halfWidth, null);
      changed();
    });
    const values = { ra, dec, fov: halfWidth / 1800 };
    image.src = template.replace(
      /\{(ra|dec|fov)\}/g,
      (_, name) => `${values[/** @type {keyof typeof values} */ (name)]}`,
    );
    return image;
  }
}
