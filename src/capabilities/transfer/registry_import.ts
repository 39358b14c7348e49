import type { StageOutcome } from '../../core/store/registry.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';
import { dropLoad, publishLoad } from '../names/registry_writer.ts';

/**
 * The TNS registry of an import: the only `tns_snapshot` line, and all `tns_object` lines, wherever they are. At the
 * end it replaces the stored registry in one step. Until then, and also if the import fails, the stored registry stays.
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

  /** `conflict`: the import already has a different epoch, which it keeps. */
  setEpoch(epochUs: number): StageOutcome {
    if (this.#epochUs !== undefined) return this.#epochUs === epochUs ? 'unchanged' : 'conflict';
    this.#epochUs = epochUs;
    return 'added';
  }

  async stage(records: readonly TnsRecord[]): Promise<StageOutcome[]> {
    this.#load ??= await this.#writer.commit({ kind: 'begin_registry' });
    return this.#writer.commit({ kind: 'stage_registry', load: this.#load, records });
  }

  /** Replaces the stored registry. An epoch must have been set before. */
  async publish(): Promise<void> {
    await publishLoad(
      this.#writer,
      this.#load ?? (await this.#writer.commit({ kind: 'begin_registry' })),
      this.#epochUs!,
    );
  }

  async drop(): Promise<void> {
    if (this.#load !== undefined) await dropLoad(this.#writer, this.#load);
  }
}
