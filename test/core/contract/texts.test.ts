/** The statements of the specification on which integrators rely are at their places in the OpenAPI document. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { API } from '../../capabilities.ts';
import { root } from '../../directory.ts';
import { configWith } from './support.ts';

const test = suite('contract/texts');

const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');

/** `A.b` is a property of a schema, `info` the head of the document. */
const TEXTS: readonly (readonly [place: string, text: string])[] = [
  ['info', 'only the nearest catalog source within that radius is kept: at most one coincident source per catalog'],
  ['info', 'A coincident source is not a host association.'],
  ['info', 'the absence of a coincident source is not evidence of a hostless transient'],
  ['info', 'is not evidence that an object failed a reliability cut or does not exist in the survey'],
  ['info', 'skymapper_dr4 `raj2000`,`dej2000`'],
  ['info', 'An object without a HEALPix index'],
  ['info', 'is not reachable by position'],
  ['info', 'status and coincident sources can advance between pages'],
  ['Provenance', 'The crossmatch radius is 1.0 arcsec.'],
  ['ObjectStatus', 'which is not evidence that it failed a reliability cut or does not exist in the survey'],
  ['InputStatus', 'which is not evidence that the survey has none there'],
  ['MatchSummary', 'at most one per catalog'],
  ['MatchSummary', 'It is not a host association.'],
  ['PublishedMatch', 'It is not a host association.'],
  ['MatchSummary.catalog_source_id', 'An id is unique only within one `catalog_name`.'],
  ['MatchSummary.catalog_source_id', 'The source_id of Gaia DR3'],
  ['MatchSummary.catalog_source_id', 'The COADD_OBJECT_ID of DES Y6 Gold'],
  ['MatchSummary.catalog_source_id', 'The COADD_OBJECT_ID of DELVE DR3 Gold'],
  ['MatchSummary.catalog_source_id', 'A DES id of the same digits does not mean the same source.'],
  ['MatchSummary.catalog_source_id', 'The object_id of SkyMapper DR4'],
  ['PublishedMatch.ra', 'No proper motion is applied and no epoch propagated'],
  ['PublishedMatch.ra', 'which is J2016.0'],
  ['PublishedMatch.ra', 'of skymapper_dr4 from `raj2000`,`dej2000`'],
  ['PublishedMatch.dec', 'which is J2016.0'],
  ['RecentCrossmatchesPage.next_cursor', 'status and coincident sources can advance between pages'],
  ['ConeSearchResponse.next_cursor', 'status and coincident sources can advance between pages'],
];

test('the document says, word for word, what integrators rely on [Catalogs; Purpose]', () => {
  for (const [place, text] of TEXTS) assert.ok(descriptionAt(place).includes(text), `${place} does not say: ${text}`);
});

test('the codes, in the order of the contract [Errors]', () => {
  const section = /\n## Errors\n(.*?)\n## /s.exec(contract)![1]!;
  const named = [...section.matchAll(/^\| `(\w+)` \| \d+ \|/gm)].map(([, name]) => name);
  const { ErrorCode, ServerErrorCode } = document().components.schemas;
  assert.equal([...ErrorCode.enum, ...ServerErrorCode.enum], named);
});

// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of the document and fails where it is not there
const document = (): any => openApiDocument(API, configWith());

function descriptionAt(place: string): string {
  const { info, components } = document();
  const [schema, property] = place.split('.') as [string, string | undefined];
  const found = schema === 'info' ? info : components.schemas[schema];
  // A property that may be null, or that a schema adds to another's, is deeper down.
  return property === undefined ? found.description : JSON.stringify(found.properties[property]);
}

test.run();
