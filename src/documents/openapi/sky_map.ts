/** Schemas of the sky map. */
import type { Catalogs } from '../../contract/catalogs.ts';
import { STORED_STATUSES } from '../../store/status.ts';
import { SKY_MAP_PARAMETERS } from '../parameters.ts';
import { schemaOf } from './parameters.ts';
import { closed, constant, count, each, list, number, orNull, ref, type Schema, text } from './schema.ts';

const mapResolution = schemaOf(SKY_MAP_PARAMETERS.resolution);

const cells = list(
  text('A cell as H3 writes it, in hexadecimal; ra is its longitude, dec its latitude.', { pattern: '^[0-9a-f]{15}$' }),
  'The cells. Every other list is parallel to this one.',
);

function head(layer: string): Readonly<Record<string, Schema>> {
  return {
    provenance: ref('Provenance'),
    layer: constant(layer, 'What the cells tell.'),
    resolution: mapResolution,
    count: count('Cells in this answer.'),
  };
}

const objectsLayer = closed('How many objects the cells have.', {
  ...head('objects'),
  total: count('Objects that the service holds, those that are counted so far.'),
  uncounted: count(
    'Objects that are not counted yet, on no cell and not in `total`: 0 unless `partial` was asked for.',
  ),
  without_position: count('Counted objects that have no valid position, and so are in no cell.'),
  by_status: closed('Objects of each status, a number a cell.', {
    ...each(STORED_STATUSES, status => list(count(`Objects with the status \`${status}\`.`), 'One number a cell.')),
  }),
  cells,
});

const share = number('share', 'Share of the cell that the catalog covers.', { minimum: 0, maximum: 1 });
function coverageLayer({ all }: Catalogs): Schema {
  const names = all.map(({ name }) => name);
  return closed('Which catalogs cover the cells, by the coverage maps of those that are registered.', {
    ...head('coverage'),
    by_catalog: closed(
      'The registered catalogs, a number a cell.',
      each(names, () => list(share, 'One number a cell.')),
      names,
    ),
    registered: list(
      closed('A registered catalog.', {
        name: text('Its name.'),
        rows: orNull(count('Rows, by the description of the catalog itself.')),
        area_deg2: number('deg²', 'Area of its coverage map.', { minimum: 0 }),
      }),
      'The catalogs as wholes, whichever cells were asked for.',
    ),
    cells,
  });
}

export function skyMapSchema(catalogs: Catalogs): Schema {
  return { oneOf: [objectsLayer, coverageLayer(catalogs)] };
}
