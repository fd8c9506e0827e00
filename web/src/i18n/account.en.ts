/** English texts for the pages before sign-in. */
export const account = {
  "setup.title": "Welcome to Glasshouse",
  "setup.intro":
    "An agent server with glass walls: you see every step while it happens. First, create the administrator's account.",
  "setup.submit": "Create account",
  "login.title": "Log in",
  "login.submit": "Log in",
  "login.or": "or",
  "login.with": "Continue with {name}",
  "login.problem.unknown": "This sign-in was begun in another browser or took too long. Try again.",
  "login.problem.denied": "{name} says that you did not allow it. Try again.",
  "login.problem.refused":
    "{name} did not confirm who you are. Try again; if it stays so, ask an administrator.",
  "login.problem.unreachable": "{name} cannot be reached. Try again later.",
  "login.problem.notAllowed":
    "You are in none of the groups of {name} that may come in here. Ask an administrator.",
  "login.problem.groupsUnknown":
    "{name} did not say which groups you are in, and only some may come in here. Ask an administrator.",
  "login.groupsKept":
    "{name} did not send your groups this time, so your groups and your role here stay as they were.",
  "login.problem.noAccount": "You have no account here yet. Ask an administrator for one.",
  "login.problem.addressTaken":
    "There is an account with your email address already. Log in to it with its password.",
  "login.problem.noAddress":
    "{name} does not tell your email address, which is needed here. Ask an administrator.",
  "login.problem.suspended": "This account is suspended. Ask an administrator.",
  "login.problem.codeNeeded":
    "The proxy knows you, but this account asks for a code too. Log in with the password.",
  "proxy.name": "The proxy in front",
  "proxy.signsOut": "The proxy in front of this server signs you in. Sign out there.",
  "proxy.sessions":
    "The proxy in front of this server signs you in, so this browser needs no session. Sign out there.",
  "login.problem.notSetUp": "Nobody has set this server up yet. Its administrator makes the first account.",
  "close.open": "Delete account…",
  "close.title": "Delete my account",
  "close.text":
    "Your account goes at once and for good, with all your chats, files, memory, schedules and keys. What you have used stays in the server’s figures without your name. Your password confirms it; where you have none, ask an administrator.",
  "close.wrong": "The password is wrong.",
  "settings.profile": "Profile",
  "profile.role": "Role",
  "profile.save": "Save",
  "profile.saved": "The name was changed.",
  "profile.others": "An administrator can change the address and what you may do.",
};
