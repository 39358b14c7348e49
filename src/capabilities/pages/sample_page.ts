/** The page that reports on a reader's sample. */
import type { Config } from '../../core/config/config.ts';
import { type FeedLink, followLink } from './feed_link.ts';
import { html, needsScripts } from './html.ts';
import type { Page } from './layout.ts';

export function samplePage({ API_MAX_TABLE_MIB, CROSSMATCH_RADIUS_ARCSEC }: Config, feed: FeedLink): Page {
  return {
    title: 'Sample',
    path: '/sample',
    description: 'A report on a list of transients: which lie on a star, and how many by chance.',
    scripts: ['sample_page.js'],
    feed,
    main: html`<h1>How many of these are stars?</h1>
<p class="lead">A report on your list of transients: which lie within ${CROSSMATCH_RADIUS_ARCSEC}″ of a star, a galaxy or a quasar of a catalog, how many do so by chance, and what was never searched.</p>
${needsScripts}
<form id="sample" hidden>
<label for="list">Ids, TNS names or positions, one a line; or a table with a line of column names</label>
<textarea id="list" class="editor" rows="6" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
<p><button type="button" class="link" id="example">Take the latest objects as an example</button></p>
<label class="drop" id="drop"><strong id="chosen">Or choose a table, or drop it here</strong><input class="unseen" type="file" id="file"><span class="hint">CSV, VOTable, FITS, Parquet, Arrow or NDJSON; at most ${API_MAX_TABLE_MIB} MiB. A table that takes longer than a request becomes a job, which this page waits for; its address shows the report later.</span></label>
<p class="actions"><button type="submit" class="primary">Report</button> <button type="button" id="stop" hidden>Stop</button> <span class="hint" id="said" role="status"></span></p>
</form>
${followLink(feed)}
<section id="results" aria-label="Report"></section>
<p class="hint">A verdict is what a catalog says of its source. It classifies no transient, and names no host. <a href="/docs/how_many_are_stars">What the report says</a>. <a href="/validation">How these numbers were tested on this archive</a></p>`,
  };
}
