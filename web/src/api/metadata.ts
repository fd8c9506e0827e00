/** Page metadata, in Open WebUI's format, sent to model servers that an administrator trusts. */

/** ID of this page until it is reloaded; works without TLS, unlike `randomUUID`. */
const session = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

const two = (number: number) => String(number).padStart(2, "0");

/** `metadata` of a message sent now. The server adds the user, the chat, its files and the enabled features. */
export function pageMetadata(now = new Date()) {
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const time = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
  return {
    session_id: session,
    variables: {
      "{{CURRENT_DATETIME}}": `${date} ${time}`,
      "{{CURRENT_DATE}}": date,
      "{{CURRENT_TIME}}": time,
      "{{CURRENT_WEEKDAY}}": now.toLocaleDateString("en", { weekday: "long" }),
      "{{CURRENT_TIMEZONE}}": Intl.DateTimeFormat().resolvedOptions().timeZone,
      "{{USER_LANGUAGE}}": navigator.language,
    },
  };
}
