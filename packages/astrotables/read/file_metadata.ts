/**
 * Reads the declarations about columns in the metadata of Parquet and Arrow files: the YAML of astropy, the VOTable of
 * VOParquet (https://www.ivoa.net/documents/Notes/VOParquet/) and the metadata of Arrow's fields, as the writers
 * here make them.
 */
import type { Column } from '../columns.ts';
import { maskPlaces, readAstropyYaml } from './astropy_yaml.ts';
import { FRAME_KEYWORDS, framesOfKeywords } from './frame_keywords.ts';
import type { DeclaredFrame, InputTable } from './input_table.ts';
import { headByName } from './votable.ts';

const ASTROPY_KEY = 'table_meta_yaml';
const PANDAS_KEY = 'PANDAS_ATTRS';
const VOTABLE_KEY = 'IVOA.VOTable-Parquet.content';

/** The metadata of a field of Arrow. */
export type FieldMetadata = ReadonlyMap<string, string>;

/**
 * Adds units, UCDs, descriptions and frames to the columns. The metadata of a field take precedence over the VOTable,
 * and the VOTable over the YAML.
 * @param textOf returns a string from the file's metadata by its key
 * @param fieldOf returns the metadata of a column by its name
 * @throws TableError if one of them cannot be read, because ignoring it would silently change the frame
 */
export function declaredBy(
  columns: readonly Column[],
  textOf: (key: string) => string | undefined,
  fieldOf: (name: string) => FieldMetadata | undefined,
): Pick<InputTable, 'columns' | 'frames' | 'declared' | 'masks'> {
  const [yaml, document] = [textOf(ASTROPY_KEY), textOf(VOTABLE_KEY)];
  const astropy = yaml ? readAstropyYaml(yaml) : undefined;
  const votable = document ? headByName(document) : undefined;
  const frames = new Map<number, DeclaredFrame>();
  const described = columns.map((column, place): Column => {
    const { name } = column;
    const field = fieldOf(name);
    const own = field?.get('frame');
    const frame = own ? { name: own } : (votable?.frames.get(name) ?? astropy?.frames.get(name));
    if (frame) frames.set(place, frame);
    const others = [votable?.columns.get(name), astropy?.columns.get(name)];
    const of = (key: 'unit' | 'ucd' | 'description') =>
      field?.get(key) || others.map(other => other?.[key]).find(text => text);
    const [unit, ucd, description] = [of('unit'), of('ucd'), of('description')];
    return { ...column, ...(unit && { unit }), ...(ucd && { ucd }), description: description ?? '' };
  });
  const names = columns.map(({ name }) => name);
  return {
    columns: described,
    frames,
    declared: [...(votable?.declared ?? []), ...(astropy?.declared ?? []), ...framesOfKeywords(keywordsIn(textOf))],
    ...(astropy && { masks: maskPlaces(astropy, names) }),
  };
}

/** The keywords in the file's metadata, and in the `attrs` of a data frame of pandas. */
function keywordsIn(textOf: (key: string) => string | undefined): [string, string][] {
  const own = FRAME_KEYWORDS.map((keyword): [string, string] => [keyword, textOf(keyword) ?? '']);
  try {
    const attrs: unknown = JSON.parse(textOf(PANDAS_KEY) ?? '{}');
    return [...own, ...Object.entries(attrs ?? {}).map(([name, value]): [string, string] => [name, `${value}`])];
  } catch {
    return own;
  }
}
