/** English words of how people get in. */

export const doors = {
  "settings.sessions": "Sessions",
  "sessions.intro": {
    one: "Where you are signed in. A session ends {count} hour after it began.",
    other: "Where you are signed in. A session ends {count} hours after it began.",
  },
  "sessions.on": "{browser} on {system}",
  "sessions.unknown": "Unknown browser",
  "sessions.this": "this one",
  "sessions.began": "began {date}",
  "sessions.from": "from {address}",
  "sessions.used": "used last {date}",
  "sessions.end": "Log out",
  "sessions.endOf": "Log out: {device}",
  "sessions.endOthers": "Log out everywhere else",
  "sessions.endOthersConfirm":
    "All your other sessions end at once, and what they have open. Keys stay as they are.",
  "sessions.endAll": "Log out everywhere",
  "sessions.endAllConfirm": "All your sessions end at once, this one too. Keys stay as they are.",
  "sessions.ended": "The other sessions have ended.",
};
