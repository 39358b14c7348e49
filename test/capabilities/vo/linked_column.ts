import * as assert from 'uvu/assert';

const LINKS = 'http://sky.example/vo/links';

/** The column with identifiers of objects in a document, if it refers to the service of links. */
export function linkedColumn(text: string): string | undefined {
  if (!text.includes('<RESOURCE type="meta" utype="adhoc:service"')) return undefined;
  assert.match(text, `<PARAM name="accessURL" datatype="char" arraysize="*" value="${LINKS}"/>`);
  assert.match(text, '<PARAM name="ID" datatype="char" arraysize="*" value="" ref="diaObjectId"/>');
  return [...text.matchAll(/<FIELD name="(\w+)" ID="diaObjectId"/g)].map(([, name]) => name).join();
}
