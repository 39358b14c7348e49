#!/usr/bin/env node
'use strict';
// Every Node can parse this file, so that an old one prints a line instead of a syntax error.
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { engines } = require('../package.json');

// A checkout has the sources, the npm package what is made of them.
const isCheckout = existsSync(join(__dirname, '../src'));
if (isCheckout && !existsSync(join(__dirname, '../node_modules'))) {
  process.stderr.write('nearsky: the packages are not installed: run `npm ci` in this checkout first\n');
  process.exit(1);
}

const [major, minor] = process.versions.node.split('.').map(Number);
const [leastMajor, leastMinor] = /\d+\.\d+/.exec(engines.node)[0].split('.').map(Number);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  process.stderr.write(
    `nearsky needs Node ${leastMajor}.${leastMinor} or newer; this is Node ${process.versions.node}\n`,
  );
  process.exit(1);
}
import(isCheckout ? '../src/main.ts' : '../dist/src/main.js');
