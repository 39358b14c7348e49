#!/usr/bin/env node
import { main } from './commands/main.ts';
/** `nearsky <command> [options]`. */
import { messageOf } from './core/base/error_text.ts';
import { tell } from './core/cli/command.ts';

/** The exit status of a program that SIGPIPE ends, in a shell. */
const BROKEN_PIPE = 141;
// If the reader stops reading, like `head`, the program ends silently.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(BROKEN_PIPE);
  tell(`nearsky: cannot write to standard output: ${messageOf(error)}`);
  process.exit(1);
});

process.exitCode = await main(process.argv.slice(2));
