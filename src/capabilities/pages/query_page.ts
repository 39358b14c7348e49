/** The page for queries in ADQL: an editor beside the list of tables. */
import { spelled, tableName } from '@nearsky/adql';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import type { ListedTable } from '../adql/listed_table.ts';
import { adqlSettings } from '../adql/settings.ts';
import { listedTables } from '../adql/tables.ts';
import { EXAMPLES, TAP_FORMATS } from '../adql/tap_formats.ts';
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';

/** The address of the SAMP Web Profile hub, on the reader's machine. */
const SAMP_HUB = 'http://localhost:21012';

/** @param isInstalled whether the query engine is installed */
export function queryPage(config: Config, catalogs: Catalogs, isInstalled: boolean): Page {
  const { TAP_MAX_QUERIES, TAP_MAX_RECORDS } = adqlSettings.of(config);
  const all = listedTables(catalogs);
  const obstacle = obstacleOf(TAP_MAX_QUERIES, isInstalled);
  const formats = TAP_FORMATS.map(({ name }) => name).filter(name => !name.includes('/'));
  return {
    title: 'Query',
    path: '/query',
    description: 'Queries in ADQL over objects, matches and the columns of the catalogs.',
    scripts: ['query_page.js'],
    connectsTo: SAMP_HUB,
    main: html`<h1>Query</h1>
<p class="lead">Query the objects, their matches and the columns of the catalogs in ADQL, the SQL of astronomy. TOPCAT and pyvo send the same queries <a href="/vo#tap">by TAP</a>.</p>
${obstacle && html`<p class="notice">${obstacle}</p>`}
<div class="with-schema">
<div>
<section aria-labelledby="examples-title"><h2 id="examples-title">Examples</h2>
<ul class="tries">${EXAMPLES.map(([, name, query]) => html`<li><a href="/query?q=${encodeURIComponent(query)}">${name}</a></li>`)}</ul>
</section>
<form id="query" action="${TAP_PATH}/sync" method="post" data-formats="${formats.join(' ')}" data-most="${TAP_MAX_RECORDS}">
<input type="hidden" name="LANG" value="ADQL">
<label for="adql">A query in ADQL</label>
<textarea id="adql" class="editor" name="QUERY" rows="8" required autocomplete="off" autocapitalize="off" spellcheck="false">${EXAMPLES[0][2]}</textarea>
<p class="actions"><button type="submit" class="primary" name="RESPONSEFORMAT" value="csv">Run</button> <button type="button" id="stop" hidden>Stop</button> <span class="hint" id="said" role="status"></span></p>
</form>
<noscript><p class="notice">Without JavaScript the answer is a file, as CSV.</p></noscript>
<section id="results" aria-label="Result"></section>
</div>
<section class="schema" aria-labelledby="tables-title"><h2 id="tables-title">Tables</h2>
${all.filter(table => !isOfSchema(table)).map(tableOf)}
<details><summary>TAP_SCHEMA</summary><p class="hint">These tables and their columns, as tables that a program can query.</p>${all.filter(isOfSchema).map(tableOf)}</details>
</section>
</div>`,
  };
}

/** Whether a table is one of those that describe the tables. */
const isOfSchema = (table: ListedTable) => tableName(table).startsWith('TAP_SCHEMA.');

function obstacleOf(maxQueries: number, isInstalled: boolean): string | undefined {
  if (maxQueries === 0) return 'Queries are switched off here (TAP_MAX_QUERIES is 0).';
  if (isInstalled) return undefined;
  return 'Queries cannot be answered here because the package @duckdb/node-api is not installed.';
}

function tableOf(table: ListedTable): Html {
  const columns = table.columns.map(
    ({ name, unit, description }) =>
      html`<li><code class="insert">${spelled(name)}</code>${unit && html` <span class="unit">${unit}</span>`} <span class="about">${description}</span></li>`,
  );
  // A long name breaks after an underscore.
  const name = tableName(table)
    .split(/(?<=_)/)
    .map((part, i) => html`${i > 0 && html`<wbr>`}${part}`);
  return html`<details><summary><code>${name}</code></summary><p class="hint">${table.description}.</p><ul>${columns}</ul></details>`;
}
