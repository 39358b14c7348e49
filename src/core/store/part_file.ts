/** The name of an unfinished file: the name of the finished file, the id of the process that makes it, and `.part`. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export interface PartFile {
  /** The path of this process's part. */
  readonly path: string;
  /** The id of another process that is making the same file; undefined if there is none. */
  readonly otherPid: number | undefined;
}

/**
 * The path where this process makes `target` before renaming it. Removes parts that ended processes left beside it.
 * @param livePids the processes that have the database open, which includes every process that makes a part:
 * `Store.livePids`
 */
export function partFileOf(target: string, livePids: ReadonlySet<number>): PartFile {
  const [directory, name] = [dirname(resolve(target)), basename(resolve(target))];
  let otherPid: number | undefined;
  const beside = statSync(directory, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(directory) : [];
  for (const found of beside) {
    const pid = found.startsWith(`${name}.`) && Number(/^\.(\d+)\.part$/.exec(found.slice(name.length))?.[1]);
    if (!pid) continue;
    // A part with this process's id is left over from an earlier process that had the same id.
    if (pid !== process.pid && livePids.has(pid)) otherPid = pid;
    else rmSync(join(directory, found), { recursive: true, force: true });
  }
  return { path: join(directory, `${name}.${process.pid}.part`), otherPid };
}
