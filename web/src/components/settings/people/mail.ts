/** An invitation as an email that the administrator's own mail program sends. */
import type { Invitation } from "../../../api/types.ts";
import { formatDate } from "../../../i18n/format.ts";
import { t } from "../../../i18n/index.svelte.ts";

/** A `mailto:` address with the subject and the text. */
export function mailOf({ email, expires_at }: Invitation, link: string): string {
  const subject = t("invitations.mailSubject");
  const body = t("invitations.mailText", { link, date: formatDate(expires_at) });
  const query = Object.entries({ subject, body: withoutMarks(body) })
    .map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
    .join("&");
  return `mailto:${encodeURIComponent(email ?? "")}?${query}`;
}

/** Marks of text direction around values would become part of the link. */
const withoutMarks = (text: string) => text.replace(/[\u2066-\u2069]/g, "");
