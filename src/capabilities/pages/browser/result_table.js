/** A table of rows with any columns. Object ids link to the pages of the objects. */
import { counted } from './format.js';
import { html, part } from './page.js';
import { root } from './root.js';

const STEP = 100;
/** Browsers become slow with more columns. */
const MAX_COLUMNS = 200;

/** @typedef {{ name: string, unit?: string, description?: string, isNumber?: boolean }} ShownColumn */

/**
 * The first rows, and a button for more.
 * @param {ShownColumn[]} all the columns
 * @param {string[][]} rows cells as texts, empty if there is no value
 */
export function resultTable(all, rows) {
  const columns = all.slice(0, MAX_COLUMNS);
  const rowsFrom = (/** @type {number} */ start) =>
    part(rows.slice(start, start + STEP), some => some.map(row => rowOf(columns, row)));
  // Rows that are already shown are not compared again when more rows are added.
  return part([rowsFrom(0)], (shown, show) => {
    const next = shown.length * STEP;
    const more = () => show([...shown, rowsFrom(next)]);
    return html`
      <div class="scroll rows" tabindex="0" role="group" aria-label=${counted(rows.length, 'row')}>
        <table>
          <thead><tr>${columns.map(headOf)}</tr></thead>
          <tbody>${shown}</tbody>
        </table>
      </div>
      ${columns.length < all.length && html`<p class="hint">The first ${columns.length} of ${all.length} columns.</p>`}
      <button type="button" ?hidden=${next >= rows.length} @click=${more}>Show more</button>`;
  });
}

/** @param {ShownColumn} column */
function headOf({ name, unit, description, isNumber }) {
  const of = unit && html`<span class="unit"> ${unit}</span>`;
  return html`<th scope="col" class=${isNumber && 'number'} title=${description || undefined}>${name}${of}</th>`;
}

/** @param {ShownColumn[]} columns @param {string[]} row */
function rowOf(columns, row) {
  return html`<tr>${columns.map(({ name, isNumber }, i) => {
    const text = row[i] ?? '';
    const isObject = /^(?:nearsky_)?diaObjectId(?:_\d+)?$/i.test(name) && /^\d+$/.test(text);
    const shown = isObject ? html`<a href="${root}/objects/${text}">${text}</a>` : text || '–';
    return html`<td class=${isNumber && 'number'}>${shown}</td>`;
  })}</tr>`;
}
