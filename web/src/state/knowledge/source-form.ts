/** The form of a source: the fields of each kind, and the request that they make. */
import { ApiError } from "../../api/http.ts";
import type {
  SourceOptions,
  SourceOptionsInput,
  SourceSettings,
  SourceSettingsInput,
} from "../../api/schema.ts";
import type { Key } from "../../i18n/index.svelte.ts";

type KindOf<Settings> = Settings extends { kind: infer Kind } ? Kind : never;
/** The kinds of sources. */
export type SourceKind = KindOf<SourceSettings>;
/** The values of a form, by field. Several values of a field are lines. */
export type Values = Record<string, string>;

export interface SourceField {
  name: string;
  label: Key;
  hint?: Key;
  /** An example, which is the same in all languages. */
  example?: string;
  control: "text" | "address" | "number" | "lines" | "switch" | "choice";
  required?: boolean;
  /** Rarely needed, and so collapsed. */
  more?: boolean;
  /** Of a choice and of a switch. */
  initial?: string;
  choices?: [value: string, label: Key][];
  /** Whether the field is needed with these values. */
  when?: (values: Values) => boolean;
  /** Decides about other fields only, and is not sent. */
  isLocal?: boolean;
}

export interface SecretField {
  label: Key;
  hint: Key;
  /** `keyed`: only with an id of the key. */
  required: boolean | "keyed";
  more?: boolean;
  /** Whether it has several lines. */
  isLong?: boolean;
}

const isCloud = ({ edition }: Values) => edition === "cloud";
const isSite = ({ place }: Values) => place === "site";
const isMicrosoft = ({ sign_in }: Values) => sign_in === "microsoft";

const user: SourceField = {
  name: "user",
  label: "source.user",
  hint: "source.userHint",
  control: "text",
};
const apiUrl: SourceField = {
  name: "api_url",
  label: "source.apiUrl",
  hint: "source.usualHint",
  control: "address",
  more: true,
};
const tokenUrl: SourceField = {
  name: "token_url",
  label: "source.tokenUrl",
  hint: "source.usualHint",
  control: "address",
  more: true,
};
const tenant: SourceField = {
  name: "tenant",
  label: "source.tenant",
  hint: "source.tenantHint",
  example: "contoso.onmicrosoft.com",
  control: "text",
  required: true,
};
const clientId: SourceField = {
  name: "client_id",
  label: "source.clientId",
  example: "00000000-0000-0000-0000-000000000000",
  control: "text",
  required: true,
};
const links: SourceField = {
  name: "links_grant",
  label: "source.links",
  hint: "source.linksHint",
  control: "switch",
  initial: "",
  more: true,
};

