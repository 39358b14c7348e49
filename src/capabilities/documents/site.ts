/**
 * The documents as a website: the Markdown files of docs/ and the pages that they link to, as HTML, with a search
 * index. docs/README.md lists the pages by task. The service serves the site at `/docs`; `npm run docs` writes it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { programFile } from '../../core/base/program_files.ts';
import { anchor, escapeHtml } from './blocks.ts';

export interface SitePage {
  /** The name of the page in addresses; empty for the list of pages. */
  readonly name: string;
  readonly title: string;
  /** The heading of docs/README.md under which the page is listed; undefined for docs/README.md itself. */
  readonly group: string | undefined;
  /** The first paragraph, without markup. */
  readonly description: string;
  readonly html: string;
  /** The headings of level 2. */
  readonly headings: readonly { readonly text: string; readonly id: string }[];
}

/** A section, as an entry of the search index. */
interface SiteSection {
  readonly address: string;
  readonly title: string;
  /** The heading; empty for the part before the first heading. */
  readonly heading: string;
  /** Paragraphs, list items, cells of tables and code, without markup. */
  readonly text: string;
  /** How much the page counts in a search: 1 for pages for users, less for others. */
  readonly weight: number;
}

/** Groups of docs/README.md whose pages count less: they are for looking something up, or for work on the program. */
const WEIGHTS: Readonly<Record<string, number>> = { '': 0.5, Reference: 0.8, Inside: 0.5, 'The project': 0.4 };

export interface Site {
  /** The pages, in the order of docs/README.md, which comes first itself. */
  readonly pages: ReadonlyMap<string, SitePage>;
  /** The files that pages show or link to: each file's name in addresses, with its path from the program's root. */
  readonly files: ReadonlyMap<string, string>;
  readonly sections: readonly SiteSection[];
}

/** Converts the links between pages and files into addresses. */
export interface SiteAddresses {
  page(name: string): string;
  file(name: string): string;
}

const LIST = 'docs/README.md';

/**
 * The name of a page: `docs/tap.md` is `tap`, `ARCHITECTURE.md` is `architecture`, `index/README.md` is `index-readme`.
 */
function nameOf(path: string): string {
  if (path === LIST) return '';
  return path
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '-')
    .toLowerCase();
}

const isPage = (path: string) => path.endsWith('.md');

/** The path that a page's link leads to, from the program's root, and its fragment; undefined for other sites. */
function targetOf(href: string, from: string): { readonly path: string; readonly fragment: string } | undefined {
  if (/^[a-z]+:/i.test(href)) return undefined;
  const at = href.indexOf('#');
  const [path, fragment] = at < 0 ? [href, ''] : [href.slice(0, at), href.slice(at)];
  return { path: path === '' ? from : normalize(join(dirname(from), path)), fragment };
}

/**
 * @param list the page that lists the others by task, as a path from the program's root
 * @throws Error that names a page and its link, if the link leads to a page that docs/README.md does not list, or to a
 *   heading or a file that does not exist
 */
export function makeSite(addresses: SiteAddresses, list = LIST): Site {
  const groups = groupsOf(list);
  const sources = [...groups].map(([path, group]) => ({ path, group, ...parsed(path) }));
  const fragments = new Map(sources.map(({ path, ids }) => [path, new Set(ids.values())]));
  const files = new Map<string, string>();

  const address = (href: string, from: string): string => {
    const target = targetOf(href, from);
    if (!target) return href;
    const { path, fragment } = target;
    const wrong = (why: string) => new Error(`Cannot link from ${from} to ${href} because ${why}`);
    if (!isPage(path)) {
      if (!existsSync(programFile(path))) throw wrong('the file is missing');
      const name = basename(path);
      if ((files.get(name) ?? path) !== path) throw wrong(`${files.get(name)} has the same name`);
      files.set(name, path);
      return addresses.file(name);
    }
    const known = fragments.get(path);
    if (!known) throw wrong(`${list} does not list the page`);
    if (fragment !== '' && !known.has(fragment.slice(1))) throw wrong('the page has no such heading');
    return path === from && fragment !== '' ? fragment : `${addresses.page(nameOf(path))}${fragment}`;
  };

  const pages = new Map<string, SitePage>();
  const sections: SiteSection[] = [];
  for (const { path, group, tokens, ids } of sources) {
    const [first] = tokens.filter(isHeading);
    if (first?.depth !== 1) throw new Error(`Cannot show ${path} because it does not start with a title`);
    const title = plain(first.tokens);
    const name = nameOf(path);
    const lead = tokens.find(token => token.type === 'paragraph') as Tokens.Paragraph | undefined;
    pages.set(name, {
      name,
      title,
      group,
      description: lead ? plain(lead.tokens) : title,
      html: rendererOf(ids, href => address(href, path)).parser(tokens),
      headings: tokens
        .filter(isHeading)
        .filter(({ depth }) => depth === 2)
        .map(heading => ({ text: plain(heading.tokens), id: ids.get(heading)! })),
    });
    sections.push(...sectionsOf(addresses.page(name), title, WEIGHTS[group ?? ''] ?? 1, tokens, ids));
  }
  return { pages, files, sections };
}

