/** What the configuration of the server says; see docs/reference/api.md. */

export type SettingValue = string | number | boolean | readonly unknown[];

export interface ServerSetting {
  /** With its section before it: `limits.steps`. */
  name: string;
  /** The environment variable that sets it. */
  variable: string;
  default: SettingValue;
  /** Null where it is secret. */
  value: SettingValue | null;
  from: "default" | "file" | "environment" | "flag";
}

export interface Configuration {
  settings: ServerSetting[];
  /** The file that was read, or that would be. */
  file: string;
  file_read: boolean;
}
