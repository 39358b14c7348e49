/** Descriptions of catalogs, checked against the schema. */

import { readFileSync } from 'node:fs';
import { reasonOf } from '@nearsky/astrotables/files';
import { CatalogError } from '@nearsky/hats';
import { Ajv, type ErrorObject } from 'ajv';
import schema from '../../core/contract/catalogs/schema.json' with { type: 'json' };
import type { CatalogDescription } from './definition.ts';

/** The number of faults that a message names. */
const LISTED = 3;

/** @throws CatalogError if the file cannot be read, or is not a description */
export function readDescription(file: string): CatalogDescription {
  let description: unknown;
  try {
    description = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CatalogError(`Cannot read the description ${file}: ${reasonOf(error)}`);
  }
  return checkedDescription(description, `the description ${file}`);
}

/**
 * @param what names it in messages
 * @throws CatalogError if it is not a description
 */
export function checkedDescription(description: unknown, what: string): CatalogDescription {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strictRequired: false, strictTypes: false });
  const isValid = ajv.compile(schema);
  if (isValid(description)) {
    const { $schema: _, ...properties } = description as { readonly $schema?: string } & CatalogDescription;
    return properties;
  }
  const faults = (isValid.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(textOf);
  const more = faults.length > LISTED ? `, and ${faults.length - LISTED} more` : '';
  throw new CatalogError(`Cannot use ${what} because ${faults.slice(0, LISTED).join('; ')}${more}`);
}

function textOf({ instancePath, message, params, keyword }: ErrorObject): string {
  const place = instancePath === '' ? 'the whole' : instancePath.slice(1).replaceAll('/', '.');
  const values = keyword === 'enum' ? `: ${params.allowedValues.join(', ')}` : '';
  const name = keyword === 'additionalProperties' ? ` (${params.additionalProperty})` : '';
  return `${place} ${message}${values}${name}`;
}
