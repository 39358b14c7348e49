/** What has changed in the rows of a report since an earlier state of the archive. */
import type { Resolved } from './resolve.ts';

export interface ChangedRow {
  readonly index: number;
  readonly label: string | null;
  /** In words, each beginning with its reason. */
  readonly changes: readonly string[];
}

/** @param before the same inputs in the earlier state */
export function changedRows(before: readonly Resolved[], after: readonly Resolved[]): ChangedRow[] {
  return after.flatMap((now, index) => {
    const changes = changesOf(before[index]!, now);
    return changes.length > 0 ? [{ index, label: now.label, changes }] : [];
  });
}

function changesOf(was: Resolved, now: Resolved): string[] {
  const changes: string[] = [];
  if (was.id !== now.id) {
    if (was.id !== null) changes.push(`removed or no longer the nearest: object ${was.id}`);
    if (now.id !== null) changes.push(`stored or now the nearest: object ${now.id}, ${now.status}`);
  } else if (was.status !== now.status) {
    const reason = was.status === 'crossmatch_pending' ? 'crossmatched' : 'crossmatched again';
    changes.push(`${reason}: ${was.status} before, ${now.status} now`);
  }
  const [from, to] = [shownPosition(was), shownPosition(now)];
  if (was.id === now.id && now.id !== null && from !== to)
    changes.push(`stored again at another position: ${from} before, ${to} now`);
  if (was.id === now.id)
    for (const name of new Set([...Object.keys(was.recorded), ...Object.keys(now.recorded)])) {
      let [old, current] = [shownCell(was, name), shownCell(now, name)];
      if (old === current) [old, current] = [old + shownSeparation(was, name), current + shownSeparation(now, name)];
      if (old !== current) changes.push(`${name}: ${old} before, ${current} now`);
    }
  const [old, current] = [shownEntry(was), shownEntry(now)];
  if (was.id === now.id && old !== current) changes.push(`registry: ${old} before, ${current} now`);
  const others = now.samePlace.filter(id => !was.samePlace.includes(id) && id !== was.id);
  if (others.length > 0) changes.push(`further objects at the same place: ${others.join(', ')}`);
  const gone = was.samePlace.filter(id => !now.samePlace.includes(id) && id !== now.id);
  if (gone.length > 0) changes.push(`no longer at the same place: ${gone.join(', ')}`);
  return changes;
}

function shownCell({ recorded, status }: Resolved, name: string): string {
  const cell = recorded[name];
  if (!cell) return status === 'crossmatch_pending' ? 'not crossmatched' : 'not searched';
  if (cell.outcome !== 'searched') return cell.outcome;
  if (!cell.source) return 'no source';
  return `source ${cell.source.id} (${cell.source.verdict})`;
}

/** Only the same source may have moved. */
function shownSeparation({ recorded }: Resolved, name: string): string {
  const source = recorded[name]?.source;
  return source ? ` at ${source.separationArcsec} arcsec` : '';
}

function shownPosition({ position }: Resolved): string {
  return position ? `${position.ra} ${position.dec}` : 'no position';
}

function shownEntry({ tns }: Resolved): string {
  return tns ? [tns.name, tns.classification, tns.redshift].filter(value => value !== null).join(', ') : 'no entry';
}
