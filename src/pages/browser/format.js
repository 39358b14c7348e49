/** Numbers, positions and times as text for people. */

/** @param {number} ra degrees @param {number} [digits] of the seconds */
export function sexagesimalRa(ra, digits = 2) {
  const [hours, minutes, seconds] = sixties((ra % 360) / 15, digits);
  // What rounds up to 24 hours is 0.
  return `${hours === '24' ? '00' : hours}ʰ${minutes}ᵐ${seconds}ˢ`;
}

/** @param {number} dec degrees @param {number} [digits] of the seconds */
export function sexagesimalDec(dec, digits = 1) {
  const [degrees, minutes, seconds] = sixties(Math.abs(dec), digits);
  return `${dec < 0 ? '−' : '+'}${degrees}°${minutes}′${seconds}″`;
}

/** @param {number} value @param {number} digits @returns {string[]} */
function sixties(value, digits) {
  const scale = 10 ** digits;
  // Rounded once, as a whole, so that there are never 60 seconds.
  const units = Math.round(value * 3600 * scale);
  const parts = [Math.floor(units / (3600 * scale)), Math.floor(units / (60 * scale)) % 60];
  const seconds = ((units % (60 * scale)) / scale).toFixed(digits);
  return [...parts.map(part => `${part}`.padStart(2, '0')), seconds.padStart(digits ? digits + 3 : 2, '0')];
}

/** @param {number} ra @param {number} dec degrees */
export function degrees(ra, dec) {
  return `${ra.toFixed(6)} ${dec < 0 ? '−' : '+'}${Math.abs(dec).toFixed(6)}`;
}

/** @param {number | null | undefined} arcsec */
export function arcsec(arcsec) {
  if (arcsec === null || arcsec === undefined) return '–';
  return `${arcsec < 0.1 ? arcsec.toFixed(3) : arcsec.toFixed(2)}″`;
}

/** @param {string | null | undefined} iso a time as the API writes it */
export function time(iso) {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC` : '–';
}

/** @param {number} value */
export function count(value) {
  return `${value}`.replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** One, or many of something. @param {number} value @param {string} one @param {string} [many] */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A number of the catalog, its text as it was sent. @param {unknown} value */
export function payloadText(value) {
  if (value === null || value === undefined) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`;
}
