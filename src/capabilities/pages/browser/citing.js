/**
 * Makes the snippets that a reader can copy from the page of an object.
 *
 * @typedef {import('./payload.js').CatalogData} CatalogData
 */
import { time } from './format.js';

/** Characters that LaTeX would read as commands. @param {string} text */
const latex = text =>
  text.replace(/[\\{}$&#^_%~]/g, each => {
    const named = { '\\': '\\textbackslash{}', '^': '\\textasciicircum{}', '~': '\\textasciitilde{}' };
    return named[/** @type {keyof typeof named} */ (each)] ?? `\\${each}`;
  });

/**
 * BibTeX entries of an object's answer, and of each catalog that was searched, with its release.
 * @param {any} object at the level `full`
 * @param {any} set of the provenance; undefined if none is recorded
 * @param {{ version: string | null, catalogs: Pick<CatalogData, 'name' | 'reference'>[] }} page
 * @param {string} base address of the service, without a slash at the end
 * @param {Date} [read]
 */
export function bibtexOf({ diaObjectId_str: id, crossmatch }, set, { version, catalogs }, base, read = new Date()) {
  const outcomes = crossmatch?.catalog_outcomes ?? {};
  /** @type {{ name: string, release: string, radius_arcsec?: number }[]} */
  const searched = (set?.catalogs ?? []).filter((/** @type {any} */ { name }) => outcomes[name] === 'searched');
  const day = read.toISOString().slice(0, 10);
  const service = `nearsky${version === null ? '' : ` ${version}`}`;
  const note =
    set === undefined
      ? `${service}; its crossmatch is not recorded; read ${day}`
      : `${service}; crossmatched ${time(crossmatch.crossmatched_at)}, version ${crossmatch.match_version}, within ${set.crossmatch_radius_arcsec} arcsec, with ${searched.map(shownRelease).join(', ') || 'no catalog'}; read ${day}`;
  return [
    entry(`nearsky-${id}`, `Rubin alert object ${id}`, `${base}/objects/${id}`, note, day.slice(0, 4)),
    ...searched.map(({ name, release }) => {
      const { paper = '', paperUrl } = catalogs.find(catalog => catalog.name === name)?.reference ?? {};
      return entry(name.replaceAll('_', '-'), release, paperUrl, paper);
    }),
  ].join('\n\n');
}

/** @param {{ release: string, radius_arcsec?: number }} searched */
const shownRelease = ({ release, radius_arcsec }) =>
  radius_arcsec === undefined ? release : `${release} (within ${radius_arcsec} arcsec)`;

/** @param {string} key @param {string} title @param {string | undefined} url @param {string} note @param {string} [year] */
function entry(key, title, url, note, year) {
  const fields = [
    ['title', latex(title)],
    ['howpublished', url && `\\url{${url}}`],
    ['note', latex(note)],
    ['year', year],
  ].filter(([, value]) => value);
  return `@misc{${key},\n${fields.map(([name, value]) => `  ${name} = {${value}},\n`).join('')}}`;
}

/** @param {any} object @param {string} base */
const addressOf = ({ diaObjectId_str: id }, base) => `${base}/api/objects/${id}?detail=full`;

/** @param {any} object @param {string} base */
export const curlOf = (object, base) => `curl -sS '${addressOf(object, base)}'`;

/** Python that needs its standard library only. @param {any} object @param {string} base */
export const pythonOf = (object, base) =>
  // Each line is a string of its own, because scripts are sent without indentation.
  [
    'import json',
    'from urllib.request import urlopen',
    '',
    `with urlopen("${addressOf(object, base)}") as answer:`,
    '    [found] = json.load(answer)["results"][0]["objects"]',
    'print(found["diaObjectId"], found["status"])',
    'for source in found.get("matches", []):',
    '    print(source["catalog_name"], source["catalog_source_id"], source["separation_arcsec"])',
  ].join('\n');
