/** The entry of a process. The last argument names the module whose `runProcess` is its work: see `processProgram`. */
import nodeModule from 'node:module';
import { programModule } from '../src/core/base/program_files.ts';

const { runProcess } = await import(programModule(process.argv.at(-1)!).href);
runProcess();
// Node keeps compiled modules for the next process only when one exits, and most of these are killed.
setTimeout(() => nodeModule.flushCompileCache?.(), 500).unref();
