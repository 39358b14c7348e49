/**
 * Collects the files of the single executable: our modules and the libraries as JavaScript, the addons, and the data
 * files. Also collects the files of the npm package, without the libraries and addons, because npm installs those.
 */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { programFile } from '../core/base/program_files.ts';

const ROOT = programFile('.');

const entry = (module: string) => ({ out: module, in: `${module}.ts` });
/** Our modules with a line that begins so: modules that are loaded by their paths. */
const modulesWith = (line: string) =>
  globSync('src/**/*.ts', { cwd: ROOT })
    .filter(path => readFileSync(join(ROOT, path), 'utf8').includes(`\n${line}`))
    .map(path => path.slice(0, -'.ts'.length))
    .sort();

const PROCESSES = modulesWith('export function runProcess(');
/** The modules of the processes that run tasks. */
const TASK_PROCESSES = PROCESSES.filter(module =>
  readFileSync(join(ROOT, `${module}.ts`), 'utf8').includes('runTask('),
);
/** The modules with which processes and threads start, and those of their tasks: see `Tasks`. */
const ENTRIES = [
  'src/main',
  'workers/process',
  'workers/task',
  ...TASK_PROCESSES,
  ...modulesWith('export const tasks:'),
].map(entry);
/** Piscina starts its threads from a file next to its own module. */
const PISCINA = { out: 'src/core/base/worker', in: 'node_modules/piscina/dist/worker.js' };
/** Processes that run no tasks: see `processProgram`. They need libraries that only the npm package has. */
const OTHER_PROCESSES = PROCESSES.filter(module => !TASK_PROCESSES.includes(module)).map(entry);

/** The files that the program reads through `programFile`. `/docs` serves the documents among them. */
export const DATA = [
  'package.json',
  ...globSync('docs/**/*.{md,png,svg,py,json,ipynb}', { cwd: ROOT }),
  ...['ARCHITECTURE', 'CHANGELOG', 'CODE_OF_CONDUCT', 'CONTRIBUTING', 'SECURITY'].map(name => `${name}.md`),
  ...globSync('{index,packages/*}/README.md', { cwd: ROOT }),
  ...globSync('deploy/{*.service,*.timer,*.yaml,*.json,*.cfg,*.conf,*.sh,*.logrotate,helm/values.yaml}', { cwd: ROOT }),
  'src/core/contract/catalogs/schema.json',
  'sample/README.md',
  'sample/alerts',
  'sample/catalogs',
  'sample/tns',
  ...globSync('src/capabilities/*/*.js', { cwd: ROOT }),
  'src/core/contract/hours.js',
  'src/core/contract/verdict.js',
  ...globSync('src/capabilities/*/browser', { cwd: ROOT }),
  ...globSync('clients/python/nearsky/**/*.{py,typed,html}', { cwd: ROOT }),
  ...['pyproject.toml', 'README.md', 'LICENSE'].map(name => `clients/python/${name}`),
  ...['nearsky.js', 'nearsky.d.ts'].map(name => `clients/typescript/${name}`),
];
/** Libraries that browsers load. */
const BROWSER_LIBRARIES = ['node_modules/h3-js/dist/h3-js.umd.js', 'node_modules/lit-html/lit-html.js'];
const BINARY_DATA = [...DATA, ...BROWSER_LIBRARIES, 'LICENSE', 'NOTICE'];
const LIBRARY_LICENCES = 'LIBRARIES.txt';

/**
 * The launcher's module. An executable can only start a module without top-level `await`, so this module imports the
 * one that uses it. The executable does not run a file given as an argument. So if it is started with a file name, it
 * runs that file as a process of the service.
 */
const PROCESS = 'workers/process.js';
const START = [
  'start.cjs',
  `import(process.argv[2]?.endsWith('/${PROCESS}') ? './${PROCESS}' : './src/main.js');\n`,
] as const;

