/** What the configuration of the server says. */
import type { ServerSetting as AnySetting } from "./schema.ts";

export type SettingValue = string | number | boolean | readonly unknown[];

/** A setting, whose values are those of TOML. */
export type ServerSetting = Omit<AnySetting, "default" | "value"> & {
  default: SettingValue;
  /** Null where it is secret. */
  value: SettingValue | null;
};

export interface Configuration {
  settings: ServerSetting[];
  /** The file that was read, or that would be. */
  file: string;
  file_read: boolean;
}
