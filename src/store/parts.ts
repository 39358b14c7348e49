/** What is being made has the name of what it is to be, the number of the process that makes it, and `.part`. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export interface Part {
  /** Nothing is there. */
  readonly path: string;
  /** Another process that is making the same. */
  readonly otherPid: number | undefined;
}

/**
 * Where this process is to make `target` before it gets its name. What processes that have ended left beside it is removed.
 * @param livePids those that have the database open, as every process that makes something of it has: `Store.livePids`
 */
export function partOf(target: string, livePids: ReadonlySet<number>): Part {
  const [directory, name] = [dirname(resolve(target)), basename(resolve(target))];
  let otherPid: number | undefined;
  const beside = statSync(directory, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(directory) : [];
  for (const found of beside) {
    const pid = found.startsWith(`${name}.`) && Number(/^\.(\d+)\.part$/.exec(found.slice(name.length))?.[1]);
    if (!pid) continue;
    // One with our number had it before us.
    if (pid !== process.pid && livePids.has(pid)) otherPid = pid;
    else rmSync(join(directory, found), { recursive: true, force: true });
  }
  return { path: join(directory, `${name}.${process.pid}.part`), otherPid };
}