/**
 * The environment that libraries expect of a CommonJS module. Their `require` finds only built-in and packed modules.
 * Packages that were not packed are not searched for, because the search would include the directories above the cache,
 * where other users may write.
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

/** Options for modules. Code that several modules import is placed in shared chunks. */
const MODULES = {
  ...OPTIONS,
  format: 'esm',
  splitting: true,
  // Chunks are placed next to `src/core/base/program_files.ts`, because paths of other files are relative to that directory.
  chunkNames: 'src/core/base/[name]-[hash]',
} satisfies BuildOptions;

/**
 * Writes the files of the npm package below `directory`, in the layout of the checkout, for the oldest Node in
 * `engines`.
 */
export async function writePackage(directory: string): Promise<void> {
  const entryPoints = [...ENTRIES, ...OTHER_PROCESSES];
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(programFile('package.json'), 'utf8'));
  // npm installs these libraries. The checkout's own workspaces are packed instead.
  const external = Object.keys({ ...dependencies, ...optionalDependencies });
  await build({ ...MODULES, target: 'node22', entryPoints, outdir: directory, external });
  copyData(DATA, directory);
}

/** Writes the files of the executable below `directory`, in the layout of the checkout. Returns their paths, sorted. */
export async function writeBundle(directory: string): Promise<string[]> {
  const { metafile } = await build({
    ...MODULES,
    entryPoints: [...ENTRIES, PISCINA],
    outdir: directory,
    assetNames: 'src/core/base/[name]-[hash]',
    loader: { '.node': 'copy' },
    banner: { js: COMMONJS },
    // The other form of this package would read a file at run time.
    alias: { '@platformatic/wasm-utils': '@platformatic/wasm-utils/bundled' },
    // This optional package only sets a thread's niceness, which nearsky does not need.
    external: ['@napi-rs/nice'],
    plugins: [addons, closedRequire, namedExports],
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

/** Writes the module that the executable starts with, as one CommonJS module. */
export async function writeLauncher(file: string): Promise<void> {
  await build({ ...OPTIONS, entryPoints: ['src/binary/launcher.ts'], outfile: file, format: 'cjs' });
}

/** Loads the addon for this runtime from the directory of the modules. */
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

/** Some libraries create their own `require`. This makes them use the `require` of `COMMONJS`. */
const closedRequire: Plugin = {
  name: 'closed-require',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?module$/ }, ({ path }) => ({ path, namespace: 'closed-require' }));
    onLoad({ filter: /./, namespace: 'closed-require' }, () => ({
      contents: 'export const createRequire = () => require;',
    }));
  },
};

/**
 * CommonJS libraries that are imported when they are needed. esbuild gives such an import only the default export; this
 * adds the names that Node gives it.
 */
const namedExports: Plugin = {
  name: 'named-exports',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import' || isBuiltin(path)) return undefined;
      const library = await resolve(path, { kind: 'import-statement', resolveDir });
      if (!library.path.includes('node_modules')) return undefined;
      const names = Object.keys(await import(library.path));
      if (!names.includes('module.exports')) return undefined;
      return { path, namespace: 'named-exports', pluginData: { path: library.path, names } };
    });
    onLoad({ filter: /./, namespace: 'named-exports' }, ({ pluginData: { path, names } }) => {
      const exported = names.filter((name: string) => /^[\w$]+$/.test(name));
      return { contents: `export { ${exported.join(', ')} } from ${JSON.stringify(path)};`, resolveDir: ROOT };
    });
  },
};

/** @throws Error if a module imports a module that is neither packed nor built in */
function requireComplete({ outputs }: Metafile): void {
  for (const [output, { imports }] of Object.entries(outputs)) {
    const missing = imports.find(one => one.external && one.kind !== 'require-call' && !isBuiltin(one.path));
    if (missing)
      throw new Error(`Cannot bundle ${output} because it imports ${missing.path}, which would not be packed`);
  }
}

/** The licence of each packed library, each after the library's name and version. */
function libraryLicences({ inputs }: Metafile): string {
  const packages = new Set(
    [...Object.keys(inputs), ...BROWSER_LIBRARIES].flatMap(
      path => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
    ),
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
