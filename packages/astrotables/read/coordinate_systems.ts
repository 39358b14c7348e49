/**
 * Reads the coordinate systems that a VOTable declares, and the fields that refer to them: COOSYS (VOTable 1.4, section
 * 3.1), groups with the utypes of STC (IVOA note "Referencing STC in VOTable"), space frames of MIVOT (IVOA
 * recommendation "Model Instances in VOTables" 1.0), and the keywords of FITS as parameters.
 */
import { framesOfKeywords } from './frame_keywords.ts';
import type { DeclaredFrame, InputTable } from './input_table.ts';

/** A group of fields, a COOSYS, or an instance of MIVOT. */
interface Group {
  readonly element: string;
  readonly id: string | undefined;
  readonly ref: string | undefined;
  /** True for a space frame of MIVOT. */
  readonly isMapped?: boolean;
  name?: string | undefined;
  equinox?: string | undefined;
  frame?: DeclaredFrame | undefined;
  /** The IDs of the group's fields that have no frame yet. */
  fields: string[];
}

interface Scope {
  readonly frames: DeclaredFrame[];
  readonly keywords: [keyword: string, value: string][];
}

const newScope = (): Scope => ({ frames: [], keywords: [] });

/** The elements that limit the scope of a system. */
const SCOPES = ['VOTABLE', 'RESOURCE', 'TABLE'];
const FRAME_UTYPE = /spaceframe\.coordrefframe$/i;
/** The types and the roles of MIVOT, with or without the name of a data model. */
const SPACE_FRAME = /(?:^|[:.])SpaceFrame$/i;
const FRAME_ROLE = /spaceRefFrame$/i;
const EQUINOX_ROLE = /(?:^|[:.])equinox$/i;
const EQUINOX_UTYPE = /spaceframe\.(?:coordrefframe\.)?equinox$/i;

/** Receives the tags of a document in their order. */
export class CoordinateSystems {
  /** The frames by the ID of the COOSYS or the group. */
  readonly #systems = new Map<string, DeclaredFrame>();
  readonly #fields = new Map<string, DeclaredFrame>();
  readonly #scopes: Scope[] = [newScope()];
  /** The frames of MIVOT, which stand in a resource of their own. */
  readonly #mapped: DeclaredFrame[] = [];
  readonly #groups: Group[] = [];

  /** @param attribute returns the value of an attribute of the element's opening tag */
  open(element: string, attribute: (name: string) => string | undefined): void {
    if (SCOPES.includes(element)) this.#scopes.push(newScope());
    const group = this.#groups.at(-1);
    if (element === 'COOSYS' || element === 'GROUP') {
      const isSystem = element === 'COOSYS';
      const equinox = isSystem ? attribute('equinox') : undefined;
      // By the schema, the default system is FK5.
      const name = isSystem ? (attribute('system') ?? (equinox && 'FK5')) : undefined;
      this.#groups.push({ element, id: attribute('ID'), ref: attribute('ref'), name, equinox, fields: [] });
    } else if (element === 'INSTANCE')
      this.#groups.push({
        element,
        id: undefined,
        ref: undefined,
        isMapped: SPACE_FRAME.test(attribute('dmtype') ?? ''),
        fields: [],
      });
    else if (group?.isMapped && element === 'ATTRIBUTE') {
      const role = attribute('dmrole') ?? '';
      if (FRAME_ROLE.test(role)) group.name ??= attribute('value');
      if (EQUINOX_ROLE.test(role)) group.equinox ??= attribute('value');
    } else if (group && element === 'FIELDref') group.fields.push(attribute('ref') ?? '');
    else if (!group && (element === 'PARAM' || element === 'INFO'))
      this.#scopes.at(-1)!.keywords.push([attribute('name') ?? '', attribute('value') ?? '']);
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
      // An inner group without fields declares the system of the group around it.
      if (group.fields.length === 0 && outer) outer.frame ??= frame;
      if (element === 'COOSYS') this.#scopes.at(-1)!.frames.push(frame);
      if (group.isMapped) this.#mapped.push(frame);
    }
  }

  /**
   * The frames of the fields of the open table: those that the fields or their groups refer to. If no field refers to a
   * frame, all frames declared around the table.
   */
  framesOf(
    fields: readonly { readonly id: string | undefined; readonly ref: string | undefined }[],
  ): Pick<InputTable, 'frames' | 'declared'> {
    const frames = new Map<number, DeclaredFrame>();
    for (const [place, { id, ref }] of fields.entries()) {
      const frame = this.#systems.get(ref ?? '') ?? this.#fields.get(id ?? '');
      if (frame) frames.set(place, frame);
    }
    const around = this.#scopes.flatMap(scope => scope.frames);
    const keywords = framesOfKeywords(this.#scopes.flatMap(scope => scope.keywords));
    return { frames, declared: [...(frames.size === 0 ? around : []), ...this.#mapped, ...keywords] };
  }
}

function frameOfGroup({ element, name, equinox }: Group): DeclaredFrame | undefined {
  if (name === undefined || /^(?:unknown|unknownframe)?$/i.test(name.trim())) return undefined;
  const by = element === 'GROUP' ? {} : { by: `${element} ${name}${equinox ? ` ${equinox}` : ''}` };
  return { name, ...(equinox && { equinox }), ...by };
}
