/**
 * The coordinate systems that a VOTable declares, and the fields that they are bound to: COOSYS (VOTable 1.4, section 3.1), and
 * groups with the utypes of STC (IVOA note "Referencing STC in VOTable").
 */
import type { DeclaredFrame, InputTable } from './input_table.ts';

/** A group of fields, or a COOSYS. */
interface Group {
  readonly element: string;
  readonly id: string | undefined;
  readonly ref: string | undefined;
  name?: string | undefined;
  equinox?: string | undefined;
  frame?: DeclaredFrame | undefined;
  /** The IDs of the fields in it that have no frame yet. */
  fields: string[];
}

/** The elements whose systems hold for everything in them. */
const SCOPES = ['VOTABLE', 'RESOURCE', 'TABLE'];
const FRAME_UTYPE = /spaceframe\.coordrefframe$/i;
const EQUINOX_UTYPE = /spaceframe\.(?:coordrefframe\.)?equinox$/i;

/** Follows the tags of a document in their order. */
export class CoordinateSystems {
  /** By the ID of the COOSYS or the group. */
  readonly #systems = new Map<string, DeclaredFrame>();
  readonly #fields = new Map<string, DeclaredFrame>();
  readonly #scopes: DeclaredFrame[][] = [[]];
  readonly #groups: Group[] = [];

  /** @param attribute the value of an attribute of the tag that opens the element */
  open(element: string, attribute: (name: string) => string | undefined): void {
    if (SCOPES.includes(element)) this.#scopes.push([]);
    const group = this.#groups.at(-1);
    if (element === 'COOSYS' || element === 'GROUP') {
      const isSystem = element === 'COOSYS';
      const equinox = isSystem ? attribute('equinox') : undefined;
      // Without a system it is FK5, by the schema.
      const name = isSystem ? (attribute('system') ?? (equinox && 'FK5')) : undefined;
      this.#groups.push({ element, id: attribute('ID'), ref: attribute('ref'), name, equinox, fields: [] });
    } else if (group && element === 'FIELDref') group.fields.push(attribute('ref') ?? '');
    else if (group && element === 'PARAM') {
      const utype = attribute('utype') ?? '';
      if (FRAME_UTYPE.test(utype)) group.name ??= attribute('value');
      if (EQUINOX_UTYPE.test(utype)) group.equinox ??= attribute('value');
    }
  }

  close(element: string): void {
    if (SCOPES.includes(element) && this.#scopes.length > 1) this.#scopes.pop();
    if (element !== this.#groups.at(-1)?.element) return;
    const group = this.#groups.pop()!;
    const outer = this.#groups.at(-1);
    const frame = frameOfGroup(group) ?? group.frame ?? this.#systems.get(group.ref ?? '');
    if (!frame) outer?.fields.push(...group.fields);
    else {
      if (group.id) this.#systems.set(group.id, frame);
      for (const id of group.fields) this.#fields.set(id, frame);
      // A group within, without fields, is the system of the group around it.
      if (group.fields.length === 0 && outer) outer.frame ??= frame;
      if (element === 'COOSYS') this.#scopes.at(-1)!.push(frame);
    }
  }

  /**
   * The frames of the fields of the table that is open: those that they or their groups refer to; else, where no field refers to
   * any, the only one around the table.
   */
  framesOf(
    fields: readonly { readonly id: string | undefined; readonly ref: string | undefined }[],
  ): Pick<InputTable, 'frames' | 'frame'> {
    const frames = new Map<number, DeclaredFrame>();
    for (const [place, { id, ref }] of fields.entries()) {
      const frame = this.#systems.get(ref ?? '') ?? this.#fields.get(id ?? '');
      if (frame) frames.set(place, frame);
    }
    const around = new Map(this.#scopes.flat().map(frame => [`${frame.name} ${frame.equinox}`.toLowerCase(), frame]));
    const [only] = around.values();
    return { frames, frame: frames.size === 0 && around.size === 1 ? only : undefined };
  }
}

function frameOfGroup({ name, equinox }: Group): DeclaredFrame | undefined {
  if (name === undefined || /^(?:unknown|unknownframe)?$/i.test(name.trim())) return undefined;
  return { name, ...(equinox && { equinox }) };
}
