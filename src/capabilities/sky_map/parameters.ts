import { DEFAULT_MAP_LAYER, MAP_LAYERS } from '../../core/contract/enums.ts';
import { flag, named } from '../../core/contract/kind.ts';
import { DEFAULT_MAP_RESOLUTION, MAP_RESOLUTION_RANGE, MAX_MAP_RADIUS_DEG } from '../../core/contract/limits.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { centre, type Parameters } from '../../core/documents/parameters.ts';

const ALL_OF_DISC = 'Give `ra`, `dec` and `radius_deg` together, or none of them for the whole sky.';

export const SKY_MAP_PARAMETERS = {
  layer: { kind: named(MAP_LAYERS), description: 'What the cells show.', default: DEFAULT_MAP_LAYER },
  resolution: {
    kind: kinds.digits({ ...MAP_RESOLUTION_RANGE, unit: 'H3 resolution' }),
    description: 'Resolution of the H3 cells: 0 has 122 cells; each next one has about seven times as many.',
    default: DEFAULT_MAP_RESOLUTION,
  },
  ...centre(`the middle of a disc. ${ALL_OF_DISC}`, 'read'),
  radius_deg: {
    kind: kinds.upTo(MAX_MAP_RADIUS_DEG, 'deg'),
    description: `Radius of a disc. Every cell that it touches is listed. ${ALL_OF_DISC}`,
    required: 'read',
  },
  partial: {
    kind: { ...flag(), must: 'one of true, false' },
    description:
      'Whether to answer even during the count of the objects, which happens once per database; `uncounted` is then above 0. ' +
      'By default such a request gets 503.',
    default: false,
  },
} satisfies Parameters;
