/** Describes tables in the document: media types and headers. */
import { TABLE_FORMATS } from '../../contract/formats.ts';
import { WORTH_KEYS } from '../../contract/object_fields.ts';
import { header } from './general.ts';
import { count, type Schema, type Schemas, text, time } from './schema.ts';

const COLUMNS =
  'One row per object; in lookups, also one for each input without an object. Columns: `input_index`, `input_kind`, `input_status`, `input`, ' +
  '`input_error`, `input_total`, `input_truncation` (lookups); `diaObjectId`, `status`, `ra`, `dec`, `separation_arcsec` (lookups, cones), `credible_level` (maps of probability), `reliability`, ' +
  '`ingest_time`, `event_time`, `brokers`, `match_version`, `crossmatched_at`, `provenance_set`; for each catalog `CATALOG_outcome`; ' +
  '`matches`; for each catalog `CATALOG_matches`, `CATALOG_source_id`, `CATALOG_separation_arcsec` of its source, and at `full` `CATALOG_separation_at_epoch_arcsec` if the catalog has proper motions, `CATALOG_release`, ' +
  `${WORTH_KEYS.map(key => `\`CATALOG_${key}\``).join(', ')}, ` +
  '`CATALOG_ra`, `CATALOG_dec` and `CATALOG_KEY` for each other key of its payload, such as `gaia_dr3_phot_g_mean_mag`; `tns_checked`, ' +
  '`tns_name`, `tns_name_prefix`, `tns_classification`, `tns_redshift`, ' +
  '`tns_separation_arcsec`; with filters `qualifies`, `qualifies_reason`. Columns beyond the level of detail are left out; the others are always present, whatever ' +
  'the rows contain. ' +
  'Identifiers are 64-bit integers, but text for the sources of an added catalog with text ids; angles are in degrees, separations in arcsec.';

const IS_TEXT = /^text\/|-ndjson$/;

/**
 * The content of a media type: text or bytes. XML other than `text/xml` counts as bytes, because client generators
 * cannot read it as text.
 */
export function contentSchema(mediaType: string, description: string): Schema {
  return text(description, IS_TEXT.test(mediaType) ? {} : { format: 'binary' });
}

/** Content by media type, in addition to JSON. The columns are only described once. */
export const otherContent: Readonly<Record<string, Schema>> = {
  'application/msgpack': {
    schema: contentSchema('application/msgpack', 'The JSON answer in MessagePack, with integers of 64 bits.'),
  },
  ...Object.fromEntries(
    TABLE_FORMATS.map(({ mediaType, meaning }, i) => [
      mediaType,
      { schema: contentSchema(mediaType, `As a table: ${meaning}.${i === 0 ? ` ${COLUMNS}` : ''}`) },
    ]),
  ),
};

export const dispositionHeader = header(
  text('For a table, a name for the file: `attachment; filename="nearsky-cone.csv"`.'),
);

/** Headers for those parts of an answer that a table has no rows for. */
export const tableHeaders: Schemas = {
  'Content-Disposition': dispositionHeader,
  Link: header(text('For a table that is not the last page: the address of the next page, with `rel="next"`.')),
  'X-Row-Count': header(
    count('For a table: its number of rows. Missing if the table is sent while it is being written.'),
  ),
  'X-Total-Count': header(count('For a cone as a table: the objects within the radius, on all pages.')),
  'X-As-Of': header(time('For a page, or all pages, as a table: the time of the first page.')),
  'X-Truncated': header(
    text('For a lookup or sources as a table: `true` if a limit left out objects or sources, else `false`.'),
  ),
};
