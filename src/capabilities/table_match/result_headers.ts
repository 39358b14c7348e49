/** The headers of a matched table, in the document. */

import { JOURNAL_ENTRY_HEADER } from '../../core/contract/headers.ts';
import { header } from '../../core/documents/openapi/general.ts';
import { JOURNAL_ENTRY, positionWarningHeader } from '../../core/documents/openapi/responses.ts';
import { count, type Schemas, text } from '../../core/documents/openapi/schema.ts';
import { dispositionHeader } from '../../core/documents/openapi/tables.ts';

export const resultHeaders: Schemas = {
  'Content-Disposition': dispositionHeader,
  'X-Row-Count': header(count('The rows of the answer.'), true),
  'X-Input-Row-Count': header(count('The rows of the uploaded table.'), true),
  'X-Match-Count': header(count('The objects or sources found.'), true),
  'X-Position-Columns': header(
    text('The columns used for right ascension and declination, percent-encoded, separated by a blank.'),
    true,
  ),
  'X-Dropped-Columns': header(
    text(
      'The columns that the answer cannot hold, such as lists, bytes and complex numbers: percent-encoded, separated by blanks, 50 at most. `dropped_columns` in the metadata lists all.',
    ),
  ),
  [JOURNAL_ENTRY_HEADER]: JOURNAL_ENTRY,
  ...positionWarningHeader,
  'X-Position-Frame': header(
    text(
      'The frame of these positions, which were converted to ICRS, and how it was determined: `FK4 B1950; source=declaration`. The source is `request`, `declaration`, `column name` or `default`.',
    ),
    true,
  ),
};
