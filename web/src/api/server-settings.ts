/** Changes settings of the server while it runs. */
import type { Configuration, ServerSetting, SettingValue } from "./configuration.ts";
import { call } from "./http.ts";
import type { SignInProviderTest } from "./schema.ts";

/** Values by the names of their settings; `null` returns to the default. */
export type SettingValues = Record<string, SettingValue | null>;

const path = "/api/v1/settings";

export const changeSettings = (values: SettingValues) => call<Configuration>("PATCH", path, { values });
/** Asks the provider of these values about itself; nothing is stored. */
export const testSignInProvider = (values: SettingValues) =>
  call<SignInProviderTest>("POST", `${path}/sign-in-provider/test`, { values });

/** Sends a mail to the current user with these values; nothing is stored. */
export const testMail = (values: SettingValues, language: string) =>
  call<undefined>("POST", `${path}/mail/test`, { values, language });

/** Whether the file, the environment or a flag sets it: the web app cannot change it then. */
export const isFixed = ({ from }: Pick<ServerSetting, "from">) => from !== "default" && from !== "web_app";

type Value = SettingValue | null | undefined;
/** Empty if the value is not a text: it is secret, or a server of another version has none. */
export const textOf = (value: Value): string => (typeof value === "string" ? value : "");
export const textsOf = (value: Value): string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
