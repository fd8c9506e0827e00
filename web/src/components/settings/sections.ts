/** Sections of the settings in menu order: personal ones, and those of the server. */
import Activity from "@lucide/svelte/icons/activity";
import Bot from "@lucide/svelte/icons/bot";
import Boxes from "@lucide/svelte/icons/boxes";
import Brain from "@lucide/svelte/icons/brain";
import CalendarClock from "@lucide/svelte/icons/calendar-clock";
import ChartColumn from "@lucide/svelte/icons/chart-column";
import CircleUser from "@lucide/svelte/icons/circle-user";
import FileSearch from "@lucide/svelte/icons/file-search";
import Fingerprint from "@lucide/svelte/icons/fingerprint-pattern";
import FolderInput from "@lucide/svelte/icons/folder-input";
import Gauge from "@lucide/svelte/icons/gauge";
import KeyRound from "@lucide/svelte/icons/key-round";
import LockKeyhole from "@lucide/svelte/icons/lock-keyhole";
import MonitorSmartphone from "@lucide/svelte/icons/monitor-smartphone";
import Palette from "@lucide/svelte/icons/palette";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import ShieldCheck from "@lucide/svelte/icons/shield-check";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
import Smartphone from "@lucide/svelte/icons/smartphone";
import Users from "@lucide/svelte/icons/users";
import UsersRound from "@lucide/svelte/icons/users-round";
import Workflow from "@lucide/svelte/icons/workflow";
import Wrench from "@lucide/svelte/icons/wrench";
import type { Right } from "../../api/me.ts";
import { session } from "../../state/session.svelte.ts";

const isAdmin = () => session.isAdmin;
const hasPassword = () => session.me?.auth === "password";
const anybody = () => true;
const whoMay = (right: Right) => () => session.may(right);

const groups = [
  {
    group: "yours",
    sections: [
      { name: "appearance", icon: Palette, isFor: anybody, load: () => import("./Appearance.svelte") },
      { name: "profile", icon: CircleUser, isFor: hasPassword, load: () => import("./Profile.svelte") },
      { name: "password", icon: LockKeyhole, isFor: hasPassword, load: () => import("./Password.svelte") },
      { name: "two-step", icon: Smartphone, isFor: hasPassword, load: () => import("./TwoStep.svelte") },
      { name: "passkeys", icon: Fingerprint, isFor: hasPassword, load: () => import("./Passkeys.svelte") },
      {
        name: "sessions",
        icon: MonitorSmartphone,
        isFor: hasPassword,
        load: () => import("./Sessions.svelte"),
      },
      { name: "consent", icon: ShieldCheck, isFor: anybody, load: () => import("./Consent.svelte") },
      { name: "memory", icon: Brain, isFor: anybody, load: () => import("./Memory.svelte") },
      {
        name: "schedules",
        icon: CalendarClock,
        isFor: whoMay("schedules"),
        load: () => import("./Schedules.svelte"),
      },
      { name: "keys", icon: KeyRound, isFor: whoMay("api_keys"), load: () => import("./Keys.svelte") },
      { name: "usage", icon: ChartColumn, isFor: anybody, load: () => import("./Usage.svelte") },
      { name: "data", icon: FolderInput, isFor: anybody, load: () => import("./Data.svelte") },
    ],
  },
  {
    group: "server",
    sections: [
      { name: "models", icon: Boxes, isFor: anybody, load: () => import("./Models.svelte") },
      { name: "agents", icon: Bot, isFor: isAdmin, load: () => import("./Agents.svelte") },
      { name: "pipelines", icon: Workflow, isFor: isAdmin, load: () => import("./Pipelines.svelte") },
      { name: "documents", icon: FileSearch, isFor: isAdmin, load: () => import("./Documents.svelte") },
      { name: "tools", icon: Wrench, isFor: anybody, load: () => import("./Tools.svelte") },
      { name: "people", icon: Users, isFor: isAdmin, load: () => import("./People.svelte") },
      { name: "groups", icon: UsersRound, isFor: isAdmin, load: () => import("./Groups.svelte") },
      { name: "limits", icon: Gauge, isFor: isAdmin, load: () => import("./Limits.svelte") },
      {
        name: "configuration",
        icon: SlidersHorizontal,
        isFor: isAdmin,
        load: () => import("./Configuration.svelte"),
      },
      { name: "jobs", icon: Activity, isFor: isAdmin, load: () => import("./Jobs.svelte") },
      { name: "audit", icon: ScrollText, isFor: isAdmin, load: () => import("./Audit.svelte") },
    ],
  },
] as const;

/** The sections that the current user may open. */
export const openGroups = () =>
  groups.map(({ group, sections }) => ({ group, sections: sections.filter(({ isFor }) => isFor()) }));

/** Shown if the URL names no section the user may open. */
export const first = groups[0].sections[0];
