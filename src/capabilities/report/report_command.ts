/** `nearsky report`: what happened in a night, and whether a person is needed. */
import { nowUs } from '../../core/base/times.ts';
import {
  type Command,
  type Invocation,
  printResult,
  shownBytes,
  shownCount,
  table,
  UsageError,
} from '../../core/cli/command.ts';
import { nightAfter, nightOf, nightStartUs } from '../../core/store/nights.ts';
import { openStore } from '../../core/store/store.ts';
import { type NightReport, nightReport } from './night_report.ts';

export const command: Command = {
  usage: 'report [--night DATE]',
  description: `Prints what happened in a night: the messages of each broker by outcome, rejected messages by reason
and their files, removed objects by reason, crossmatches by catalog and outcome, and errors by kind.
Then the present state: pending objects, the registry, the stream, the last backup and export, and the
disk with its growth. The exit status is 1 if a person is needed; the reasons come first. The counts
are stored in the commit of the data, so they are exact after a kill. It can run beside other commands.

A night has the date of its evening on Cerro Pachón, like Rubin's day_obs: it lasts from noon UTC of
DATE to noon UTC of the next day. A message counts in the night in which it was stored.`,
  options: {
    night: {
      value: 'DATE',
      help: 'the night, YYYY-MM-DD, or `now` for the present one (default: the night that began at the last dusk there, 23:00 UTC)',
    },
  },
  example: 'nearsky report --data ./data',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const { config, options } = invocation;
  const asked = options.get('night');
  const night = asked === 'now' ? nightOf(nowUs()) : asked;
  try {
    if (night !== undefined) nightStartUs(nightAfter(night, 1));
  } catch {
    throw new UsageError(`--night must be now, or a date such as 2026-11-26 (${night} was given)`);
  }
  await using store = openStore(config.NEARSKY_DATA, 'read');
  const report = nightReport(store, config, nowUs(), night);
  store.requireUndisturbed();
  printResult(invocation, report, describe(report));
  return report.needs_person.length > 0 ? 1 : 0;
}

type Row = [label: string, value: string | number];

/** Rows for the counts that are not zero. */
const counted = (counts: readonly (readonly [label: string, count: number])[]): Row[] =>
  counts.filter(([, count]) => count > 0).map(([label, count]) => [`  ${label}`, shownCount(count)]);

function describe(report: NightReport): string {
  const { night, start, end, is_over, needs_person, errors } = report;
  const head = `Night of ${night}, ${start} to ${end}${is_over ? '' : ', not over yet'}`;
  const needed = needs_person.map(reason => `A person is needed: ${reason}`);
  const rows = [...brokerRows(report), ...crossmatchRows(report), ...stateRows(report), ...diskRows(report)];
  const kinds = Object.entries(errors);
  rows.push(['errors', kinds.length === 0 ? 'none' : shownCount(kinds.reduce((sum, [, { count }]) => sum + count, 0))]);
  for (const [kind, { count, last, time }] of kinds)
    rows.push([`  ${kind}`, `${shownCount(count)}, last ${time}: ${last}`]);
  return [...needed, head, table(rows)].join('\n');
}

function brokerRows({ brokers, imported, removed }: NightReport): Row[] {
  const rows: Row[] = Object.entries(brokers).flatMap(([broker, counts]): Row[] => [
    [broker, `${shownCount(counts.messages)} messages`],
    ...counted([
      ['new objects', counts.stored],
      ['delivered by another broker before', counts.further_broker],
      ['delivered again', counts.duplicate],
      ['below the reliability cut', counts.below_cut],
      ['skipped (solar system)', counts.skipped],
      ['without a usable position', counts.without_position],
      ['rejected', counts.rejected],
      ...Object.entries(counts.rejected_by_reason).map(([reason, count]) => [`  ${reason}`, count] as const),
    ]),
    ...(counts.rejected > 0 ? counts.rejects_files.map((file): Row => ['  rejected messages in', file]) : []),
  ]);
  if (rows.length === 0) rows.push(['messages', 'none']);
  if (imported > 0) rows.push(['imported objects', shownCount(imported)]);
  if (removed.objects > 0) rows.push(['removed objects', shownCount(removed.objects)]);
  rows.push(...counted(Object.entries(removed.by_reason)));
  if (removed.deliveries > 0) rows.push(['removed deliveries of other objects', shownCount(removed.deliveries)]);
  return rows;
}

function crossmatchRows({ crossmatched, catalogs }: NightReport): Row[] {
  const { objects, again } = crossmatched;
  return [
    ['crossmatched', `${shownCount(objects)} objects${again > 0 ? `, ${shownCount(again)} of them again` : ''}`],
    ...Object.entries(catalogs).flatMap(([catalog, { matches, outcomes }]): Row[] => [
      [`  ${catalog}`, `${shownCount(matches)} matches`],
      ...counted(Object.entries(outcomes).map(([outcome, count]) => [`  ${outcome}`, count])),
    ]),
  ];
}

function stateRows({ pending, unread, registry, stream, done }: NightReport): Row[] {
  const { objects, reason } = pending;
  const chore = (each: NightReport['done']['backup']) => (each ? `${each.time}, ${each.target}` : 'none yet');
  return [
    ['pending now', reason === null ? '0' : `${shownCount(objects)}: ${reason}`],
    ...(unread ? [['crossmatched without a catalog', 'some objects: it could not be read'] satisfies Row] : []),
    ['TNS registry', registry.epoch === null ? 'not loaded' : `of ${registry.epoch}, ${registry.age_hours} hours old`],
    ...Object.entries(stream).map(
      ([topic, { sequence, behind }]): Row => [
        `stream to ${topic}`,
        `up to journal entry ${sequence}${behind > 0 ? `, ${shownCount(behind)} behind` : ''}`,
      ],
    ),
    ['last backup', chore(done.backup)],
    ['last export', chore(done.export)],
  ];
}

function diskRows({ disk }: NightReport): Row[] {
  const { total, free, growth_per_night: growth, nights_left } = disk;
  return [
    ['on disk', `${shownBytes(total)}${free === null ? '' : `, ${shownBytes(free)} free`}`],
    ['  growth of the database', growth === null ? 'known after the second night' : `${shownBytes(growth)} per night`],
    ...(nights_left === null ? [] : [['  nights until it is full', shownCount(nights_left)] satisfies Row]),
  ];
}
