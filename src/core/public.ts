/**
 * The functions of the core that a capability from outside may call, by subject. docs/extending.md has an example.
 */
import { toJson } from '@nearsky/astrotables/json';
import { channel } from './base/channel.ts';
import { Unavailable } from './base/refusal.ts';
import * as times from './base/times.ts';
import { printResult, table } from './cli/command.ts';
import { about, ownSettings } from './config/config.ts';
import * as settingKinds from './config/values.ts';
import * as kinds from './contract/kind.ts';
import { documentedParameters } from './documents/openapi/parameters.ts';
import { queryResponses } from './documents/openapi/responses.ts';
import * as schema from './documents/openapi/schema.ts';
import { invalidParameter } from './http/errors.ts';
import { readerOf } from './http/read_parameters.ts';
import { jsonResponse, textResponse } from './http/respond.ts';
import { readLatestIngest } from './store/recent.ts';
import { openStore } from './store/store.ts';

export const PUBLIC = {
  times,
  kinds,
  schema,
  settings: { about, ownSettings, ...settingKinds },
  documents: { documentedParameters, queryResponses },
  requests: { readerOf, invalidParameter },
  responses: { jsonResponse, textResponse, toJson, Unavailable },
  parts: { channel },
  commands: { openStore, readLatestIngest, printResult, table },
};

export type Public = typeof PUBLIC;
