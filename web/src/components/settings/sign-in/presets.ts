/** Sign-in providers that are known: the pattern of their issuer, their name and scopes. */

export const presets = {
  entra: { name: "Microsoft", issuer: "https://login.microsoftonline.com/TENANT-ID/v2.0" },
  google: { name: "Google", issuer: "https://accounts.google.com" },
  keycloak: { name: "Keycloak", issuer: "https://HOST/realms/REALM" },
  okta: { name: "Okta", issuer: "https://DOMAIN.okta.com", scopes: "openid email profile groups" },
  authentik: { name: "authentik", issuer: "https://HOST/application/o/APPLICATION/" },
} as const;

export type Preset = keyof typeof presets;

export const presetNames: Record<Preset, string> = {
  entra: "Microsoft Entra ID",
  google: "Google",
  keycloak: "Keycloak",
  okta: "Okta",
  authentik: "authentik",
};

export const presetKinds = Object.keys(presets) as Preset[];

/** The provider that an issuer is likely of. */
export function presetOf(issuer: string): Preset | "" {
  const url = URL.parse(issuer);
  if (!url) return "";
  const { hostname, pathname } = url;
  if (hostname === "login.microsoftonline.com") return "entra";
  if (hostname === "accounts.google.com") return "google";
  if (/(^|\.)okta(preview|-emea)?\.com$/.test(hostname)) return "okta";
  if (pathname.includes("/realms/")) return "keycloak";
  return pathname.includes("/application/o/") ? "authentik" : "";
}

/** The first part of an issuer's pattern that nobody has replaced yet; empty if there is none. */
export const placeholderIn = (issuer: string) =>
  /(?<![\w-])(TENANT-ID|HOST|REALM|DOMAIN|APPLICATION)(?![\w-])/.exec(issuer)?.[0] ?? "";
