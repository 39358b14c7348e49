/** Schemas of the sky map. */
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { schemaOf } from '../../core/documents/openapi/parameters.ts';
import {
  closed,
  constant,
  count,
  each,
  list,
  number,
  orNull,
  ref,
  type Schema,
  text,
} from '../../core/documents/openapi/schema.ts';
import { STORED_STATUSES } from '../../core/store/status.ts';
import { SKY_MAP_PARAMETERS } from './parameters.ts';

const mapResolution = schemaOf(SKY_MAP_PARAMETERS.resolution);

const cells = list(
  text("A cell in H3's hexadecimal notation. Right ascension is H3's longitude, declination its latitude.", {
    pattern: '^[0-9a-f]{15}$',
  }),
  'The cells. The other lists have the same order.',
);

function head(layer: string): Readonly<Record<string, Schema>> {
  return {
    provenance: ref('Provenance'),
    layer: constant(layer, 'What the cells show.'),
    resolution: mapResolution,
    count: count('Cells in this answer.'),
  };
}

const objectsLayer = closed('The number of objects in each cell.', {
  ...head('objects'),
  total: count('Number of objects in the service that were counted so far.'),
  uncounted: count(
    'Number of objects that were not counted yet. They are in no cell and not in `total`. 0 unless `partial` was requested.',
  ),
  without_position: count('Number of counted objects without a valid position, which are in no cell.'),
  by_status: closed('Objects of each status: one number per cell.', {
    ...each(STORED_STATUSES, status => list(count(`Objects with the status \`${status}\`.`), 'One number per cell.')),
  }),
  cells,
});

const share = number('share', 'Fraction of the cell that the catalog covers.', { minimum: 0, maximum: 1 });
function coverageLayer({ all }: Catalogs): Schema {
  const names = all.map(({ name }) => name);
  return closed('The coverage of the cells by the registered catalogs, according to their coverage maps.', {
    ...head('coverage'),
    by_catalog: closed(
      'The registered catalogs: one number per cell.',
      each(names, () => list(share, 'One number per cell.')),
      names,
    ),
    registered: list(
      closed('A registered catalog.', {
        name: text('Its name.'),
        rows: orNull(count("Number of rows, according to the catalog's own description.")),
        area_deg2: number('deg²', 'Area of its coverage map.', { minimum: 0 }),
      }),
      'The whole catalogs, whichever cells were requested.',
    ),
    cells,
  });
}

export function skyMapSchema(catalogs: Catalogs): Schema {
  return { oneOf: [objectsLayer, coverageLayer(catalogs)] };
}
