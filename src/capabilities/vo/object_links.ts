/** The links of objects (DataLink 1.1): how VOTables with objects refer to them, and the links themselves. */
import { type ColumnService, type Row, type Table, VOTABLE_TYPE } from '@nearsky/astrotables';

export const LINKS_PATH = '/vo/links';
export const LINKS_TYPE = `${VOTABLE_TYPE};content=datalink`;
export const LINKS_STANDARD = 'ivo://ivoa.net/std/DataLink#links-1.1';

/** The XML ID of columns with identifiers of objects. */
export const OBJECT_ID_COLUMN = 'diaObjectId';

/** @param base scheme and host of this service */
export function objectLinks(base: string): ColumnService {
  return {
    name: 'links',
    description: 'Links of an object: its matches and crossmatch as JSON, and its page',
    accessUrl: `${base}${LINKS_PATH}`,
    standardId: LINKS_STANDARD,
    contentType: LINKS_TYPE,
    parameter: 'ID',
    of: OBJECT_ID_COLUMN,
  };
}

const column = (name: string, ucd: string, description: string) =>
  ({ name, type: 'text', isAscii: true, ucd, description }) as const;

/** DataLink 1.1, section 3.2. */
export const LINKS_TABLE: Table = {
  name: 'links',
  description: 'Links of objects',
  columns: [
    column('ID', 'meta.id;meta.main', 'The identifier as sent'),
    column('access_url', 'meta.ref.url', 'Address of the link'),
    column('service_def', 'meta.ref', 'Not used'),
    column('error_message', 'meta.code.error', 'The reason why there is no link'),
    column('description', 'meta.note', 'What the link leads to'),
    column('semantics', 'meta.code', 'How it relates to the object: a term of http://www.ivoa.net/rdf/datalink/core'),
    column('content_type', 'meta.code.mime', 'Media type'),
    { name: 'content_length', type: 'int64', unit: 'byte', ucd: 'phys.size;meta.file', description: 'Not known' },
  ],
};

/** The links of a stored object. @param hasPages whether the service has a page of each object */
export function linksOf(sent: string, diaObjectId: bigint, base: string, hasPages: boolean): Row[] {
  const link = (path: string, description: string, semantics: string, type: string): Row => {
    return [sent, `${base}${path}`, null, null, description, semantics, type, null];
  };
  return [
    link(
      `/api/objects/${diaObjectId}?detail=full`,
      'The object with its matches and crossmatch',
      '#this',
      'application/json',
    ),
    ...(hasPages ? [link(`/objects/${diaObjectId}`, 'The page of the object', '#auxiliary', 'text/html')] : []),
  ];
}

/** @param message begins with a fault of DataLink 1.1, section 3.4 */
export function withoutLinks(sent: string, message: string): Row {
  return [sent, null, null, message, null, '#this', null, null];
}
