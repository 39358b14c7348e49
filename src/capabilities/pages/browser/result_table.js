/** A table of rows with any columns. Object ids link to the pages of the objects. */
import { counted, rounded } from './format.js';
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
  const errors = columns.map(({ name }) => all.findIndex(each => isErrorOf(each.name, name)));
  const rowsFrom = (/** @type {number} */ start) =>
    part(rows.slice(start, start + STEP), some => some.map(row => rowOf(columns, errors, row)));
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

/** Whether the first column has the errors of the second. @param {string} error @param {string} name */
function isErrorOf(error, name) {
  return (
    [`${name}_error`, `${name}_err`, `e_${name}`, name.replace('mag_', 'magerr_')].includes(error) && error !== name
  );
}

/** @param {ShownColumn[]} columns @param {number[]} errors the column of the errors of each, or -1 @param {string[]} row */
function rowOf(columns, errors, row) {
  return html`<tr>${columns.map(({ name, unit, isNumber }, i) => {
    const text = row[i] ?? '';
    const isObject = /^(?:nearsky_)?diaObjectId(?:_\d+)?$/i.test(name) && /^\d+$/.test(text);
    const shown = isObject ? html`<a href="${root}/objects/${text}">${text}</a>` : text || '–';
    if (!isNumber || isObject || text === '') return html`<td class=${isNumber && 'number'}>${shown}</td>`;
    // The whole number is in its title.
    const short = rounded(text, unit, Number(row[errors[i] ?? -1] || Number.NaN));
    return html`<td class="number" title=${short !== text && text}>${short}</td>`;
  })}</tr>`;
}
