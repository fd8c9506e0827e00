/** English texts for two-step sign-in. */

export const twoStep = {
  "settings.two-step": "Two-step sign-in",
  "twoStep.intro":
    "After your password, you enter a code from an authenticator app such as Aegis, Google Authenticator or 1Password. Someone who learns your password still can’t log in. API keys work as before.",
  "twoStep.begin": "Set up",
  "twoStep.beginText": "You need a phone with an authenticator app. First, confirm your password:",
  "twoStep.next": "Continue",
  "twoStep.scan": "Scan this with the app, then enter the code it shows.",
  "twoStep.qr": "QR code for the app",
  "twoStep.type": "Or enter this in the app:",
  "twoStep.code": "Code from the app",
  "twoStep.codeHint": "Six digits",
  "twoStep.wrong": "Wrong code. Wait for the next one and check that your phone’s clock is correct.",
  "twoStep.turnOn": "Turn on",
  "twoStep.onSince": "On since {date}.",
  "twoStep.left": {
    one: "{count} recovery code is left.",
    other: "{count} recovery codes are left.",
  },
  "twoStep.renew": "New recovery codes",
  "twoStep.renewText": "You get ten new codes. The old ones stop working.",
  "twoStep.end": "Turn off two-step sign-in",
  "twoStep.endText": "You’ll log in with your password alone. App codes and recovery codes stop working.",
  "twoStep.isOff": "Two-step sign-in is off.",
  "twoStep.noPassword": "You sign in with a provider and have no password here. Set up a second step there.",
  "twoStep.recoveryText":
    "Two-step sign-in is on. Keep these recovery codes somewhere you can reach without your phone: each replaces an app code once. They’re shown only now.",
  "twoStep.copyCodes": "Copy all",
  "twoStep.kept": "I’ve saved them",
  "twoStep.enter": "One more step",
  "twoStep.recoveryCode": "Recovery code",
  "twoStep.recoveryCodeHint": "Sixteen letters and digits; each works once",
  "twoStep.submit": "Continue",
  "twoStep.used": "The code is wrong or was already used.",
  "twoStep.lost": "Use a recovery code",
  "twoStep.useApp": "Use the app",
  "twoStep.startOver": "Start over",
  "twoStep.has": "two-step sign-in",
  "twoStep.endOfConfirm":
    "{name} can then log in with the password alone. Make sure it’s really {name} who asks. All sessions of {name} end.",
};
