/**
 * The files that the single executable carries: our modules and the libraries as JavaScript, the addons, and the data
 * files; and those of the npm package, which leaves libraries and addons to npm.
 */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { programFile } from '../base/program_files.ts';

const ROOT = programFile('.');

/** The files with which processes and threads start. */
const ENTRIES = [
  'src/main',
  'workers/reading_process',
  'workers/task',
  'workers/server',
  'workers/writer',
  'workers/publisher',
  'workers/hats_writer',
  'workers/normalise_lines',
  'workers/import_lines',
].map(entry => ({ out: entry, in: `${entry}.ts` }));
/** Piscina starts its threads with a file beside its own module. */
const PISCINA = { out: 'src/base/worker', in: 'node_modules/piscina/dist/worker.js' };
/** The engine needs DuckDB, which only the npm package has. */
const ENGINE = { out: 'workers/tap_engine', in: 'workers/tap_engine.ts' };

/** The files that the program reads through `programFile`; `/docs` serves the documents. */
export const DATA = [
  'package.json',
  ...globSync('docs/**/*.{md,png,py,json}', { cwd: ROOT }),
  ...['ARCHITECTURE', 'CHANGELOG', 'CODE_OF_CONDUCT', 'CONTRIBUTING', 'SECURITY'].map(name => `${name}.md`),
  ...['index', 'packages/adql'].map(library => `${library}/README.md`),
  ...globSync('deploy/{*.service,*.yaml,*.cfg,helm/values.yaml}', { cwd: ROOT }),
  'src/contract/catalogs/schema.json',
  'sample/README.md',
  'sample/alerts',
  'sample/catalogs',
  'sample/tns',
  'src/pages/browser',
  ...['__init__.py', 'aio.py', 'py.typed'].map(name => `clients/python/nearsky/${name}`),
  ...['pyproject.toml', 'README.md', 'LICENSE'].map(name => `clients/python/${name}`),
  ...['nearsky.js', 'nearsky.d.ts'].map(name => `clients/typescript/${name}`),
];
const BINARY_DATA = [...DATA, 'node_modules/h3-js/dist/h3-js.umd.js', 'LICENSE', 'NOTICE'];
const LIBRARY_LICENCES = 'LIBRARIES.txt';

/**
 * The launcher's module. An executable starts a module without `await` at its top; this one imports the module that has
 * it. The executable does not run a file that it is given, so it tells by the name when it is to be a process of ours.
 */
const PROCESS = 'workers/reading_process.js';
const START = [
  'start.cjs',
  `import(process.argv[2]?.endsWith('/${PROCESS}') ? './${PROCESS}' : './src/main.js');\n`,
] as const;

/**
 * The environment that libraries expect of a CommonJS module. Their `require` gives modules that are built in or
 * packed. A package that was not packed is not looked for, because the search would reach the directories above the
 * cache, where others may write.
 */
const COMMONJS = `
import { createRequire as createRequire$, isBuiltin as isBuiltin$ } from 'node:module';
import { dirname as dirname$ } from 'node:path';
import { fileURLToPath as fileURLToPath$ } from 'node:url';
const __filename = fileURLToPath$(import.meta.url);
const __dirname = dirname$(__filename);
const require$ = createRequire$(import.meta.url);
const require = name => {
  if (isBuiltin$(name) || name.startsWith('./') || name.startsWith('../')) return require$(name);
  throw Object.assign(new Error('Cannot find module ' + name), { code: 'MODULE_NOT_FOUND' });
};`;

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  logLevel: 'warning',
} satisfies BuildOptions;

/** Modules share what several import. */
const MODULES = {
  ...OPTIONS,
  format: 'esm',
  splitting: true,
  // Chunks lie beside `src/base/program_files.ts`, from whose place the other files are named.
  chunkNames: 'src/base/[name]-[hash]',
} satisfies BuildOptions;

