/**
 * Reads the units, UCDs and descriptions of columns from a Parquet file that contains them as a VOTable (the IVOA note
 * "Parquet in the VO", which hats follows in `dataset/_common_metadata`).
 */

import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { hasOptional } from './catalog_files.ts';
import { withParquet } from './files.ts';
import { COMMON_METADATA_FILE } from './layout.ts';
import type { HatsTable } from './table.ts';

/** The key of the VOTable in the metadata of a file. */
const VOTABLE_KEY = 'IVOA.VOTable-Parquet.content';

export interface FieldText {
  readonly unit?: string;
  readonly ucd?: string;
  readonly description?: string;
}

const FIELD = /<FIELD\b((?:[^>"']|"[^"]*"|'[^']*')*?)(?:\/>|>([\s\S]*?)<\/FIELD>)/g;
const ATTRIBUTE = /([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const DESCRIPTION = /<DESCRIPTION>([\s\S]*?)<\/DESCRIPTION>/;
const MAX_LENGTH = 300;

/**
 * The metadata of a catalog's columns by column name: from one of the catalog's files, else from the catalog as a
 * whole.
 */
export async function columnTexts(
  { files }: Pick<HatsTable, 'files'>,
  file: ParquetFile,
): Promise<ReadonlyMap<string, FieldText>> {
  const own = file.metadataText(VOTABLE_KEY);
  if (own !== undefined || !(await hasOptional(files, COMMON_METADATA_FILE))) return fieldTexts(own ?? '');
  return withParquet(files, COMMON_METADATA_FILE, common => fieldTexts(common.metadataText(VOTABLE_KEY) ?? ''));
}

/** The attributes of the fields of a VOTable, by the name of the column; empty if the text is not a VOTable. */
export function fieldTexts(votable: string): ReadonlyMap<string, FieldText> {
  const texts = new Map<string, FieldText>();
  for (const [, attributes = '', content = ''] of votable.matchAll(FIELD)) {
    const values = new Map<string, string>();
    for (const [, key, double, single] of attributes.matchAll(ATTRIBUTE))
      values.set(key!, plain(double ?? single ?? ''));
    const name = values.get('name');
    const description = plain(DESCRIPTION.exec(content)?.[1] ?? '');
    const [unit, ucd] = [values.get('unit'), values.get('ucd')];
    if (name) texts.set(name, { ...(unit && { unit }), ...(ucd && { ucd }), ...(description && { description }) });
  }
  return texts;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The text in one line, without entities and markup. */
function plain(xml: string): string {
  return xml
    .replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, '$1')
    .replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_LENGTH);
}
