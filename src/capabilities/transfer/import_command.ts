/** `nearsky import`: the lines of an export into the data directory. */

import {
  bytesOf,
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownBytes,
  table,
  tell,
  UsageError,
} from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { type ImportCounts, Importer, type Rejection } from './importer.ts';

export const command: Command = {
  usage: 'import FILE...|-',
  description: `Stores what \`nearsky export\` wrote, here or elsewhere: one JSON object per line, plain or gzipped,
from files or (-) from standard input. A bad line is kept, with its number and the reason, in
DATA/rejected. The other lines are imported, and the exit status is 1.

An import only adds data. A line that contradicts stored data (for example, another position for a
known object) is rejected. A line that repeats stored data changes nothing, so re-importing a file,
for example after an interruption, is safe. Lines may be in any order. The tns_object lines, with
one tns_snapshot line, replace the whole TNS registry at the end of a run that read all its files.
Catalogs are not exported: register them with \`nearsky catalog add\`.`,
  options: {},
  example: 'nearsky import --data ./data backup.ndjson.gz',
  run,
};

/** Rejections beyond this number are counted, but not shown on standard error. */
const SHOWN_REJECTIONS = 20;

async function run(invocation: Invocation): Promise<number> {
  const files = invocation.positionals;
  if (files.length === 0) throw new UsageError('no file given', command);
  const bytes = bytesOf(files);
  let bytesRead = 0;
  const dataDir = invocation.config.NEARSKY_DATA;
  await using archive = await openArchive(invocation.config);
  using rejects = new RejectLog(invocation.config, 'import');
  const progress = new Progress();
  const onBatch = () =>
    progress.update(() => {
      const pace = progress.pace(bytesRead, bytes, shownBytes);
      return `${importer.counts.read} lines read, ${importer.counts.rejected} rejected; ${pace}`;
    });
  const importer = new Importer({
    dataDir,
    writer: archive.writer,
    rejects,
    onReject: rejectionTeller(),
    onBatch,
    onRead: read => (bytesRead += read),
  });
  try {
    try {
      for (const file of files) await importer.importFile(file);
    } finally {
      await importer.finish();
    }
    progress.end();
    const { read, rejected } = importer.counts;
    const input = files.join(', ');
    if (read === 0) tell(`nearsky import: ${input} is empty`);
    else if (rejected === read)
      tell(
        `nearsky import: no line of ${input} can be used; import reads the output of nearsky export, and nearsky ingest reads messages of brokers`,
      );
  } finally {
    progress.end();
    if (importer.counts.read > 0 || invocation.flags.has('json')) printCounts(invocation, importer.counts, rejects);
    await importer.close();
  }
  return importer.counts.rejected > 0 ? 1 : 0;
}

/** Shows the first rejections on standard error. */
function rejectionTeller(): (rejection: Rejection) => void {
  let told = 0;
  return ({ file, line, reason }) => {
    told++;
    if (told <= SHOWN_REJECTIONS) tell(`${file}:${line}: ${reason}`);
    if (told === SHOWN_REJECTIONS) tell('further rejected lines are not shown here');
  };
}

function printCounts(invocation: Invocation, counts: ImportCounts, rejects: RejectLog): void {
  const rejectsFile = counts.rejected > 0 ? rejects.path : null;
  const types = Object.entries(counts.types);
  const { withUnreadFields } = counts;
  const text = table([
    ['lines read', counts.read],
    ...types
      .filter(([, { imported, unchanged }]) => imported + unchanged > 0)
      .map(([type, { imported, unchanged }]): [string, string] => {
        return [type, `${imported} imported${unchanged > 0 ? `, ${unchanged} known` : ''}`];
      }),
    ['rejected', rejectsFile ? `${counts.rejected}, see ${rejectsFile}` : 0],
    ...(counts.blank > 0 ? [['blank lines', counts.blank] as [string, number]] : []),
    ...(withUnreadFields > 0 ? [['with unknown fields', withUnreadFields] as [string, number]] : []),
  ]);
  const { read, rejected, blank } = counts;
  const value = { read, types: counts.types, rejected, blank, with_unread_fields: withUnreadFields };
  printResult(invocation, { ...value, rejects_file: rejectsFile }, text);
}
