/** Instructions for Virtual Observatory clients. */

import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { OBJECTS_MOC_ORDER } from '../../core/contract/limits.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import { orderInForce } from '../../core/documents/catalogs.ts';
import { MOC_FORMATS } from '../catalogs/moc.ts';
import { type Block, toHtml } from '../documents/blocks.ts';
import { coneTargets, OBJECTS } from '../vo/cone_tables.ts';
import { conePath, VO_PATH } from '../vo/vosi.ts';
import type { Examples } from './examples.ts';
import { Html, html } from './html.ts';
import type { Page } from './layout.ts';

const blocks = (...list: readonly Block[]) => new Html(toHtml(list));

function rowsOf(target: string, catalogs: Catalogs): string {
  return target === OBJECTS ? 'Objects' : `Sources of ${catalogs.get(target)!.release}`;
}

export function voPage(
  { VO_MAX_RADIUS_DEG, VO_MAX_RECORDS }: Config,
  base: string,
  { position }: Examples,
  catalogs: Catalogs,
): Page {
  const ra = (position?.ra ?? 61.6223).toFixed(4);
  const dec = (position?.dec ?? -49.2951).toFixed(4);
  const objects = `${base}${conePath(OBJECTS)}`;
  return {
    title: 'Virtual Observatory',
    path: VO_PATH,
    description: 'Cone searches and coverage maps for TOPCAT, Aladin, pyvo.',
    main: html`<h1>Virtual Observatory</h1>
<p class="lead">Simple Cone Search over the objects, and over the sources of each catalog that coincide with one. Paste these addresses into TOPCAT, Aladin or pyvo.</p>
<h2>Cone searches</h2>
${blocks({
  kind: 'table',
  header: ['Rows', 'Address'],
  rows: coneTargets(catalogs).map(target => [rowsOf(target, catalogs), `\`${base}${conePath(target)}\``]),
})}
<p><code>RA</code>, <code>DEC</code> and <code>SR</code> in degrees, a radius of ${VO_MAX_RADIUS_DEG}° at most; <code>VERB</code> 1 to 3 for more columns; <code>MAXREC</code> up to ${VO_MAX_RECORDS} rows, the nearest ones. <code>RESPONSEFORMAT=votable;serialization=BINARY2</code> packs the rows. <a href="${conePath(OBJECTS)}?RA=${ra}&amp;DEC=${dec}&amp;SR=0.05">An example</a>.</p>
<p><code>diaObjectId</code> and source ids are 64-bit integers (<code>long</code>); an added catalog may have texts. A count of sources that is empty means that the catalog was not searched there, or not yet.</p>
<h2>In TOPCAT</h2>
${blocks({
  kind: 'list',
  items: [
    `VO → Cone Search: paste \`${objects}\` as the Cone URL, give a position and a radius, press OK.`,
    'VO → Multicone does the same for each row of a table that is open.',
  ],
})}
${blocks({ kind: 'code', text: `stilts coneskymatch in=mine.fits ra=ra dec=dec sr=0.0003 find=all \\\n       serviceurl='${objects}' out=matches.fits` })}
<h2>In Aladin</h2>
${blocks({
  kind: 'list',
  items: [
    `File → Open, and as its address \`${base}${VO_PATH}/moc/objects.fits\`: where there are objects.`,
    `For the objects of a field, open \`${objects}?RA=${ra}&DEC=${dec}&SR=0.05\`.`,
  ],
})}
<h2>In Python</h2>
${blocks({
  kind: 'code',
  text: `import pyvo\n\ncone = pyvo.dal.SCSService("${objects}")\ntable = cone.search(pos=(${ra}, ${dec}), radius=0.05, verbosity=3).to_table()\nprint(table["diaObjectId", "separation_arcsec", "status", "gaia_dr3_matches"])`,
})}
<h2 id="tap">Queries in ADQL</h2>
<p>Query the objects, their matches and the columns of the catalogs by TAP: <code>${base}${TAP_PATH}</code>. <a href="/query">The page of queries</a> has the tables, and examples.</p>
<h2>Coverage</h2>
<p>As a MOC of HEALPix cells: ${catalogs.all.map(catalog => `${catalog.release} to order ${orderInForce(catalog, catalogs)}`).join(', ')}, the objects to order ${OBJECTS_MOC_ORDER} (a cell that has one). A catalog has a map once it is registered.</p>
${blocks({ kind: 'list', items: coneTargets(catalogs).map(target => `${rowsOf(target, catalogs)}: ${MOC_FORMATS.map(format => `[${format}](${VO_PATH}/moc/${target}.${format})`).join(', ')}`) })}
<h2>For registries</h2>
<p>VOSI: <a href="${VO_PATH}/capabilities">capabilities</a>, <a href="${VO_PATH}/availability">availability</a>, <a href="${VO_PATH}/tables">tables</a>.</p>`,
  };
}