/** Writes the files of the npm package below `directory`, in the layout of the checkout, for the oldest Node of its `engines`. */
export async function writePackage(directory: string): Promise<void> {
  const entryPoints = [...ENTRIES, ENGINE];
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(programFile('package.json'), 'utf8'));
  // What npm installs with it; the libraries of the checkout's own workspaces are packed.
  const external = Object.keys({ ...dependencies, ...optionalDependencies });
  await build({ ...MODULES, target: 'node22', entryPoints, outdir: directory, external });
  copyData(DATA, directory);
}

/** Writes the files of the executable below `directory`, in the layout of the checkout, and gives their paths, sorted. */
export async function writeBundle(directory: string): Promise<string[]> {
  const { metafile } = await build({
    ...MODULES,
    entryPoints: [...ENTRIES, PISCINA],
    outdir: directory,
    assetNames: 'src/base/[name]-[hash]',
    loader: { '.node': 'copy' },
    banner: { js: COMMONJS },
    // The package's other form reads a file.
    alias: { '@platformatic/wasm-utils': '@platformatic/wasm-utils/bundled' },
    // The package is needed only for a niceness that nearsky does not set.
    external: ['@napi-rs/nice'],
    plugins: [addons, closedRequire],
    metafile: true,
  });
  requireComplete(metafile);
  copyData(BINARY_DATA, directory);
  writeFileSync(join(directory, LIBRARY_LICENCES), libraryLicences(metafile));
  writeFileSync(join(directory, START[0]), START[1]);
  return globSync('**', { cwd: directory, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

function copyData(paths: readonly string[], directory: string): void {
  for (const path of paths) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    cpSync(programFile(path), join(directory, path), { recursive: true });
  }
}

/** Writes the module with which the executable starts, as one CommonJS module. */
export async function writeLauncher(file: string): Promise<void> {
  await build({ ...OPTIONS, entryPoints: ['src/binary/launcher.ts'], outfile: file, format: 'cjs' });
}

/** Loads the addon that this runtime would load, from beside the modules. */
const addons: Plugin = {
  name: 'addons',
  setup({ onResolve, onLoad }) {
    const library = 'node-gyp-build-optional-packages';
    const { path: addonOf } = createRequire(import.meta.url)(library) as { path(packageDir: string): string };
    onResolve({ filter: new RegExp(`^${library}$`) }, ({ resolveDir }) => ({ path: resolveDir, namespace: 'addon' }));
    onLoad({ filter: /./, namespace: 'addon' }, ({ path }) => ({
      contents: `module.exports = () => require(${JSON.stringify(addonOf(path))});`,
      resolveDir: path,
    }));
  },
};

/** Gives libraries that make their own `require` the one of `COMMONJS`. */
const closedRequire: Plugin = {
  name: 'closed-require',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?module$/ }, ({ path }) => ({ path, namespace: 'closed-require' }));
    onLoad({ filter: /./, namespace: 'closed-require' }, () => ({
      contents: 'export const createRequire = () => require;',
    }));
  },
};

/** @throws Error when a module imports a module that is neither packed nor built in */
function requireComplete({ outputs }: Metafile): void {
  for (const [output, { imports }] of Object.entries(outputs)) {
    const missing = imports.find(one => one.external && one.kind !== 'require-call' && !isBuiltin(one.path));
    if (missing)
      throw new Error(`Cannot bundle ${output} because it imports ${missing.path}, which would not be packed`);
  }
}

/** The licence of each library that is packed, after its name and version. */
function libraryLicences({ inputs }: Metafile): string {
  const packages = new Set(
    Object.keys(inputs).flatMap(path => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  const texts = [...packages].sort().map(path => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'));
    const files = globSync('{LICEN[CS]E,NOTICE,licen[cs]e,COPYING}*', { cwd: join(ROOT, path) }).sort();
    const text = files.map(file => readFileSync(join(ROOT, path, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version}\n\n${text || `Licence: ${license}`}\n`;
  });
  const node = `Node.js ${process.version}\n\nLicence: https://github.com/nodejs/node/blob/${process.version}/LICENSE\n`;
  return [node, ...texts].join(`\n${'-'.repeat(80)}\n\n`);
}
