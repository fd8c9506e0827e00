/** The form of a source makes the request of its kind, and shows errors at their fields. */
import { expect, test } from "vitest";
import { ApiError } from "../../api/http.ts";
import type { MessageCode } from "../../api/events.ts";
import type { SourceSettings, SourceSettingsInput } from "../../api/schema.ts";
import {
  fieldOfProblem,
  fieldsOf,
  freeName,
  hasRights,
  keepsSecret,
  kindOf,
  optionsFrom,
  secretOf,
  settingsFrom,
  valuesFor,
  type SourceKind,
  type Values,
} from "./source-form.ts";

const filled = (kind: SourceKind, values: Values) => settingsFrom(kind, { ...valuesFor(kind), ...values });

test.each([
  ["folder", { path: " /srv/handbook " }, { path: "/srv/handbook" }],
  [
    "s3",
    { bucket: "docs", region: "auto", prefix: "a b/ " },
    { bucket: "docs", region: "auto", prefix: "a b/ " },
  ],
  ["web_dav", { url: "https://cloud.example.com/dav" }, { url: "https://cloud.example.com/dav" }],
  [
    "git",
    { url: "https://git.example.com/a.git", folder: "docs" },
    { url: "https://git.example.com/a.git", folder: "docs" },
  ],
  [
    "imap",
    { host: "imap.example.com", user: "ada", folders: "INBOX\n\n Sent, 2026 \n", since_days: "30" },
    {
      host: "imap.example.com",
      user: "ada",
      folders: ["INBOX", "Sent, 2026"],
      since_days: 30,
      security: "tls",
      sign_in: "password",
    },
  ],
  ["feed", { url: "https://example.org/feed.xml" }, { url: "https://example.org/feed.xml" }],
  [
    "confluence",
    { url: "https://a.atlassian.net/wiki", email: "ada@example.org", spaces: "DEV\nOPS" },
    {
      edition: "cloud",
      url: "https://a.atlassian.net/wiki",
      email: "ada@example.org",
      spaces: ["DEV", "OPS"],
      attachments: true,
      everyone_groups: [],
    },
  ],
  [
    // Data Center knows no email address, even if one was typed before.
    "confluence",
    { edition: "data_center", url: "https://wiki.example.com", email: "ada@example.org", space_rights: "" },
    {
      edition: "data_center",
      url: "https://wiki.example.com",
      spaces: [],
      attachments: true,
      space_rights: false,
      everyone_groups: [],
    },
  ],
  ["notion", {}, {}],
  [
    "google_drive",
    { folder: "https://drive.google.com/drive/u/0/folders/1AbC_d-E?usp=sharing" },
    { folder: "1AbC_d-E", rights: true, links_grant: false },
  ],
  ["google_drive", { folder: "0AbC", rights: "" }, { folder: "0AbC", rights: false }],
  [
    "share_point",
    {
      tenant: "contoso.com",
      client_id: "7",
      site: "https://contoso.sharepoint.com/sites/Team",
      user: "left",
    },
    {
      tenant: "contoso.com",
      client_id: "7",
      site: "https://contoso.sharepoint.com/sites/Team",
      pages: true,
      subsites: false,
      links_grant: false,
    },
  ],
  [
    "share_point",
    { place: "user", tenant: "contoso.com", client_id: "7", user: "ada@contoso.com", library: "left" },
    { tenant: "contoso.com", client_id: "7", user: "ada@contoso.com", links_grant: false },
  ],
] as [SourceKind, Values, object][])("%s with %j is sent as %j", (kind, values, settings) => {
  expect(filled(kind, values)).toEqual({ kind, ...settings });
});

test("patterns are lines", () => {
  const options = optionsFrom("notion", {}, "docs/**\n *.md \n", "");
  expect(options).toEqual({ from: { kind: "notion" }, include: ["docs/**", "*.md"], exclude: [] });
});

