/** The entry of a process. The last argument names the module whose `runProcess` is its work: see `processProgram`. */
import { programModule } from '../src/core/base/program_files.ts';

const { runProcess } = await import(programModule(process.argv.at(-1)!).href);
runProcess();
// Node keeps compiled modules for the next process only when one exits, and most of these are killed. It is
// no import, because the bundle of the binary closes this module.
setTimeout(() => process.getBuiltinModule('node:module').flushCompileCache?.(), 500).unref();
