/** English texts for sign-in settings. */

export const signIn = {
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
  "sessions.endConfirm": "Log out {device}? What is open there closes at once.",
  "sessions.endOthers": "Log out everywhere else",
  "sessions.endOthersConfirm":
    "All your other sessions end at once, and what they have open. Keys stay as they are.",
  "sessions.endAll": "Log out everywhere",
  "sessions.endAllConfirm": "All your sessions end at once, this one too. Keys stay as they are.",
  "sessions.ended": "The other sessions have ended.",

  "reset.title": "Choose a new password",
  "reset.over": "This link has been used or has expired. Ask an administrator for a new one.",
  "reset.done": "The password was changed. Log in with it.",
  "reset.make": "New password",
  "reset.makeOf": "New password for {name}",
  "reset.made": "With this link {name} chooses a new password, once, until {date}. It is shown only now.",

  "signUp.title": "Create an account",
  "signUp.submit": "Create account",
  "signUp.closed": "You need an invitation to create an account here. Ask an administrator for one.",
  "signUp.over":
    "This invitation has been used, has expired, was revoked or is for another address. Ask for a new one.",
  "signUp.taken":
    "You cannot log in with this password. If you have an account already, log in with the password it has.",
  "signUp.toLogin": "Log in instead",
  "signUp.link": "Create an account",
  "signUp.who": "Who may make an account",
  "signUp.closedMode": "Nobody",
  "signUp.closedText": "Administrators make accounts. Invitations rest.",
  "signUp.invitationMode": "Who is invited",
  "signUp.invitationText": "With a link that you send.",
  "signUp.openMode": "Everybody",
  "signUp.openText": "Whoever can reach this server. Each account costs what its runs cost: set limits.",

  "invitations.title": "Invitations",
  "invitations.email": "For this address only",
  "invitations.emailHint": "Empty: for whoever has the link",
  "invitations.most": "Accounts",
  "invitations.days": "Good for days",
  "invitations.create": "Create the link",
  "invitations.made": "Send this link. It is shown only now.",
  "invitations.anybody": "Whoever has the link",
  "invitations.used": "used",
  "invitations.uses": "{uses} of {most} used",
  "invitations.until": "until {date}",
  "invitations.over": "too old since {date}",
  "invitations.takeBack": "Take back",
  "invitations.takeBackConfirm":
    "Take back the invitation “{who}”? Its link stops working at once. Accounts made with it stay.",

  "signIns.title": "Your sign-ins",
  "signIns.intro":
    "Agents that work for you use these servers as you, once you have signed in. Others do not see what you see there.",
  "signIns.kind.oauth": "you sign in there",
  "signIns.kind.user_token": "you enter a token of yours",
  "signIns.state.signed_out": "not signed in",
  "signIns.state.lapsed": "your sign-in has ended",
  "signIns.signIn": "Sign in to {name}",
  "signIns.signOut": "Sign out of {name}",
  "signIns.signOutConfirm":
    "Your sign-in is forgotten here. Agents cannot use {name} for you until you sign in again.",
  "signIns.token": "Your token for {name}",
  "signIns.save": "Save",
  "signIns.ended.done": "You are signed in.",
  "signIns.ended.unknown":
    "This sign-in was used before, has taken too long, or was begun elsewhere. Begin again.",
  "signIns.ended.denied": "You were not let in: the server says that access was denied.",
  "signIns.ended.wrong_issuer":
    "You came back from another address than you were sent to, so the sign-in was refused. Tell an administrator.",
  "signIns.ended.refused": "The server did not accept the sign-in. Begin again.",
  "signIns.ended.unreachable": "The server could not be reached. Try again later.",
  "signIns.ended.signed_out":
    "You have to be signed in to Glasshouse in the browser you come back with. Begin again.",
};
