/**
 * Writes the documents as a site for the web: files that any web server can serve, in any directory.
 *
 *   npm run docs -- DIR
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSite, type SiteAddresses, type SitePage } from '../src/capabilities/documents/site.ts';
import { loadAssets } from '../src/capabilities/pages/assets.ts';
import { docsMain, SEARCH_INDEX } from '../src/capabilities/pages/docs_page.ts';
import { type Html, html } from '../src/capabilities/pages/html.ts';
import { programFile } from '../src/core/base/program_files.ts';
import { PROJECT_CATALOGS } from '../src/core/contract/catalogs.ts';

const fileOf = (name: string) => `${name === '' ? 'index' : name}.html`;
/** Links are relative, so that the site works below any address. */
const ADDRESSES: SiteAddresses = { page: fileOf, file: name => name };

/** Files of the pages that documents do not load. */
const UNUSED = 'h3-js.umd.js';

/** @param directory missing or empty */
export function writeSite(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new Error(`Cannot write the site to ${directory} because the directory is not empty`);
  const site = makeSite(ADDRESSES);
  mkdirSync(join(directory, 'assets'), { recursive: true });
  for (const page of site.pages.values())
    writeFileSync(join(directory, fileOf(page.name)), documentOf(page, docsMain(page, site, ADDRESSES)).text);
  for (const [name, path] of site.files) copyFileSync(programFile(path), join(directory, name));
  writeFileSync(join(directory, SEARCH_INDEX), JSON.stringify(site.sections));
  for (const [name, { bytes }] of loadAssets(PROJECT_CATALOGS).files)
    if (name !== UNUSED) writeFileSync(join(directory, 'assets', name), bytes);
}

function documentOf({ title, description }: SitePage, main: Html): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · nearsky</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/style.css">
<script src="assets/theme.js"></script>
<script src="assets/site.js" type="module"></script>
<script src="assets/docs_page.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="wordmark" href="${fileOf('')}"><img src="assets/icon.svg" alt="" width="28" height="28"> nearsky</a>
<button class="theme" type="button" id="theme" hidden>Theme</button>
</header>
<main id="content">
${main}
</main>
</body>
</html>
`;
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) {
    process.stderr.write('Usage: npm run docs -- DIR\n');
    process.exit(2);
  }
  writeSite(directory);
}