/** The paths of the pages, and the heading under which each is listed. */
function groupsOf(list: string): Map<string, string | undefined> {
  const groups = new Map<string, string | undefined>([[list, undefined]]);
  let group: string | undefined;
  const { tokens } = parsed(list);
  new Marked().walkTokens(tokens, token => {
    if (isHeading(token)) group = plain(token.tokens);
    const target = token.type === 'link' ? targetOf(token.href, list) : undefined;
    if (target && isPage(target.path)) groups.set(target.path, group);
  });
  return groups;
}

type Ids = ReturnType<typeof parsed>['ids'];

/** The tokens of a page, and the fragment of each heading. */
function parsed(path: string) {
  const tokens = new Marked().lexer(readFileSync(programFile(path), 'utf8'));
  const ids = new Map<Token, string>();
  const seen = new Map<string, number>();
  for (const heading of tokens.filter(isHeading)) {
    const id = anchor(plain(heading.tokens));
    const times = seen.get(id) ?? 0;
    seen.set(id, times + 1);
    ids.set(heading, times === 0 ? id : `${id}-${times}`);
  }
  return { tokens, ids };
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

/** The text of blocks or inline tokens, without markup. */
function plain(tokens: readonly Token[]): string {
  return tokens.map(plainToken).join('');
}

function plainToken(token: Token): string {
  switch (token.type) {
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return `${[header, ...rows].map(row => row.map(cell => plain(cell.tokens)).join(' ')).join('\n')}\n`;
    }
    case 'list':
      return (token as Tokens.List).items.map(item => plain(item.tokens)).join('\n');
    case 'br':
      return '\n';
    case 'space':
      return '';
  }
  const text = 'tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? `${token.text}` : '';
  return token.type === 'paragraph' || token.type === 'code' ? `${text}\n` : text;
}

function sectionsOf(page: string, title: string, weight: number, tokens: readonly Token[], ids: Ids): SiteSection[] {
  const sections = [{ address: page, title, heading: '', text: '', weight }];
  for (const token of tokens) {
    if (!isHeading(token)) sections.at(-1)!.text += plainToken(token);
    else if (token.depth > 1)
      sections.push({ address: `${page}#${ids.get(token)}`, title, heading: plain(token.tokens), text: '', weight });
  }
  return sections.map(section => ({ ...section, text: section.text.replaceAll(/\s+/g, ' ').trim() }));
}

/**
 * Writes HTML. Blocks that are wider than the page can be scrolled, also with the keyboard. HTML in a Markdown page is
 * shown as text.
 */
function rendererOf(ids: Ids, address: (href: string) => string): Marked {
  const marked = new Marked();
  marked.use({
    renderer: {
      html: ({ text }) => escapeHtml(text),
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      image: ({ href, text }) => `<img src="${escapeHtml(address(href))}" alt="${escapeHtml(text)}" loading="lazy">`,
      heading(heading) {
        const { depth, tokens } = heading;
        return `<h${depth} id="${ids.get(heading) ?? ''}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(address(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      table({ header, rows }) {
        // A screen reader would announce an empty header cell as a heading without text.
        const cellOf = (tag: string, { text, tokens }: Tokens.TableCell) =>
          text === '' ? '<td></td>' : `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const row = (tag: string, cells: readonly Tokens.TableCell[]) =>
          `<tr>${cells.map(cell => cellOf(tag, cell)).join('')}</tr>\n`;
        return (
          '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n' +
          `<thead>${row('th', header)}</thead>\n<tbody>${rows.map(cells => row('td', cells)).join('')}</tbody></table></div>\n`
        );
      },
    },
  });
  return marked;
}
