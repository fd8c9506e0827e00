/** Hooks from the server configuration. */
import { call } from "./http.ts";
import type { Hook } from "./schema.ts";

export type { Hook };

export const listHooks = () => call<{ hooks: Hook[] }>("GET", "/api/v1/hooks");
