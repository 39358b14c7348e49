/** Answers with the objects for which a source of a catalog is recorded (docs/contract.md, Sources). */
import { toJson } from '@nearsky/astrotables/json';
import { newestMatches } from '../store/newest_matches.ts';
import type { QueryContext, Steps } from './context.ts';
import type { SourceQuery } from './queries.ts';
import { SEPARATOR } from './shared_fragments.ts';

export function* sourceAnswer(query: SourceQuery, { store, fragments, clock, object, out, body }: QueryContext): Steps {
  const { catalogName, catalogSourceId, limit } = query;
  const ids = store.idsBySource(query, limit + 1);
  let count = 0;
  for (const id of ids.slice(0, limit)) {
    if (clock.due) yield;
    if (!store.readObject(id, object) || object.state === 'pending') continue;
    const found = newestMatches(object.decode().matches).find(
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
