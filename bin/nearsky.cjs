#!/usr/bin/env node
'use strict';
// Every Node can parse this file, so that an old one prints a line instead of a syntax error.
const { existsSync, mkdirSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { homedir } = require('node:os');
const { isAbsolute, join } = require('node:path');
const { engines } = require('../package.json');

// A checkout has the sources, the npm package what is made of them.
const isCheckout = existsSync(join(__dirname, '../src'));
if (isCheckout && !existsSync(join(__dirname, '../node_modules'))) {
  process.stderr.write('nearsky: the packages are not installed: run `npm ci` in this checkout first\n');
  process.exit(1);
}

const [major, minor] = process.versions.node.split('.').map(Number);
// The npm package is compiled for older Nodes; the sources use `using`.
const needed = isCheckout ? '24.0' : engines.node;
const [leastMajor, leastMinor] = /\d+\.\d+/.exec(needed)[0].split('.').map(Number);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  process.stderr.write(
    `nearsky needs Node ${leastMajor}.${leastMinor} or newer; this is Node ${process.versions.node}\n`,
  );
  process.exit(1);
}

// These can be set only when a program starts. With a heap for each thread, the C library keeps freed memory for hours.
// Without a limit, V8 lets the memory for new objects grow to 128 MiB in each thread.
const FEW_HEAPS = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };
const FEW_NEW_OBJECTS = '--max-semi-space-size=4';
const { argv, env, execArgv, execPath, platform } = process;
const isLong = ['serve', 'consume', 'demo'].includes(argv[2]) && !env.MALLOC_ARENA_MAX;
const isLarge = argv[2] === 'export' && !execArgv.includes(FEW_NEW_OBJECTS);
if (platform === 'linux' && process.execve && !process.send && (isLong || isLarge)) {
  const flags = isLarge ? [...execArgv, FEW_NEW_OBJECTS] : execArgv;
  process.execve(execPath, [execPath, ...flags, ...argv.slice(1)], isLong ? { ...env, ...FEW_HEAPS } : env);
}

// Compiled code is kept in a directory of the user for the next start; threads and child processes learn it from the
// variable. Without a directory that can be written, Node compiles each time.
const { NEARSKY_CACHE_DIR, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
const caches = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
const own = NEARSKY_CACHE_DIR || join(caches, 'nearsky');
const compiled = NODE_COMPILE_CACHE || join(own, 'compiled');
for (const directory of [caches, own, compiled])
  try {
    mkdirSync(directory, 0o700);
  } catch {
    // It is there, or cannot be made.
  }
if (enableCompileCache && existsSync(compiled)) {
  process.env.NODE_COMPILE_CACHE = compiled;
  enableCompileCache(compiled);
}

import(isCheckout ? '../src/main.ts' : '../dist/src/main.js');
