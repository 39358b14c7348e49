import type { Catalogs } from '../../core/contract/catalogs.ts';
import { type FilterableField, fieldFilterNames, filterableFields } from '../../core/contract/filters.ts';
import { orderInForce, orderRemark, pixelArcmin, sourceIdMeaning } from '../../core/documents/catalogs.ts';
import { releaseOf } from '../../core/store/provenance.ts';

/** The entries of `catalogs` in the service's description; keys as in the JSON. */
export function catalogDescriptions(catalogs: Catalogs) {
  return catalogs.all.map(catalog => ({
    ...releaseOf(catalog, false),
    catalog_source_id: { column: catalog.idColumn, description: sourceIdMeaning(catalog) },
    filterable_fields: filterableFields(catalog).map(field => fieldDescription(catalog.name, field)),
    coverage_map: {
      footprint_moc_order: orderInForce(catalog, catalogs),
      resolution_arcmin: pixelArcmin(orderInForce(catalog, catalogs)),
      note: [
        'The outcome "searched" means that the position was inside the footprint at this resolution;',
        'a hole or an edge smaller than a pixel may still be recorded as searched.',
        orderRemark(catalog, catalogs),
      ]
        .join(' ')
        .trimEnd(),
    },
  }));
}

function fieldDescription(catalog: string, field: FilterableField) {
  return {
    name: field.name,
    unit: field.unit,
    description: field.description,
    column: field.column,
    derived_from: field.derivedFrom ?? null,
    parameters: fieldFilterNames(catalog, field),
  };
}
