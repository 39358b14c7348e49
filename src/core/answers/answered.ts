/** Objects and inputs as they are in JSON answers. */
import type { Answered, CROSSMATCH_FIELDS, OBJECT_FIELDS, TNS_FIELDS, Worth } from '../contract/object_fields.ts';

/** A time: a string as in JSON answers, or microseconds since 1970. */
export type Time = string | number;

/** A coincident source, as in JSON answers; the optional properties only at `full`. */
export interface Match {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly separation_arcsec: number | null;
  readonly separation_at_epoch_arcsec?: number;
  readonly catalog_release?: string | null;
  readonly statistics?: Partial<Worth>;
  readonly ra?: number | null;
  readonly dec?: number | null;
  readonly catalog_payload?: Readonly<Record<string, unknown>> | null;
}

export type Tns = Partial<Answered<typeof TNS_FIELDS, Time>>;

/** An object, as in JSON answers; its properties depend on the level of detail. */
export interface AnsweredObject extends Partial<Omit<Answered<typeof OBJECT_FIELDS, Time>, 'diaObjectId'>> {
  readonly diaObjectId_str: string | bigint;
  readonly crossmatch?:
    | (Answered<typeof CROSSMATCH_FIELDS, Time> & { readonly catalog_outcomes: Readonly<Record<string, string>> })
    | null;
  readonly matches?: readonly Match[];
  readonly tns?: Tns | null;
}

/** The result of an input, as in JSON answers, without its objects. */
export interface AnsweredInput {
  readonly index: number;
  readonly kind: string | null;
  readonly input: unknown;
  readonly normalized: {
    readonly diaObjectId_str?: string;
    readonly ra?: number;
    readonly dec?: number;
    readonly name?: string;
  } | null;
  readonly status: string;
  readonly total?: number | null;
  readonly truncated?: boolean;
  readonly truncation?: string | null;
  readonly error?: { readonly message: string };
  readonly qualifies?: boolean;
  readonly qualifies_reason?: string;
}
