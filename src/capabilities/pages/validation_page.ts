/** The page with the validation: the matches of transients with a known class, and of random positions. */
import type { Config } from '../../core/config/config.ts';
import { html, loading, needsScripts } from './html.ts';
import type { Page } from './layout.ts';

export function validationPage({ CROSSMATCH_RADIUS_ARCSEC }: Config): Page {
  return {
    title: 'Validation',
    path: '/validation',
    description: 'The matches of transients with a known class, and of random positions, in this archive.',
    scripts: ['validation_page.js'],
    main: html`<h1>Validation</h1>
<p class="lead">Which classified transients lie within ${CROSSMATCH_RADIUS_ARCSEC}″ of a catalog source, and whether random positions have as many sources as the chance probability says. From this archive.</p>
${needsScripts}
<section id="validation" aria-label="Validation" aria-live="polite" aria-busy="true">${loading}</section>
<p class="hint">A verdict is what a catalog says of its source: it classifies no transient, and names no host. <a href="/docs/statistics">What a match is worth</a></p>`,
  };
}
