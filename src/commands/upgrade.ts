/** `nearsky upgrade`: converts a data directory of an older release to the present format. */
import { FORMAT_VERSION, OlderFormat, openStore } from '../store/store.ts';
import { type Command, type Invocation, printResult } from './cli.ts';

export const command: Command = {
  usage: 'upgrade',
  description: `Brings a data directory that an older release of nearsky wrote to the format of this one, in one transaction: all of it is upgraded, or
nothing is changed. Nothing is lost, and \`nearsky export\` gives the same lines. An older release cannot read the directory afterwards: keep a
copy of it for a way back. Every command that writes upgrades a directory by itself; this one does nothing else. Run it while nothing else uses
the directory.`,
  options: {},
  example: 'nearsky upgrade --data ./data',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const data = invocation.config.NEARSKY_DATA;
  const before = await olderFormatOf(data);
  if (before !== undefined) await openStore(data, 'write').close();
  const text =
    before === undefined
      ? `${data} is already in format ${FORMAT_VERSION}, the present one`
      : `${data} was upgraded from format ${before} to ${FORMAT_VERSION}`;
  printResult(invocation, { data, format_before: before ?? FORMAT_VERSION, format: FORMAT_VERSION }, text);
  return 0;
}

/** The format of a data directory if it is older than the present one. */
async function olderFormatOf(data: string): Promise<number | undefined> {
  try {
    await openStore(data, 'read').close();
    return undefined;
  } catch (error) {
    if (error instanceof OlderFormat) return error.format;
    throw error;
  }
}
