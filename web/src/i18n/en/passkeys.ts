/** English texts for passkeys. */

export const passkeys = {
  "settings.passkeys": "Passkeys",
  "passkeys.intro":
    "Log in with your fingerprint, face or device PIN instead of a password and code. A passkey can’t be guessed or phished. Your password still works.",
  "passkeys.name": "Name",
  "passkeys.nameHint": "For example: phone, security key",
  "passkeys.make": "Add passkey",
  "passkeys.makeText": "Confirm your password. Your browser then asks where to save the passkey.",
  "passkeys.made": "Passkey added. You can now log in with it.",
  "passkeys.madeAt": "Created on {date} for {host}",
  "passkeys.used": "last used {date}",
  "passkeys.unused": "never used",
  "passkeys.copied": "This passkey may have been cloned and was disabled. Remove it.",
  "passkeys.remove": "Remove passkey",
  "passkeys.removeConfirm":
    "Remove “{name}”? You won’t be able to log in with it. Delete it on the device too, or the device will keep offering it.",
  "passkeys.known": "This device already has your passkey for this server.",
  "passkeys.notMade": "Passkey not added: it was cancelled, timed out or isn’t supported by this device.",
  "passkeys.notHere": "Passkeys need a supported browser and HTTPS with a host name, or localhost.",
  "passkeys.logIn": "Log in with a passkey",
  "passkeys.notUsed": "Passkey not used: it was cancelled, timed out or isn’t on this device.",
  "passkeys.wrong": "This passkey no longer works here. Log in with your password and check your passkeys.",
  "passkeys.has": "passkeys",
  "passkeys.removeShort": "Remove passkeys",
  "passkeys.removeOfConfirm":
    "{name} can then log in with the password and add new passkeys. All sessions of {name} end.",
};
