/** A table of rows with any columns. Object ids link to the pages of the objects. */
import { counted } from './format.js';
import { h } from './page.js';

const STEP = 100;
/** Browsers are slow with more columns. */
const MAX_COLUMNS = 200;

/** @typedef {{ name: string, unit?: string, description?: string, isNumber?: boolean }} ShownColumn */

/**
 * The first rows, and a button for more.
 * @param {ShownColumn[]} all the columns
 * @param {string[][]} rows cells as texts, empty where there is no value
 */
export function resultTable(all, rows) {
  const columns = all.slice(0, MAX_COLUMNS);
  const body = h('tbody', {});
  const more = h('button', { type: 'button', click: add }, 'Show more');
  let shown = 0;
  function add() {
    body.append(...rows.slice(shown, shown + STEP).map(row => rowOf(columns, row)));
    shown += STEP;
    more.hidden = shown >= rows.length;
  }
  add();
  const heads = columns.map(({ name, unit, description, isNumber }) =>
    h(
      'th',
      { scope: 'col', class: isNumber && 'number', title: description || undefined },
      name,
      unit ? h('span', { class: 'unit' }, ` ${unit}`) : '',
    ),
  );
  return [
    h(
      'div',
      { class: 'scroll rows', tabindex: 0, role: 'group', 'aria-label': counted(rows.length, 'row') },
      h('table', {}, h('thead', {}, h('tr', {}, heads)), body),
    ),
    columns.length < all.length && h('p', { class: 'hint' }, `The first ${columns.length} of ${all.length} columns.`),
    more,
  ];
}

/** @param {ShownColumn[]} columns @param {string[]} row */
function rowOf(columns, row) {
  return h(
    'tr',
    {},
    columns.map(({ name, isNumber }, i) => {
      const text = row[i] ?? '';
      const isObject = /^(?:nearsky_)?diaObjectId(?:_\d+)?$/i.test(name) && /^\d+$/.test(text);
      return h(
        'td',
        { class: isNumber && 'number' },
        isObject ? h('a', { href: `/objects/${text}` }, text) : text || '–',
      );
    }),
  );
}