const stored: SourceSettings[] = [
  { kind: "s3", endpoint: null, region: "eu-central-1", bucket: "docs", prefix: "", access_key_id: "AK" },
  { kind: "git", url: "https://git.example.com/a.git", branch: "main", folder: "", user: "" },
  {
    kind: "confluence",
    url: "https://wiki.example.com",
    edition: "data_center",
    spaces: ["DEV"],
    attachments: false,
    space_rights: true,
  },
  { kind: "google_drive", folder: "0AbC", rights: false, links_grant: false },
  {
    kind: "share_point",
    tenant: "contoso.com",
    client_id: "7",
    site: "https://contoso.sharepoint.com/sites/Team",
    pages: false,
    subsites: true,
    links_grant: true,
  },
  {
    kind: "imap",
    host: "outlook.office365.com",
    port: null,
    security: "tls",
    user: "ada@contoso.com",
    sign_in: "microsoft",
    tenant: "contoso.com",
    client_id: "7",
    folders: [],
    since_days: null,
  },
];

test.each(stored)("an edit without changes keeps the settings and the secret: $kind", (from) => {
  const kind = kindOf(from);
  const values = valuesFor(kind, { from, include: [], exclude: [] });
  const now = settingsFrom(kind, values);
  const sent = Object.entries(from).filter(([, value]) => value !== null && value !== "");
  expect(now).toMatchObject(
    Object.fromEntries(sent.filter(([name]) => kind !== "google_drive" || name !== "links_grant")),
  );
  expect(keepsSecret(from, now)).toBe(true);
});

test.each([
  ["another bucket of the same store", { bucket: "other" }, true],
  ["another region", { region: "us-east-1" }, true],
  ["another store", { endpoint: "https://minio.example.com" }, false],
  ["another key", { access_key_id: "other" }, false],
] as [string, Partial<SourceSettingsInput>, boolean][])("%s: is the secret kept?", (_, change, isKept) => {
  const [s3] = stored as [SourceSettings];
  expect(keepsSecret(s3, { ...s3, ...change } as SourceSettingsInput)).toBe(isKept);
});

test("a mailbox that is no longer encrypted needs its password again", () => {
  const mail = { kind: "imap", host: "a.example", user: "ada", security: "tls" };
  const before = mail as unknown as SourceSettings;
  const now = (security: string) => ({ ...mail, security }) as unknown as SourceSettingsInput;
  expect(keepsSecret(before, now("start_tls"))).toBe(true);
  expect(keepsSecret(before, now("plain"))).toBe(false);
});

test("rights are mirrored by Confluence, SharePoint, and Google Drive unless it is turned off", () => {
  const kinds = Object.keys(fieldsOf) as SourceKind[];
  expect(kinds.filter((kind) => hasRights(kind, valuesFor(kind)))).toEqual([
    "confluence",
    "google_drive",
    "share_point",
  ]);
  expect(hasRights("google_drive", { rights: "" })).toBe(false);
});

test("what the secret is depends on the edition", () => {
  expect(secretOf("confluence", { edition: "cloud" })?.label).toBe("source.apiToken");
  expect(secretOf("confluence", { edition: "data_center" })?.label).toBe("source.accessToken");
  expect(secretOf("imap", { sign_in: "password" })?.label).toBe("source.password");
  expect(secretOf("imap", { sign_in: "google" })).toMatchObject({ label: "source.driveKey", isLong: true });
  expect(secretOf("imap", { sign_in: "microsoft" })?.label).toBe("source.clientSecret");
  expect(secretOf("folder", {})).toBeNull();
});

test.each([
  [{ code: "source_setting_invalid", params: { field: "url", reason: "no" } }, null, "url"],
  [{ code: "source_refused" }, null, "secret"],
  [{ code: "source_name_taken" }, "name", "name"],
  [{ code: "bad_path_pattern", params: { pattern: "[" } }, "exclude", "exclude"],
  [{ code: "too_many_path_patterns", params: { count: 100 } }, null, "include"],
  [{ code: "too_many_sources", params: { count: 50 } }, null, null],
] as [MessageCode, string | null, string | null][])(
  "%j with the field %s is shown at %s",
  (sentence, field, shown) => {
    const error = new ApiError(400, "invalid_request", "", field, null, sentence);
    expect(fieldOfProblem(error)).toBe(shown);
  },
);

test("a name that is taken gets a number", () => {
  expect(freeName("Notion", [])).toBe("Notion");
  expect(freeName("Notion", ["Notion", "Notion 2", "Git"])).toBe("Notion 3");
});
