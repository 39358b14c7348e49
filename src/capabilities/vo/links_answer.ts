/** Answers with the links of objects (DataLink 1.1): a VOTable, in the order of the identifiers. */
import { type Serialization, VotableWriter } from '@nearsky/astrotables';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import { type Query, type QueryKind, queryKind } from '../../core/answers/queries.ts';
import { LINKS_STANDARD, LINKS_TABLE, linksOf, withoutLinks } from './object_links.ts';

/** The links of objects. The answer is a VOTable. */
export interface VoLinksQuery extends Query {
  readonly kind: QueryKind<VoLinksQuery>;
  /** The identifiers as sent, and as ids if they are valid. */
  readonly ids: readonly { readonly sent: string; readonly diaObjectId: bigint | undefined }[];
  /** Whether more identifiers were sent. */
  readonly isCut: boolean;
  readonly serialization: Serialization;
  /** Scheme and host of this service. */
  readonly base: string;
  readonly hasPages: boolean;
}

export const VO_LINKS = queryKind<VoLinksQuery>({
  name: 'voLinks',
  answer: voLinksAnswer,
  objects: ({ ids }) => ids.length,
});

function* voLinksAnswer(query: VoLinksQuery, { clock, out, stored, object }: QueryContext): Steps {
  const { ids, isCut, base, hasPages, serialization } = query;
  const writer = new VotableWriter(out, LINKS_TABLE, serialization);
  writer.begin([{ name: 'standardID', value: LINKS_STANDARD }]);
  for (const { sent, diaObjectId } of ids) {
    if (clock.due) yield;
    if (diaObjectId === undefined) writer.row(withoutLinks(sent, `UsageFault: ${sent} is not a diaObjectId`));
    else if (!stored.readObject(diaObjectId, object))
      writer.row(withoutLinks(sent, `NotFoundFault: there is no object ${diaObjectId}`));
    else for (const row of linksOf(sent, diaObjectId, base, hasPages)) writer.row(row);
  }
  writer.end(isCut ? 'OVERFLOW' : 'OK');
}
