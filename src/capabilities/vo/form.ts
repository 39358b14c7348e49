/** Reads forms (HTML, `multipart/form-data` and `application/x-www-form-urlencoded`) as they arrive, within limits. */
import { Busboy } from '@fastify/busboy';
import { Budget } from '../../core/base/budget.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import type { IncomingRequest } from '../../core/http/incoming.ts';
import { invalidBody, readBytes, readParts } from '../../core/http/json_body.ts';
import { pairsOf } from '../../core/http/params.ts';

/** The maximum number of fields and files in a form. All other known services accept fewer. */
const MAX_FORM_PARTS = 32;
/** The maximum size of a form's fields together, without its files, bytes. */
export const MAX_FIELD_BYTES = 1 << 20;
/** The time limits for receiving a form: with files, and the shorter one without files. */
const FILES_SECONDS = 55;
const FIELDS_SECONDS = 10;

interface FormRules {
  /** Whether a part with this name is a field; otherwise it is a file. */
  isField(name: string): boolean;
  /** Begins a file. Returns the function that receives its bytes. */
  file(name: string): (bytes: Uint8Array) => void;
  /** The maximum size of all files together, bytes. */
  readonly maxFileBytes: number;
}

/**
 * Whether a request has a form of several parts.
 * @throws ApiError naming `Content-Type` if it has no form
 */
export function isMultipart({ headers }: IncomingRequest): boolean {
  const type = (headers.get('Content-Type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'multipart/form-data') return true;
  if (type === 'application/x-www-form-urlencoded') return false;
  throw invalidParameter('Content-Type', 'application/x-www-form-urlencoded or multipart/form-data', type);
}

/**
 * The fields of a form, in their order.
 * @throws ApiError naming `Content-Type` or `body`, or for a form that arrives too late
 */
export async function readForm(request: IncomingRequest, rules: FormRules): Promise<[name: string, value: string][]> {
  if (isMultipart(request)) return await readMultipart(request, request.headers.get('Content-Type')!, rules);
  const text = new TextDecoder().decode(await readBytes(request, new Budget(FIELDS_SECONDS), MAX_FIELD_BYTES));
  if (text.split('&', MAX_FORM_PARTS + 1).length > MAX_FORM_PARTS) throw tooManyParts();
  return [...pairsOf(text)];
}

const tooManyParts = () => invalidBody(`it must have at most ${MAX_FORM_PARTS} fields and files`);

async function readMultipart(
  request: IncomingRequest,
  contentType: string,
  { isField, file, maxFileBytes }: FormRules,
) {
  const fields: [string, string][] = [];
  let fieldBytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // If a form is refused while it arrives, nothing awaits this promise.
  promise.catch(() => {});
  let refusal: Error | undefined;
  const refuse = (error: Error) => reject((refusal ??= error));
  const parser = parserOf(contentType, name => !isField(name));
  parser.on('field', (name, value, _nameTruncated, isTruncated) => {
    fieldBytes += name.length + value.length;
    if (isTruncated || fieldBytes > MAX_FIELD_BYTES)
      return refuse(
        invalidBody(`its fields must have at most ${MAX_FIELD_BYTES} bytes together (${name} exceeds that)`),
      );
    fields.push([name, value]);
  });
  parser.on('file', (name, stream) => {
    const take = file(name);
    stream.on('data', part => {
      try {
        take(part);
      } catch (error) {
        refuse(error as Error);
      }
    });
    stream.on('error', () => refuse(noForm()));
  });
  parser.on('partsLimit', () => refuse(tooManyParts()));
  parser.on('error', () => refuse(noForm()));
  parser.on('finish', resolve);
  await readParts(request, new Budget(FILES_SECONDS), maxFileBytes + MAX_FIELD_BYTES, part => {
    if (refusal) throw refusal;
    parser.write(part);
  });
  parser.end();
  await promise;
  return fields;
}

const noForm = () => invalidBody('it is not the multipart form that its Content-Type announces');

/** @throws ApiError if the Content-Type has no boundary */
function parserOf(contentType: string, isFile: (name: string) => boolean) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: name => isFile(name ?? ''),
      limits: { parts: MAX_FORM_PARTS, fieldSize: MAX_FIELD_BYTES, headerPairs: 32, headerSize: 16_384 },
    });
  } catch {
    throw noForm();
  }
}