/** The fields of each kind, in the order in which they are shown. */
export const fieldsOf: Record<SourceKind, SourceField[]> = {
  folder: [
    { name: "path", label: "source.folder", hint: "source.pathHint", control: "text", required: true },
  ],
  s3: [
    { name: "bucket", label: "source.bucket", example: "documents", control: "text", required: true },
    {
      name: "endpoint",
      label: "source.endpoint",
      hint: "source.endpointHint",
      example: "https://minio.example.com",
      control: "address",
    },
    {
      name: "region",
      label: "source.region",
      hint: "source.regionHint",
      example: "eu-central-1",
      control: "text",
    },
    { name: "access_key_id", label: "source.accessKey", hint: "source.accessKeyHint", control: "text" },
    { name: "prefix", label: "source.prefix", example: "handbook/", control: "text", more: true },
  ],
  web_dav: [
    {
      name: "url",
      label: "source.folderUrl",
      hint: "source.folderUrlHint",
      example: "https://cloud.example.com/remote.php/dav/files/USER/Documents",
      control: "address",
      required: true,
    },
    user,
  ],
  git: [
    {
      name: "url",
      label: "source.repository",
      example: "https://git.example.com/team/handbook.git",
      control: "address",
      required: true,
    },
    { name: "folder", label: "source.folder", hint: "source.allHint", example: "docs", control: "text" },
    { name: "branch", label: "source.branch", hint: "source.branchHint", control: "text", more: true },
    { ...user, hint: "source.gitUserHint", more: true },
  ],
  imap: [
    {
      name: "host",
      label: "source.host",
      example: "imap.example.com",
      control: "text",
      required: true,
    },
    { name: "user", label: "source.user", example: "name@example.com", control: "text", required: true },
    {
      name: "sign_in",
      label: "source.signIn",
      control: "choice",
      initial: "password",
      choices: [
        ["password", "source.password"],
        ["google", "source.signInGoogle"],
        ["microsoft", "source.signInMicrosoft"],
      ],
    },
    { ...tenant, when: isMicrosoft },
    { ...clientId, when: isMicrosoft },
    {
      name: "folders",
      label: "source.folders",
      hint: "source.foldersHint",
      example: "INBOX",
      control: "lines",
    },
    { name: "since_days", label: "source.days", hint: "source.daysHint", control: "number", more: true },
    {
      name: "security",
      label: "source.security",
      control: "choice",
      initial: "tls",
      choices: [
        ["tls", "source.tls"],
        ["start_tls", "source.startTls"],
        ["plain", "source.plain"],
      ],
      more: true,
    },
    { name: "port", label: "source.port", hint: "source.usualHint", control: "number", more: true },
    { ...tokenUrl, when: ({ sign_in }) => sign_in !== "password" },
  ],
  feed: [
    {
      name: "url",
      label: "source.feedUrl",
      example: "https://example.org/feed.xml",
      control: "address",
      required: true,
    },
    { ...user, more: true },
  ],
  site: [
    {
      name: "url",
      label: "source.pageUrl",
      hint: "source.pageUrlHint",
      example: "https://docs.example.org/",
      control: "address",
      required: true,
    },
    { name: "depth", label: "source.depth", hint: "source.depthHint", control: "number", initial: "3" },
    { name: "pages", label: "source.pages", hint: "source.pagesHint", control: "number", initial: "500" },
  ],
  confluence: [
    {
      name: "edition",
      label: "source.edition",
      control: "choice",
      initial: "cloud",
      choices: [
        ["cloud", "source.editionCloud"],
        ["data_center", "source.editionDataCenter"],
      ],
    },
    {
      name: "url",
      label: "source.url",
      example: "https://example.atlassian.net/wiki",
      control: "address",
      required: true,
    },
    {
      name: "email",
      label: "source.email",
      example: "name@example.com",
      control: "text",
      required: true,
      when: isCloud,
    },
    { name: "spaces", label: "source.spaces", hint: "source.spacesHint", control: "lines" },
    {
      name: "attachments",
      label: "source.attachments",
      hint: "source.attachmentsHint",
      control: "switch",
      initial: "on",
      more: true,
    },
    {
      name: "space_rights",
      label: "source.spaceRights",
      hint: "source.spaceRightsHint",
      control: "switch",
      initial: "on",
      more: true,
      when: (values) => !isCloud(values),
    },
    {
      name: "everyone_groups",
      label: "source.everyone",
      hint: "source.everyoneHint",
      example: "confluence-users",
      control: "lines",
      more: true,
    },
    apiUrl,
  ],
  notion: [apiUrl],
  google_drive: [
    {
      name: "folder",
      label: "source.driveFolder",
      hint: "source.driveFolderHint",
      example: "https://drive.google.com/drive/folders/…",
      control: "text",
      required: true,
    },
    {
      name: "subject",
      label: "source.subject",
      hint: "source.subjectHint",
      example: "name@example.com",
      control: "text",
      more: true,
    },
    {
      name: "rights",
      label: "source.mirror",
      hint: "source.mirrorHint",
      control: "switch",
      initial: "on",
      more: true,
    },
    { ...links, when: ({ rights }) => rights === "on" },
    apiUrl,
    tokenUrl,
  ],
  share_point: [
    {
      name: "place",
      label: "source.place",
      control: "choice",
      initial: "site",
      choices: [
        ["site", "source.placeSite"],
        ["user", "source.placeUser"],
      ],
      isLocal: true,
    },
    {
      name: "site",
      label: "source.site",
      example: "https://contoso.sharepoint.com/sites/Team",
      control: "address",
      required: true,
      when: isSite,
    },
    {
      name: "user",
      label: "source.oneDrive",
      example: "name@contoso.com",
      control: "text",
      required: true,
      when: (values) => !isSite(values),
    },
    tenant,
    clientId,
    {
      name: "library",
      label: "source.library",
      hint: "source.allHint",
      control: "text",
      more: true,
      when: isSite,
    },
    {
      name: "folder",
      label: "source.folder",
      hint: "source.allHint",
      example: "Projects/2025",
      control: "text",
      more: true,
    },
    {
      name: "pages",
      label: "source.sitePages",
      hint: "source.sitePagesHint",
      control: "switch",
      initial: "on",
      more: true,
      when: isSite,
    },
    {
      name: "subsites",
      label: "source.subsites",
      hint: "source.subsitesHint",
      control: "switch",
      more: true,
      when: isSite,
    },
    links,
    {
      name: "graph_url",
      label: "source.graphUrl",
      hint: "source.usualHint",
      control: "address",
      more: true,
    },
    {
      name: "login_url",
      label: "source.loginUrl",
      hint: "source.usualHint",
      control: "address",
      more: true,
    },
  ],
};

/** The kind of settings. */
export const kindOf = (settings: SourceSettings | SourceSettingsInput): SourceKind =>
  (settings as { kind: SourceKind }).kind;

