/** Answers with the links of objects (DataLink 1.1): a VOTable, in the order of the identifiers. */
import { VotableWriter } from '@nearsky/astrotables';
import { LINKS_STANDARD, LINKS_TABLE, linksOf, withoutLinks } from '../vo/object_links.ts';
import type { QueryContext, Steps } from './context.ts';
import type { VoLinksQuery } from './queries.ts';

export function* voLinksAnswer(query: VoLinksQuery, { clock, out, store, object }: QueryContext): Steps {
  const { ids, isCut, base, serialization } = query;
  const writer = new VotableWriter(out, LINKS_TABLE, serialization);
  writer.begin([{ name: 'standardID', value: LINKS_STANDARD }]);
  for (const { sent, diaObjectId } of ids) {
    if (clock.due) yield;
    if (diaObjectId === undefined) writer.row(withoutLinks(sent, `UsageFault: ${sent} is not a diaObjectId`));
    else if (!store.readObject(diaObjectId, object))
      writer.row(withoutLinks(sent, `NotFoundFault: there is no object ${diaObjectId}`));
    else for (const row of linksOf(sent, diaObjectId, base)) writer.row(row);
  }
  writer.end(isCut ? 'OVERFLOW' : 'OK');
}
