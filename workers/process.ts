/** The entry of a process. The last argument names the module whose `runProcess` is its work: see `processProgram`. */
import { programModule } from '../src/core/base/program_files.ts';

const { runProcess } = await import(programModule(process.argv.at(-1)!).href);
runProcess();
