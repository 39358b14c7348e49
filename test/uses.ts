/**
 * The test files that use optional capabilities which those of their folder do not need. Without one of these capabilities
 * they are left out.
 */
import { existsSync } from 'node:fs';

/** By the beginning of the path below `test/`. */
const USES: Readonly<Record<string, string>> = {
  'capabilities/adql/mixed_types': 'sources table_match',
  'capabilities/adql/shared_disk': 'areas table_match',
  'capabilities/adql/slow_reader': 'demo',
  'capabilities/connector/client': 'archive_connector',
  'capabilities/hats/hats_export': 'transfer',
  'capabilities/hats/history': 'transfer',
  'capabilities/nodes/other_nodes': 'transfer',
  'capabilities/pages/browser.': 'areas demo listing sample sky_map sources streams table_match transfer validation vo',
  'capabilities/removal/remove': 'transfer',
  'capabilities/sample/tool': 'archive_connector',
  'capabilities/table_match/beyond_int64': 'adql',
  'capabilities/transfer/damaged_pages': 'hats',
  'capabilities/vo/links.system': 'adql pages',
  'clients/generated': 'areas feeds listing sample sources table_match validation',
  'clients/python.': 'areas listing sample sources table_match validation',
  'clients/tom': 'demo',
  'commands/words.system': 'demo transfer',
  'deploy/deb': 'demo',
  'deploy/deploy': 'nodes',
  'deploy/haproxy': 'adql nodes sample streams',
  'deploy/nginx': 'streams table_match',
  'deploy/operators': 'adql backup nodes publish report streams transfer',
  'docs/a_year': 'backup hats nodes publish removal report transfer',
  'docs/examples': 'adql areas demo feeds hats listing pages sample sources streams table_match transfer validation vo',
  'docs/gravitational_wave': 'adql areas demo hats streams transfer',
  'docs/nodes': 'backup nodes transfer',
  'docs/notebooks': 'adql areas demo listing sample sources table_match vo',
  'e2e/binary': 'adql backup demo pages sky_map transfer',
  'e2e/deno': 'adql backup demo pages sky_map',
  'e2e/nodes': 'adql areas backup hats listing nodes removal transfer',
  'e2e/other_systems': 'adql demo table_match',
  'e2e/remote_catalog': 'transfer',
  'faults/full_disk': 'transfer',
  'faults/inject': 'backup transfer',
  'faults/power': 'backup transfer',
  'install/few_heaps': 'transfer',
  'install/npm': 'adql demo table_match transfer',
  'neighbour/': 'adql areas demo listing sky_map sources streams table_match vo',
};

/** The capabilities that a file uses, given from `test/`, and that were removed here. */
export function removedUses(file: string): string[] {
  const [, used = ''] = Object.entries(USES).find(([beginning]) => file.startsWith(beginning)) ?? [];
  return used.split(' ').filter(name => name && !existsSync(new URL(`../src/capabilities/${name}`, import.meta.url)));
}

/** Beginnings that no file has, except for those of a removed capability. */
export function unusedUses(files: readonly string[]): string[] {
  const isLeft = (name: string) => files.some(file => file.startsWith(/^capabilities\/\w+\/|/.exec(name)![0]));
  return Object.keys(USES).filter(name => isLeft(name) && !files.some(file => file.startsWith(name)));
}
