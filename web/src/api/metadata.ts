/** What model servers that an administrator trusts are told of the page a message comes from, in Open WebUI's form. */

/** This page until it is loaded again; known in pages without TLS too, unlike `randomUUID`. */
const session = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

const two = (number: number) => String(number).padStart(2, "0");

/** `metadata` of a message that is sent now. The server adds who sends it, the chat, its files and what is switched on. */
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
