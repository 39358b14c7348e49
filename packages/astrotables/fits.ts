/** FITS: headers, read and written, and the columns of binary tables. */
export { FitsError, FitsHeader, findHdu, findHduOf, type Hdu, isFits } from './fits/header.ts';
export {
  type FitsColumn,
  type FitsItem,
  type FitsTable,
  isNumeric,
  isTable,
  itemReader,
  itemsOf,
  numberReader,
  tableOf,
  textsOf,
  valuesAt,
} from './fits/table.ts';
export { BLOCK, fitsHeader, tableHeaders, wholeBlocks } from './fits/write_header.ts';
