/** Request and response types of the groups API, under the names this app uses. */
import type { ResourceKind } from "./schema.ts";

export type {
  Group,
  GroupChange,
  GroupMember,
  Permission,
  PermissionList as Permissions,
  ResourceKind as ThingKind,
} from "./schema.ts";

export const thingKinds = [
  "model",
  "agent",
  "tool",
  "workspace",
  "right",
] as const satisfies readonly ResourceKind[];
