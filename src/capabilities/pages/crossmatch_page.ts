/** The page that crossmatches a reader's list or table. */
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import {
  ALL_CATALOGS,
  againstNames,
  DEFAULT_MATCH_RADIUS_ARCSEC,
  MAX_MATCH_RADIUS_ARCSEC,
} from '../../core/contract/table_match.ts';
import { html, needsScripts } from './html.ts';
import type { Page } from './layout.ts';

export function crossmatchPage({ API_MAX_TABLE_MIB, API_MAX_TABLE_ROWS }: Config, catalogs: Catalogs): Page {
  const titleOf = (name: string) =>
    catalogs.get(name)?.release ?? (name === ALL_CATALOGS ? 'all catalogs' : 'the Rubin objects');
  const hasOwnRadius = catalogs.all.some(({ radius }) => radius);
  return {
    title: 'Match',
    path: '/crossmatch',
    description: 'A list or a table of your own against the objects, or against the catalogs.',
    scripts: ['crossmatch_page.js'],
    main: html`<h1>Match my list</h1>
<p class="lead">Your list or table in, the same rows out, with what lies at each of them.</p>
${needsScripts}
<form id="crossmatch" hidden>
<label for="list">Positions, ids or TNS names, one a line; or a table with a line of column names</label>
<textarea id="list" class="editor" rows="6" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
<p><button type="button" class="link" id="example">Take the positions of the latest objects as an example</button></p>
<label class="drop" id="drop"><strong id="chosen">Or choose a table, or drop it here</strong><input class="unseen" type="file" id="file"><span class="hint">CSV, VOTable, FITS, Parquet, Arrow or NDJSON; at most ${API_MAX_TABLE_ROWS.toLocaleString('en')} rows and ${API_MAX_TABLE_MIB} MiB</span></label>
<datalist id="columns"></datalist>
<p class="choices">
<label class="pick">Against <select name="against">${againstNames(catalogs).map(({ name }) => html`<option value="${name}">${titleOf(name)}</option>`)}</select></label>
<label class="pick">within <input type="text" inputmode="decimal" name="radius_arcsec" size="4" value="${hasOwnRadius ? '' : DEFAULT_MATCH_RADIUS_ARCSEC}"> arcsec, at most ${MAX_MATCH_RADIUS_ARCSEC}${hasOwnRadius && `; ${DEFAULT_MATCH_RADIUS_ARCSEC} or the catalog’s own if empty`}</label>
<label class="pick">Find <select name="find"><option value="nearest">the nearest</option><option value="all">all</option></select></label>
<label class="pick">Keep <select name="rows"><option value="all">every row</option><option value="matched">matched rows</option></select></label>
</p>
<details><summary>Position columns, if their names are not recognised; frame and errors</summary><p class="choices">
<label class="pick">Right ascension <input type="text" name="ra" list="columns" autocomplete="off" spellcheck="false"></label>
<label class="pick">Declination <input type="text" name="dec" list="columns" autocomplete="off" spellcheck="false"></label>
<label class="pick">in <select name="ra_unit"><option value="">degrees, or its unit</option><option value="h">hours</option></select></label>
<label class="pick">Frame <input type="text" name="frame" list="frames" size="10" autocomplete="off" spellcheck="false"></label>
<label class="pick">1σ error <input type="text" name="error_arcsec" list="columns" size="12" autocomplete="off" spellcheck="false"> arcsec, or its column; only against catalogs</label></p>
<datalist id="frames"><option value="ICRS"></option><option value="FK5 J2000"></option><option value="FK4 B1950"></option><option value="galactic"></option></datalist></details>
<p class="actions"><button type="submit" class="primary">Match</button> <button type="button" id="stop" hidden>Stop</button> <span class="hint" id="said" role="status"></span></p>
</form>
<div id="preview" aria-live="polite"></div>
<section id="results" aria-label="Result"></section>`,
  };
}
