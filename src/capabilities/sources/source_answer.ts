/** Answers with the objects for which a source of a catalog is recorded (docs/contract.md, Sources). */
import { toJson } from '@nearsky/astrotables/json';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import { type Query, type QueryKind, queryKind } from '../../core/answers/queries.ts';
import { SEPARATOR } from '../../core/answers/shared_fragments.ts';
import { currentMatches } from '../../core/store/current_matches.ts';
import { idsBySource } from '../../core/store/source_index.ts';
import { OBJECTS_PER_POSITION } from '../objects/queries.ts';

/** The objects that are recorded with a source of a catalog. */
export interface SourceQuery extends Query {
  readonly kind: QueryKind<SourceQuery>;
  readonly catalogName: string;
  /** As in `MatchSummary`. */
  readonly catalogSourceId: string;
  /** The maximum number of listed objects, at least 1. */
  readonly limit: number;
}

export const SOURCE_QUERY = queryKind<SourceQuery>({
  name: 'source',
  answer: sourceAnswer,
  objects: () => OBJECTS_PER_POSITION,
});

function* sourceAnswer(query: SourceQuery, context: QueryContext): Steps {
  const { store, stored, fragments, clock, object, out, body } = context;
  const { catalogName, catalogSourceId, limit } = query;
  const ids = idsBySource(store.databases, query, limit + 1);
  let count = 0;
  for (const id of ids.slice(0, limit)) {
    if (clock.due) yield;
    if (!stored.readObject(id, object) || object.state === 'pending') continue;
    const found = currentMatches(object.decode()).find(
      ({ match }) => match.catalogName === catalogName && match.catalogSourceId === catalogSourceId,
    );
    if (!found) continue;
    if (count++ > 0) body.fragment(SEPARATOR);
    const { separationArcsec, separationAtEpochArcsec: atEpoch } = found.match;
    const identity = { diaObjectId: id, diaObjectId_str: `${id}`, separation_arcsec: separationArcsec };
    body.longText(toJson(atEpoch === undefined ? identity : { ...identity, separation_at_epoch_arcsec: atEpoch }));
  }
  const head = {
    catalog_name: catalogName,
    catalog_source_id: catalogSourceId,
    count,
    truncated: ids.length > limit,
  };
  out.fragment(fragments.start);
  out.longText(`, ${toJson(head).slice(1, -1)}, "objects": [`);
  out.append(body);
  out.longText(']}');
}
