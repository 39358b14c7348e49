/** Answers of the service as VOTables whose rows are TABLEDATA. */
import { ApiError } from './page.js';

/**
 * Cells are strings, which keep every digit; a missing value is the empty string.
 * @typedef {{ name: string, unit: string, ucd: string, description: string, isNumber: boolean }} Field
 * @typedef {{ fields: Field[], rows: string[][], isCut: boolean, info: (name: string) => string | null | undefined }}
 * ResultTable `isCut` if there are more rows; `info` is the value of an INFO
 */

const NUMBERS = ['short', 'int', 'long', 'float', 'double'];

/**
 * @param {string} text
 * @returns {ResultTable}
 * @throws ApiError with the service's message if the document is an error or ends with one
 */
export function readVotable(text) {
  const document = new DOMParser().parseFromString(text, 'text/xml');
  const all = (/** @type {string} */ name) => [...document.getElementsByTagNameNS('*', name)];
  const statuses = all('INFO').filter(info => info.getAttribute('name') === 'QUERY_STATUS');
  const status = (/** @type {string} */ value) => statuses.find(info => info.getAttribute('value') === value);
  const error = status('ERROR');
  if (error) throw new ApiError(error.textContent ?? '', false);
  if (statuses.length === 0) throw new ApiError('The service answered with something that cannot be read', true);
  return {
    fields: all('FIELD').map(field => ({
      name: field.getAttribute('name') ?? '',
      unit: field.getAttribute('unit') ?? '',
      ucd: field.getAttribute('ucd') ?? '',
      description: field.textContent?.trim() ?? '',
      isNumber: NUMBERS.includes(field.getAttribute('datatype') ?? '') && !field.hasAttribute('arraysize'),
    })),
    rows: all('TR').map(row => Array.from(row.children, cell => cell.textContent ?? '')),
    isCut: status('OVERFLOW') !== undefined,
    info: name =>
      all('INFO')
        .find(info => info.getAttribute('name') === name)
        ?.getAttribute('value'),
  };
}
