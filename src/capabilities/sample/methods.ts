/** What a paper says of a report: a paragraph, and the entries by which it cites the catalogs. */
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { radiusText } from '../../core/documents/prose.ts';
import type { AboutReport, SampleOptions } from './options.ts';
import type { DescribedSummary } from './summary.ts';

const listed = (words: readonly string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

export function methodsOf(
  catalogs: readonly CatalogDefinition[],
  summary: DescribedSummary,
  { radiusArcsec, date, journalEntry, provenance }: Pick<SampleOptions, 'radiusArcsec'> & AboutReport,
): string {
  const ofCatalogs = catalogs.map(({ name, release, radius, verdicts = [] }) => {
    const { searched, outside_footprint, coincident, expected_by_chance, expected_interval, without_density } =
      summary.catalogs[name]!;
    const unknown = without_density > 0 ? `, not counting ${without_density} positions without a known density` : '';
    const papers = [...new Set(verdicts.map(({ paper }) => paper))];
    return (
      `${release}${radius ? `, ${radiusText(radius)}` : ''}: ${searched} positions searched, ${outside_footprint} outside the footprint; ${coincident} have a source, and ` +
      `${Number(expected_by_chance.toPrecision(3))} are expected by chance (95%: ${expected_interval[0]} to ${expected_interval[1]})${unknown}` +
      `${papers.length > 0 ? `; sources classified after ${listed(papers)}` : ''}.`
    );
  });
  if (catalogs.length === 0) return 'No catalog is registered here: nothing was searched.';
  const isMoved = provenance.catalogs.some(({ proper_motion }) => proper_motion);
  return [
    `We compared ${summary.inputs} inputs with ${listed(catalogs.map(({ release }) => release))} within ${radiusArcsec}" with nearsky ${provenance.service_version} (journal entry ${journalEntry}${date === null ? '' : `, objects up to ${date}`}).`,
    ...ofCatalogs,
    'The number expected by chance is the sum of 1 - exp(-π ρ R²) over all searched positions, with the surface density ρ of the catalog at each position and the radius R.' +
      (catalogs.some(({ radius }) => radius?.column)
        ? ' Where sources have radii of their own, R is the largest, so the number is an upper limit.'
        : ''),
    isMoved
      ? 'Sources of crossmatched objects are compared at the time of the event, with their proper motions; at other positions no motion is applied.'
      : 'No proper motion is applied.',
    'Star, galaxy and quasar are what a catalog says of its source; they are no classification of the transient, and no host.',
  ].join(' ');
}

/** The entries of the catalogs and of nearsky, in the order of the catalogs. */
export function bibtexOf(catalogs: readonly CatalogDefinition[], version: string): string {
  const ofCatalog = ({ name, release, reference }: CatalogDefinition) =>
    reference?.bibtex?.join('\n') ??
    `@misc{${name},\n  title = {${release}},\n  note = {${reference?.paper ?? 'No reference is known'}},\n  howpublished = {${reference?.home ?? ''}}\n}`;
  const own = `@software{nearsky,\n  author = {{the nearsky authors}},\n  title = {nearsky: catalog sources at the positions of Rubin alert objects},\n  version = {${version}}\n}`;
  return [...new Set(catalogs.map(ofCatalog)), own].join('\n\n');
}
