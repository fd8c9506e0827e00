/** English texts for two-step sign-in. */

export const twoStep = {
  "settings.two-step": "Two-step sign-in",
  "twoStep.intro":
    "After your password, the sign-in asks for a code that an app on your phone shows: Aegis, Google Authenticator, 1Password and others. Whoever has learnt your password does not get in then. API keys work as before.",
  "twoStep.begin": "Set up",
  "twoStep.beginText": "Have your phone at hand with an app for codes. First, your password:",
  "twoStep.next": "Continue",
  "twoStep.scan": "Scan this with the app, then type the code that it shows.",
  "twoStep.qr": "QR code for the app",
  "twoStep.type": "Or type this into the app:",
  "twoStep.code": "Code from the app",
  "twoStep.codeHint": "Six digits",
  "twoStep.wrong": "The code is wrong. Wait for the next one, and check that the phone’s clock is right.",
  "twoStep.turnOn": "Turn on",
  "twoStep.onSince": "On since {date}.",
  "twoStep.left": {
    one: "{count} recovery code is left.",
    other: "{count} recovery codes are left.",
  },
  "twoStep.renew": "New recovery codes",
  "twoStep.renewText": "You get ten new ones. Those you have are no longer good.",
  "twoStep.end": "Turn off two-step sign-in",
  "twoStep.endText":
    "The password alone is enough then. The codes of your app and the recovery codes are no longer good.",
  "twoStep.isOff": "Two-step sign-in is off.",
  "twoStep.noPassword": "You sign in at a provider and have no password here. A second step is set up there.",
  "twoStep.recoveryText":
    "Two-step sign-in is on. Keep these recovery codes where you find them without your phone: each is good once in the place of a code from the app. They are shown only now.",
  "twoStep.copyCodes": "Copy all",
  "twoStep.kept": "I have kept them",
  "twoStep.enter": "One more step",
  "twoStep.recoveryCode": "Recovery code",
  "twoStep.recoveryCodeHint": "Sixteen letters and digits; each is good once",
  "twoStep.submit": "Continue",
  "twoStep.used": "The code is wrong, or has been used already.",
  "twoStep.lost": "Use a recovery code",
  "twoStep.useApp": "Use the app",
  "twoStep.startOver": "Start over",
  "twoStep.has": "two-step sign-in",
  "twoStep.endShort": "Two-step off",
  "twoStep.endOf": "Turn off two-step sign-in of {name}",
  "twoStep.endOfConfirm":
    "{name} can sign in with the password alone then. Make sure that it is really {name} who asks. All sessions of {name} end.",
};
