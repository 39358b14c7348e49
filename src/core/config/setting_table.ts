/** All settings of a service: the sum over its core and its capabilities. */
import { DEFAULT_WINDOW_HOURS } from '../contract/limits.ts';
import type { Setting, SettingGroup, Settings, ValuesOf } from './setting.ts';
import { type Config, SETTING_GROUPS } from './settings.ts';

/** The least value of a setting, if it depends on other settings. */
export interface Least {
  readonly name: string;
  readonly least: number;
  /** A clause after "because". */
  readonly why: string;
}

/** Settings that belong to one capability. */
interface Own<S extends Settings> {
  /** The title of their group. If the core has that group, they are shown after its settings. */
  readonly title: string;
  readonly settings: S;
  /** The combinations that the service requires. */
  least?(config: Config & ValuesOf<S>): readonly Least[];
}

export interface OwnSettings<S extends Settings = Settings> extends Own<S> {
  /**
   * The same object, with the type of these settings.
   * @throws Error if they were not loaded
   */
  of(config: Config): Config & ValuesOf<S>;
}

/** Declares the settings of a capability. */
export function ownSettings<S extends Settings>(own: Own<S>): OwnSettings<S> {
  const [first] = Object.keys(own.settings);
  return {
    ...own,
    of(config) {
      if (!(first! in config))
        throw new Error(`Cannot use ${first} because the settings of its capability were not loaded`);
      return config as Config & ValuesOf<S>;
    },
  };
}

export interface SettingTable {
  /** The settings in the order in which they are shown. */
  readonly groups: readonly SettingGroup[];
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
  readonly least: (config: Config) => readonly Least[];
}

/** @param capabilities their settings. Within a group, they are shown in this order, after those of the core. */
export function settingTable(capabilities: readonly OwnSettings[]): SettingTable {
  const groups = Map.groupBy([...SETTING_GROUPS, ...capabilities], ({ title }) => title);
  const summed = [...groups].map(([title, of]) => {
    return { title, settings: Object.assign({}, ...of.map(({ settings }) => settings)) as Settings };
  });
  return {
    groups: summed,
    settings: Object.assign({}, ...summed.map(({ settings }) => settings)),
    least: config => [...leastOfCore(config), ...capabilities.flatMap(own => own.least?.(own.of(config)) ?? [])],
  };
}

/** The settings of the core alone, for programs that use no capability. */
export const CORE_SETTINGS = settingTable([]);

function leastOfCore(config: Config): readonly Least[] {
  return [
    { name: 'RECENT_CROSSMATCH_MAX_WINDOW_HOURS', least: DEFAULT_WINDOW_HOURS, why: 'it is the default window' },
    {
      name: 'RECENT_CROSSMATCH_MAX_PAGE_SIZE',
      least: config.RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE,
      why: 'RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE has that value',
    },
    {
      name: 'NEARSKY_CHILD_MEMORY_MIB',
      least: config.API_TABLE_MEMORY_MIB + 96,
      why: `a large table takes up to 96 more than API_TABLE_MEMORY_MIB (${config.API_TABLE_MEMORY_MIB})`,
    },
    {
      name: 'API_MAX_CONE_RADIUS_ARCSEC',
      least: config.TNS_MATCH_RADIUS_ARCSEC,
      why: 'TNS_MATCH_RADIUS_ARCSEC has that value',
    },
  ];
}
