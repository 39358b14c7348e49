/**
 * Test files that run under Node only, by reason. All others run under Deno too: threads, LMDB, DuckDB, child processes, HTTP and streams, every
 * operation, and each room of `src`.
 */
const NODE_ONLY: Readonly<Record<string, readonly string[]>> = {
  'They read files of the repository, or run programs of other projects on them.': [
    'architecture',
    'clients/python_package',
    'core/removed_capability',
    'deploy/',
    'capabilities/pages/site',
    'docs/',
    'libraries',
    'packages',
    'versions',
  ],
  'They test what Node builds, or start each runtime by themselves: packages of npm and Debian, the executable, the tasks of Deno.':
    ['e2e/binary', 'e2e/deno', 'install/'],
  'They need what Deno lacks: DuckDB in the process of the test (Deno ends by SIGSEGV when it frees its rows at the exit), /proc, /dev/full, a clock that is wrong for one process, or connections that node:http takes over.':
    [
      'adql/engine',
      'adql/functions',
      'adql/joins',
      'adql/oracle',
      'e2e/nodes_faults',
      'e2e/other_systems',
      'capabilities/pages/browser',
      'capabilities/pages/look',
      'core/http/full_disk',
      'core/server/plain_gets',
      'capabilities/adql/archive',
      'capabilities/adql/changes',
      'capabilities/adql/earlier',
      'capabilities/adql/engine_memory',
      'capabilities/adql/edition',
      'capabilities/adql/query_run',
      'capabilities/adql/live',
      'capabilities/adql/loaded_rows',
      'capabilities/adql/replaced_catalog',
      'capabilities/adql/views',
    ],
  'They take the memory of processes that the kernel bounds, or all their slots. `capabilities/adql/engine_ends`, `capabilities/uploads/` and `neighbour/attacks` do so under both.':
    ['neighbour/tables', 'capabilities/adql/hungry'],
  'They compare with programs of other projects, in Python and Java. The service answers both runtimes alike.': [
    'adql/cds',
    'astrotables/read_frames',
    'astrotables/tools',
    'clients/generated',
    'clients/python',
    'clients/tom',
    'hats/oracle',
    'core/tables/readers',
    'capabilities/pages/clients',
    'capabilities/vo/clients',
  ],
  'They compute at length, without interfaces of a runtime: V8 executes them in both.': [
    'capabilities/catalogs/footprint',
    'core/cluster/simulation',
    'core/contract/occurs',
    'capabilities/crossmatch/calibration',
    'capabilities/crossmatch/quirks',
    'fuzz/',
    'capabilities/adql/sources',
    'capabilities/areas/large_maps',
    'index/real_sky',
  ],
  'They are campaigns of kills and faults, on orders of writes that both share. `e2e/kill`, `e2e/nodes`, `faults/power` and `faults/full_disk` run under both.':
    [
      'e2e/kill_again',
      'e2e/kill_consume',
      'e2e/kill_registry',
      'e2e/kill_together',
      'e2e/nodes_removed',
      'e2e/nodes_killed',
      'e2e/nodes_lost_topic',
      'faults/inject',
      'neighbour/stored_jobs',
      'capabilities/publish/kill_publish',
      'capabilities/report/nights',
    ],
  'They repeat, as commands, what other files test under Deno in the room itself.': [
    'commands/catalog',
    'commands/survey_table',
    'e2e/remote_catalog',
  ],
};

const entries = Object.entries(NODE_ONLY).flatMap(([reason, names]) => names.map(name => ({ name, reason })));

/** Reports whether an entry, a file without its layer and `.test.ts` or a directory with `/`, names this file, which is given from `test/`. */
const isNamed = (name: string, file: string) =>
  name.endsWith('/') ? file.startsWith(name) : file.replace(/(\.system|\.campaign)?\.test\.ts$/, '') === name;

/** Returns why a file, given from `test/`, runs under Node only. Undefined if it runs under both. */
export function whyNodeOnly(file: string): string | undefined {
  return entries.find(({ name }) => isNamed(name, file))?.reason;
}

/** Returns entries that name none of these files, except for those of a capability without any: it was removed. */
export function unusedEntries(files: readonly string[]): string[] {
  const isLeft = (name: string) => files.some(file => file.startsWith(/^capabilities\/\w+\/|/.exec(name)![0]));
  return entries.map(({ name }) => name).filter(name => isLeft(name) && !files.some(file => isNamed(name, file)));
}
