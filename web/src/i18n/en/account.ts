/** English texts for the pages before sign-in. */
export const account = {
  "setup.title": "Welcome to Glasshouse",
  "setup.intro":
    "An agent server with glass walls: you see every step as it happens. First, create the administrator’s account.",
  "setup.submit": "Create account",
  "login.title": "Log in",
  "login.submit": "Log in",
  "login.forgotten": "Forgot your password?",
  "login.forgottenHelp": "Ask an administrator of this server for a reset link.",
  "login.resetHelp": "The link to choose a new password goes to the email address above.",
  "login.sendReset": "Email me a link",
  "login.resetSent":
    "If {email} has an account with a password, a link is on its way. Check your spam folder too.",
  "login.or": "or",
  "login.with": "Continue with {name}",
  "login.problem.unknown": "This sign-in started in another browser or took too long. Try again.",
  "login.problem.denied": "{name} says you denied access. Try again.",
  "login.problem.refused":
    "{name} couldn’t confirm your identity. Try again; if it keeps failing, ask an administrator.",
  "login.problem.unreachable": "Can’t reach {name}. Try again later.",
  "login.problem.notAllowed": "None of your groups at {name} has access here. Ask an administrator.",
  "login.problem.groupsUnknown":
    "{name} didn’t send your groups, and only some groups have access here. Ask an administrator.",
  "login.groupsKept": "{name} didn’t send your groups this time, so your groups and role here are unchanged.",
  "login.problem.noAccount": "You don’t have an account here yet. Ask an administrator for one.",
  "login.problem.addressTaken":
    "An account with your email address already exists. Log in with its password.",
  "login.problem.noAddress":
    "{name} didn’t share your email address, which is required here. Ask an administrator.",
  "login.problem.suspended": "This account is suspended. Ask an administrator.",
  "login.problem.codeNeeded":
    "The proxy signed you in, but this account also needs a code. Log in with your password.",
  "proxy.name": "The proxy in front",
  "proxy.signsOut": "You’re signed in by the proxy in front of this server. Sign out there.",
  "proxy.sessions":
    "You’re signed in by the proxy in front of this server, so this browser needs no session. Sign out there.",
  "login.problem.notSetUp": "This server isn’t set up yet. Its administrator creates the first account.",
  "close.open": "Delete account…",
  "close.title": "Delete my account",
  "close.text":
    "Your account is deleted immediately and permanently, with all your chats, files, memories, schedules and keys. Usage totals stay on the server without your name. Confirm with your password; if you don’t have one, ask an administrator.",
  "close.wrong": "Wrong password.",
  "settings.profile": "Profile",
  "profile.role": "Role",
  "profile.save": "Save",
  "profile.saved": "Name changed.",
  "profile.others": "Only an administrator can change your email address and role.",
};
