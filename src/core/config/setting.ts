/** What a setting is. */
import type { SettingKind } from './values.ts';

export interface Setting<T> extends SettingKind<T> {
  /** The purpose in a line or two, with the unit if the name does not end in it. */
  readonly help: string;
  /** Its value is never shown. */
  readonly secret?: boolean;
  /** The default applies only if this setting has its default too; otherwise it is null. */
  readonly defaultsWith?: string;
  /** The default in words, if it depends on the machine or the release. */
  readonly defaultNote?: string;
}

/** Settings by their names. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings. */
export type ValuesOf<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

export interface SettingGroup {
  readonly title: string;
  readonly settings: Settings;
}

export const about = <T>(help: string, kind: SettingKind<T>, defaultNote?: string): Setting<T> => {
  return defaultNote === undefined ? { ...kind, help } : { ...kind, help, defaultNote };
};

export const secret = <T>(help: string, kind: SettingKind<T>): Setting<T> => ({ ...kind, help, secret: true });
