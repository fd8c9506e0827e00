/** Entries of the settings menu, the pages of each, and the addresses of their parts. */
import Activity from "@lucide/svelte/icons/activity";
import Bot from "@lucide/svelte/icons/bot";
import Boxes from "@lucide/svelte/icons/boxes";
import Brain from "@lucide/svelte/icons/brain";
import CalendarClock from "@lucide/svelte/icons/calendar-clock";
import ChartColumn from "@lucide/svelte/icons/chart-column";
import CircleUser from "@lucide/svelte/icons/circle-user";
import KeyRound from "@lucide/svelte/icons/key-round";
import LibraryBig from "@lucide/svelte/icons/library-big";
import ServerCog from "@lucide/svelte/icons/server-cog";
import ShieldCheck from "@lucide/svelte/icons/shield-check";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
import Users from "@lucide/svelte/icons/users";
import type { Component } from "svelte";
import type { Right } from "../../api/me.ts";
import type { Key } from "../../i18n/index.svelte.ts";
import { session } from "../../state/session.svelte.ts";

/** A page with its own address, `/settings/` and its name; several pages of one entry are tabs. */
export interface SettingsPage {
  name: string;
  title: Key;
  load: () => Promise<{ default: Component }>;
}

export interface Entry {
  title: Key;
  icon: typeof Brain;
  isFor: () => boolean;
  pages: readonly [SettingsPage, ...SettingsPage[]];
}

const isAdmin = () => session.isAdmin;
const hasPassword = () => session.me?.auth === "password";
const anybody = () => true;
const whoMay = (right: Right) => () => session.may(right);

const yours: Entry[] = [
  {
    title: "settings.general",
    icon: SlidersHorizontal,
    isFor: anybody,
    pages: [{ name: "general", title: "settings.general", load: () => import("./General.svelte") }],
  },
  {
    title: "settings.account",
    icon: CircleUser,
    isFor: hasPassword,
    pages: [{ name: "account", title: "settings.account", load: () => import("./Account.svelte") }],
  },
  {
    title: "settings.personalization",
    icon: Brain,
    isFor: anybody,
    pages: [
      { name: "personalization", title: "settings.personalization", load: () => import("./Memory.svelte") },
    ],
  },
  {
    title: "settings.permissions",
    icon: ShieldCheck,
    isFor: anybody,
    pages: [
      { name: "permissions", title: "settings.permissions", load: () => import("./Permissions.svelte") },
    ],
  },
  {
    title: "settings.schedules",
    icon: CalendarClock,
    isFor: whoMay("schedules"),
    pages: [{ name: "schedules", title: "settings.schedules", load: () => import("./Schedules.svelte") }],
  },
  {
    title: "settings.keys",
    icon: KeyRound,
    isFor: whoMay("api_keys"),
    pages: [{ name: "keys", title: "settings.keys", load: () => import("./Keys.svelte") }],
  },
  {
    title: "settings.usageAndData",
    icon: ChartColumn,
    isFor: anybody,
    pages: [
      { name: "usage", title: "settings.usage", load: () => import("./Usage.svelte") },
      { name: "data", title: "settings.data", load: () => import("./Data.svelte") },
    ],
  },
];

const server: Entry[] = [
  {
    title: "settings.models",
    icon: Boxes,
    isFor: isAdmin,
    pages: [{ name: "models", title: "settings.models", load: () => import("./Models.svelte") }],
  },
  {
    title: "settings.agentsAndTools",
    icon: Bot,
    isFor: isAdmin,
    pages: [
      { name: "agents", title: "settings.agents", load: () => import("./Agents.svelte") },
      { name: "tools", title: "settings.tools", load: () => import("./Tools.svelte") },
      { name: "prompts", title: "settings.prompts", load: () => import("./StartPrompts.svelte") },
    ],
  },
  {
    title: "knowledge.title",
    icon: LibraryBig,
    isFor: isAdmin,
    pages: [{ name: "knowledge", title: "knowledge.title", load: () => import("./Documents.svelte") }],
  },
  {
    title: "settings.peopleAndGroups",
    icon: Users,
    isFor: isAdmin,
    pages: [
      { name: "people", title: "settings.people", load: () => import("./People.svelte") },
      { name: "groups", title: "settings.groups", load: () => import("./Groups.svelte") },
      { name: "limits", title: "settings.limits", load: () => import("./Limits.svelte") },
      { name: "mail", title: "settings.mail", load: () => import("./Mail.svelte") },
    ],
  },
  {
    title: "settings.tasks",
    icon: Activity,
    isFor: isAdmin,
    pages: [
      { name: "pipelines", title: "settings.pipelines", load: () => import("./Pipelines.svelte") },
      { name: "jobs", title: "settings.jobs", load: () => import("./Jobs.svelte") },
    ],
  },
  {
    title: "settings.system",
    icon: ServerCog,
    isFor: isAdmin,
    pages: [
      {
        name: "configuration",
        title: "settings.configuration",
        load: () => import("./Configuration.svelte"),
      },
      { name: "audit", title: "settings.audit", load: () => import("./Audit.svelte") },
    ],
  },
];

/** The entries that the current user may open. */
export const openGroups = () => [
  { group: "yours" as const, entries: yours.filter(({ isFor }) => isFor()) },
  { group: "server" as const, entries: server.filter(({ isFor }) => isFor()) },
];

/** Shorter addresses of parts of a page, and addresses that pages had before they were merged. */
const addresses: Record<string, { page: string; part?: Key }> = {
  appearance: { page: "general" },
  notifications: { page: "general", part: "settings.notices" },
  profile: { page: "account", part: "settings.profile" },
  password: { page: "account", part: "settings.password" },
  "two-step": { page: "account", part: "settings.two-step" },
  passkeys: { page: "account", part: "settings.passkeys" },
  sessions: { page: "account", part: "settings.sessions" },
  memory: { page: "personalization" },
  facts: { page: "personalization", part: "memory.facts" },
  consent: { page: "permissions", part: "settings.consent" },
  "sign-ins": { page: "permissions", part: "signIns.title" },
  webhooks: { page: "schedules", part: "webhooks.title" },
  skills: { page: "agents", part: "agents.skills" },
  hooks: { page: "tools", part: "hooks.title" },
  "approval-rules": { page: "tools", part: "approvalRules.title" },
  "sign-in-provider": { page: "people", part: "signInProvider.title" },
  documents: { page: "knowledge" },
  system: { page: "configuration" },
};

export interface Place {
  entry: Entry;
  page: SettingsPage;
  /** The heading to scroll to. */
  part?: Key;
}

/** What `/settings/` and `name` shows; the first page if it names none that the user may open. */
export function placeOf(name: string): Place {
  const entries = openGroups().flatMap(({ entries }) => entries);
  const find = (name: string) => {
    for (const entry of entries) {
      const page = entry.pages.find((page) => page.name === name);
      if (page) return { entry, page };
    }
    return undefined;
  };
  // Everybody's sign-ins were on the page of the tools, where providers and documentation still link to.
  const isBackFromSignIn = name === "tools" && new URL(location.href).searchParams.has("sign_in");
  const meant = name === "tools" && (isBackFromSignIn || !session.isAdmin) ? "sign-ins" : name;
  const { page, part } = (Object.hasOwn(addresses, meant) ? addresses[meant] : undefined) ?? { page: meant };
  const found = find(page);
  if (found) return part === undefined ? found : { ...found, part };
  const [entry] = yours as [Entry];
  return { entry, page: entry.pages[0] };
}
