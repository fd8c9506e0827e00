/** English texts for passkeys. */

export const passkeys = {
  "settings.passkeys": "Passkeys",
  "passkeys.intro":
    "A passkey signs you in with your finger, your face or the PIN of a device, without the password and without a code. It cannot be guessed, and no other site can ask for it. The password goes on working.",
  "passkeys.name": "What to call it",
  "passkeys.nameHint": "Such as: phone, security key",
  "passkeys.make": "Add a passkey",
  "passkeys.makeText": "First, your password. Then your browser asks where to keep the passkey.",
  "passkeys.made": "The passkey is there. You can sign in with it.",
  "passkeys.madeAt": "Made on {date} for {host}",
  "passkeys.used": "last used {date}",
  "passkeys.unused": "never used",
  "passkeys.copied": "There seem to be two of this passkey, so it is good for nothing. Remove it.",
  "passkeys.remove": "Remove passkey",
  "passkeys.removeConfirm":
    "“{name}” no longer signs you in here. Remove it on the device as well, which goes on offering it.",
  "passkeys.known": "This device has a passkey of yours for this server already.",
  "passkeys.notMade": "No passkey was made: you cancelled, it took too long, or the device cannot.",
  "passkeys.notHere":
    "Passkeys need a browser that knows them, and an address with a name: https, or localhost on your own machine.",
  "passkeys.logIn": "Log in with a passkey",
  "passkeys.notUsed":
    "No passkey was used: you cancelled, it took too long, or there is none on this device.",
  "passkeys.wrong":
    "This passkey is not good here any more. Log in with the password, and look at your passkeys.",
  "passkeys.has": "passkeys",
  "passkeys.removeShort": "Passkeys off",
  "passkeys.removeOf": "Remove all passkeys of {name}",
  "passkeys.removeOfConfirm":
    "{name} signs in with the password then, and can make new passkeys. All sessions of {name} end.",
};