/** The secret of a kind; `null` if it has none. */
export function secretOf(kind: SourceKind, values: Values): SecretField | null {
  switch (kind) {
    case "folder":
    case "site":
      return null;
    case "s3":
      return { label: "source.s3Secret", hint: "source.s3SecretHint", required: "keyed" };
    case "web_dav":
      return { label: "source.password", hint: "source.davSecretHint", required: false };
    case "git":
      return { label: "source.token", hint: "source.gitSecretHint", required: false };
    case "imap":
      if (values["sign_in"] === "google")
        return { label: "source.driveKey", hint: "source.mailGoogleHint", required: true, isLong: true };
      return isMicrosoft(values)
        ? { label: "source.clientSecret", hint: "source.mailMicrosoftHint", required: true }
        : { label: "source.password", hint: "source.mailSecretHint", required: true };
    case "feed":
      return { label: "source.password", hint: "source.userHint", required: false, more: true };
    case "confluence":
      return isCloud(values)
        ? { label: "source.apiToken", hint: "source.wikiCloudHint", required: true }
        : { label: "source.accessToken", hint: "source.wikiOwnHint", required: true };
    case "notion":
      return { label: "source.notionToken", hint: "source.notionHint", required: true };
    case "google_drive":
      return { label: "source.driveKey", hint: "source.driveKeyHint", required: true, isLong: true };
    case "share_point":
      return { label: "source.clientSecret", hint: "source.clientSecretHint", required: true };
  }
}

/** Whether the rights of the source are in force here. */
export const hasRights = (kind: SourceKind, values: Values): boolean =>
  kind === "confluence" || kind === "share_point" || (kind === "google_drive" && values["rights"] === "on");

export const isShown = (field: SourceField, values: Values) => field.when?.(values) ?? true;

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The last part of the address of a folder or a shared drive of Google Drive. */
const driveId = (text: string) => /\/(?:folders|drives)\/([^/?#]+)/.exec(text)?.[1] ?? text;

function valueOf({ control, name }: SourceField, text: string): unknown {
  switch (control) {
    case "lines":
      return linesOf(text);
    case "switch":
      return text === "on";
    case "number":
      return text.trim() === "" ? undefined : Number(text);
    default:
      // A key rarely begins or ends with a space, but may; what is pasted around an address is never meant.
      return name === "prefix" ? text || undefined : text.trim() || undefined;
  }
}

/** The settings that the values of a form mean; fields that are left empty are not sent. */
export function settingsFrom(kind: SourceKind, values: Values): SourceSettingsInput {
  const settings: Record<string, unknown> = { kind };
  for (const field of fieldsOf[kind]) {
    if (field.isLocal || !isShown(field, values)) continue;
    const value = valueOf(field, values[field.name] ?? "");
    if (value !== undefined) settings[field.name] = value;
  }
  if (kind === "google_drive" && typeof settings["folder"] === "string")
    settings["folder"] = driveId(settings["folder"]);
  return settings as unknown as SourceSettingsInput;
}

export const optionsFrom = (
  kind: SourceKind,
  values: Values,
  include: string,
  exclude: string,
): SourceOptionsInput => ({
  from: settingsFrom(kind, values),
  include: linesOf(include),
  exclude: linesOf(exclude),
});

/** The values of the form for settings, or for a new source of a kind. */
export function valuesFor(kind: SourceKind, options?: SourceOptions | null): Values {
  const known: Record<string, unknown> = {
    ...(options && kindOf(options.from) === kind ? options.from : {}),
  };
  if (options && kind === "share_point") known["place"] = known["user"] ? "user" : "site";
  const values: Values = {};
  for (const { name, control, initial = "" } of fieldsOf[kind]) {
    const value = known[name];
    if (value === undefined || value === null) values[name] = initial;
    else if (Array.isArray(value)) values[name] = value.join("\n");
    else if (control === "switch") values[name] = value === true ? "on" : "";
    else values[name] = String(value as string | number);
  }
  return values;
}

/** The settings that say where a secret is sent, and as whom. */
const placeFields: Record<SourceKind, string[]> = {
  folder: [],
  s3: ["endpoint", "access_key_id"],
  web_dav: ["url", "user"],
  git: ["url", "user"],
  imap: ["host", "user", "sign_in", "tenant", "client_id", "token_url"],
  feed: ["url", "user"],
  site: [],
  confluence: ["url", "api_url", "email"],
  notion: ["api_url"],
  google_drive: ["api_url", "token_url"],
  share_point: ["tenant", "client_id", "graph_url", "login_url"],
};

/** Whether the server keeps the stored secret; otherwise it has to be entered again. */
export function keepsSecret(before: SourceSettings, now: SourceSettingsInput): boolean {
  if (kindOf(before) !== kindOf(now)) return false;
  const place = (settings: SourceSettings | SourceSettingsInput) => {
    const all = settings as Record<string, unknown>;
    const parts = placeFields[kindOf(settings)].map((name) => all[name] ?? "");
    // Over an encrypted connection, how it begins does not matter.
    return JSON.stringify([...parts, all["security"] === "plain"]);
  };
  return place(before) === place(now);
}

/** The field that an error is about; `null` if it is about none of this form. */
export function fieldOfProblem(error: ApiError): string | null {
  const params = error.sentence?.params as Record<string, unknown> | undefined;
  switch (error.sentence?.code) {
    case "source_setting_invalid":
      return typeof params?.["field"] === "string" ? params["field"] : null;
    case "source_refused":
    case "source_secret_unreadable":
      return "secret";
    case "too_many_path_patterns":
      return "include";
    default:
      return error.field;
  }
}

/** A name for a new source that is still free. */
export function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted} ${number}`;
  return name;
}
