/** The language features that a service declares (TAPRegExt 1.0, with the types of ADQL 2.1), and the functions beyond ADQL. */
import { AGGREGATES } from './aggregates.ts';
import { type Documented, FUNCTIONS } from './functions.ts';

export interface Feature {
  /** The type, after `ivo://ivoa.net/std/TAPRegExt#features-`. */
  readonly type: string;
  readonly form: string;
  /** How the feature differs from the standard; undefined if it does not. */
  readonly description?: string;
}

/** Features that are only partly supported. */
const PARTS: Readonly<Record<string, string>> = {
  CENTROID: 'The corners of a POLYGON, and the centre and size of a BOX, must be numbers',
  CONTAINS: 'A MOC holds a POINT and no other shape',
  INTERSECTS: 'A MOC is tested with a POINT alone',
  POLYGON: 'The smaller of the two parts of the sky',
  BOX: 'With corners on meridians and parallels. A box beyond a pole has its width and height along great circles through its centre',
  COORDSYS: 'ICRS of every shape',
  IN_UNIT: 'Takes a column that has a unit, and a unit that is a constant',
};

const named = (type: string, ...forms: readonly string[]): Feature[] =>
  forms.map(form => ({ type, form, ...(PARTS[form] && { description: PARTS[form] }) }));

const documented = (functions: Readonly<Record<string, Documented>>): Feature[] =>
  Object.values(functions).flatMap(({ forms = {} }) =>
    Object.entries(forms).map(([form, description]) => ({ type: 'udf', form, description })),
  );

const SHAPES = Object.entries(FUNCTIONS)
  .flatMap(([name, { isShape }]) => (isShape ? [name] : []))
  .sort();

export const FEATURES: readonly Feature[] = [
  ...named('adqlgeo', ...SHAPES),
  ...named('adql-string', 'LOWER', 'UPPER', 'ILIKE'),
  ...named('adql-sets', 'UNION', 'EXCEPT', 'INTERSECT'),
  ...named('adql-common-table', 'WITH'),
  ...named('adql-type', 'CAST'),
  ...named('adql-conditional', 'COALESCE'),
  ...named('adql-unit', 'IN_UNIT'),
  ...named('adql-offset', 'OFFSET'),
  ...documented(FUNCTIONS),
  ...documented(AGGREGATES),
];
