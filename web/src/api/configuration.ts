/** Response types of the server configuration. */
import type { ServerSetting as AnySetting } from "./schema.ts";

export type SettingValue = string | number | boolean | readonly unknown[];

/** A setting whose values are TOML values. */
export type ServerSetting = Omit<AnySetting, "default" | "value"> & {
  default: SettingValue;
  /** `null` if the value is secret. */
  value: SettingValue | null;
};

export interface Configuration {
  settings: ServerSetting[];
  /** Path of the configuration file, whether or not it exists. */
  file: string;
  file_read: boolean;
}
