import type { StageOutcome } from '../store/registry.ts';
import type { TnsRecord } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';

/**
 * The TNS registry of one import: all its `tns_object` lines, wherever they stand, under its one `tns_snapshot` line. At the end it
 * replaces the stored registry in one step; until then, and when the import does not come to its end, that stays.
 */
export class RegistryImport {
  readonly #writer: Writer;
  #load: number | undefined;
  #epochUs: number | undefined;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  get epochUs(): number | undefined {
    return this.#epochUs;
  }

  /** `conflict`: the import has another epoch already, which stays. */
  setEpoch(epochUs: number): StageOutcome {
    if (this.#epochUs !== undefined) return this.#epochUs === epochUs ? 'unchanged' : 'conflict';
    this.#epochUs = epochUs;
    return 'added';
  }

  async stage(records: readonly TnsRecord[]): Promise<StageOutcome[]> {
    this.#load ??= await this.#writer.beginRegistry();
    return this.#writer.stageRegistry(this.#load, records);
  }

  /** Replaces the stored registry. There must be an epoch. */
  async publish(): Promise<void> {
    await this.#writer.publishRegistry(this.#load ?? (await this.#writer.beginRegistry()), this.#epochUs!);
  }

  async drop(): Promise<void> {
    if (this.#load !== undefined) await this.#writer.dropRegistry(this.#load);
  }
}
