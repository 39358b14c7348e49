/** Compares what crossmatches with two releases of a catalog found for the same objects. */
import { separationArcsec } from '@nearsky/sky-index';
import { type ObjectView, readCurrent } from '../../core/store/object_record.ts';
import { isUsedAlike } from '../../core/store/provenance.ts';
import type { Store } from '../../core/store/store.ts';
import type { CrossmatchRecord, ProvenanceSet } from '../../core/store/types.ts';
import { skippedCatalogs } from '../../core/store/unread.ts';

/** The number of objects that are named as examples of each kind of difference. */
const EXAMPLES = 5;

/** Compares the matches of a release with those of an older one. A match with a changed id is neither new nor gone. */
export interface ReleaseChanges {
  /** Compared objects: those that were crossmatched with the older release and then with the present one. */
  objects: number;
  /** Of these, the objects for which the radius or the use of proper motions differs, too. */
  other_settings: number;
  /** Objects that are not compared, because one of the releases could not be read for them. */
  unread: number;
  kept: number;
  new: number;
  gone: number;
  changed_id: number;
  /** Some objects with a difference. */
  readonly examples: { readonly [kind in 'new' | 'gone' | 'changed_id']: string[] };
}

export interface ReleaseComparison {
  readonly catalog: string;
  readonly release: string;
  /** Objects whose current crossmatch used the present release, and objects for which it used another. */
  readonly done: number;
  readonly outstanding: number;
  /** The comparisons by older release. */
  readonly compared_with: Readonly<Record<string, ReleaseChanges>>;
}

/**
 * Reads every object. Compares two crossmatches of each object: the last one with another release, and the next one,
 * with the present release.
 * @param sameWithinArcsec the maximum distance at which a source that is gone and a new one count as the same source
 */
export function compareReleases(
  store: Store,
  catalog: string,
  release: string,
  sameWithinArcsec: number,
): ReleaseComparison {
  const counts = { done: 0, outstanding: 0 };
  const compared = new Map<string, ReleaseChanges>();
  const releases = new Map<string, string | undefined>();
  const settingsOf = ({ provenanceSet }: CrossmatchRecord) => store.provenanceSet(provenanceSet).set;
  const releaseOf = (text: string) => {
    const { record } = readCurrent(text);
    return record && store.releaseIn(record, catalog);
  };
  for (const object of store.views()) {
    const { state, current } = object;
    if (state !== 'crossmatched') continue;
    if (!releases.has(current)) releases.set(current, releaseOf(current));
    const used = releases.get(current);
    if (used === undefined) continue;
    if (used !== release) counts.outstanding++;
    else {
      counts.done++;
      if (object.hasOlder) compare(object);
    }
  }
  return { catalog, release, ...counts, compared_with: Object.fromEntries(compared) };

  function compare(view: ObjectView): void {
    const object = view.decode();
    const records = object.records.filter(record => store.releaseIn(record, catalog) !== undefined);
    const isOther = (record: CrossmatchRecord) => store.releaseIn(record, catalog) !== release;
    const last = records.findLast(isOther);
    if (!last) return;
    const readable = records.filter(record => !skippedCatalogs(record).has(catalog));
    const at = readable.findLastIndex(isOther);
    const [before, after] = [readable[at], readable[at + 1]];
    const changes = changesFrom(store.releaseIn(before ?? last, catalog)!);
    if (!before || !after) {
      changes.unread++;
      return;
    }
    changes.objects++;
    if (!areAlike(settingsOf(before), settingsOf(after), catalog)) changes.other_settings++;
    const sources = object.matches.map((match, index) => ({ ...match, index }));
    const of = ({ matchVersion }: CrossmatchRecord) =>
      sources.filter(match => match.matchVersion === matchVersion && match.catalogName === catalog);
    const [old, found] = [of(before), of(after)];
    const isIn = (others: typeof old) => (match: (typeof old)[number]) =>
      others.some(({ catalogSourceId }) => catalogSourceId === match.catalogSourceId);
    const [gone, added] = [old.filter(match => !isIn(found)(match)), found.filter(match => !isIn(old)(match))];
    changes.kept += found.length - added.length;
    const places = gone.length > 0 && added.length > 0 ? store.readSources(view) : [];
    const paired = new Set<number>();
    for (const { index } of gone) {
      const same = added.find(match => !paired.has(match.index) && areNear(places[index], places[match.index]));
      if (same) paired.add(same.index);
      count(changes, same ? 'changed_id' : 'gone', view);
    }
    for (const { index } of added) if (!paired.has(index)) count(changes, 'new', view);
  }

  function changesFrom(other: string): ReleaseChanges {
    let changes = compared.get(other);
    if (!changes) {
      changes = {
        objects: 0,
        other_settings: 0,
        unread: 0,
        kept: 0,
        new: 0,
        gone: 0,
        changed_id: 0,
        examples: { new: [], gone: [], changed_id: [] },
      };
      compared.set(other, changes);
    }
    return changes;
  }

  function areNear(a: Place | undefined, b: Place | undefined): boolean {
    if (a?.ra == null || a.dec === null || b?.ra == null || b.dec === null) return false;
    return separationArcsec(a.ra, a.dec, b.ra, b.dec) <= sameWithinArcsec;
  }
}

interface Place {
  readonly ra: number | null;
  readonly dec: number | null;
}

function count(changes: ReleaseChanges, kind: keyof ReleaseChanges['examples'], { diaObjectId }: ObjectView): void {
  changes[kind]++;
  const examples = changes.examples[kind];
  if (examples.length < EXAMPLES) examples.push(`${diaObjectId}`);
}

const entryIn = ({ catalogs }: ProvenanceSet, catalog: string) => catalogs.find(({ name }) => name === catalog);

function areAlike(a: ProvenanceSet, b: ProvenanceSet, catalog: string): boolean {
  return (
    a.crossmatch_radius_arcsec === b.crossmatch_radius_arcsec && isUsedAlike(entryIn(a, catalog)!, entryIn(b, catalog)!)
  );
}
