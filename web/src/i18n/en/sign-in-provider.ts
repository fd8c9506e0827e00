/** English texts for the sign-in provider. */
export const signInProvider = {
  "signInProvider.title": "Sign-in provider",
  "signInProvider.intro":
    "Lets people sign in with an existing account, over OpenID Connect. Passwords keep working.",
  "signInProvider.setUp": "Set up",
  "signInProvider.setUpTitle": "Set up a sign-in provider",
  "signInProvider.editTitle": "Edit the sign-in provider",
  "signInProvider.clientIdOf": "Client ID: {id}",
  "signInProvider.preset": "Provider",
  "signInProvider.other": "Other",
  "signInProvider.hint.entra":
    "Entra ID leaves groups out of the token from 201 on. If people have that many, set the groups URL under Advanced.",
  "signInProvider.hint.google": "Google sends no groups.",
  "signInProvider.hint.keycloak": "Keycloak sends all groups of a person.",
  "signInProvider.hint.okta":
    "Okta fails the sign-in if more than 100 groups match its groups claim: filter them there.",
  "signInProvider.hint.authentik":
    "authentik sends all groups of a person. The slash at the end of the issuer is part of it.",
  "signInProvider.redirect": "Redirect address",
  "signInProvider.redirectHint": "Register it at the provider, for a confidential web client.",
  "signInProvider.issuer": "Issuer",
  "signInProvider.issuerHint": "Exactly as the provider writes it.",
  "signInProvider.placeholder": "Replace {text} with your own.",
  "signInProvider.clientId": "Client ID",
  "signInProvider.clientSecret": "Client secret",
  "signInProvider.secretHint": "Leave it empty for a public client.",
  "signInProvider.secretMoved":
    "The stored secret isn’t sent to another host. Enter the one of this provider.",
  "signInProvider.removeSecret": "Remove the stored client secret",
  "signInProvider.name": "Name on the button",
  "signInProvider.advanced": "Advanced",
  "signInProvider.scopes": "Scopes",
  "signInProvider.scopesHint": "Separated by spaces. Some providers send groups only with the scope groups.",
  "signInProvider.groupsClaim": "Groups claim",
  "signInProvider.groupsClaimHint": "A dot leads into a nested claim: realm_access.roles.",
  "signInProvider.groupsUrl": "Groups URL",
  "signInProvider.groupsUrlHint":
    "Where groups are requested that the token leaves out. Entra ID also needs the scopes User.Read and GroupMember.Read.All for it.",
  "signInProvider.adminGroups": "Administrator groups",
  "signInProvider.adminGroupsHint":
    "One per line. Their members become administrators at each sign-in, and others regular users. Leave empty to choose administrators here.",
  "signInProvider.allowedGroups": "Allowed groups",
  "signInProvider.allowedGroupsHint":
    "One per line. Only members of these and of the administrator groups can sign in. Leave empty for everyone at the provider.",
  "signInProvider.createAccounts": "Create accounts at the first sign-in",
  "signInProvider.createAccountsHint": "Otherwise, administrators add people first.",
  "signInProvider.linkByEmail": "Link existing accounts by email",
  "signInProvider.linkByEmailHint":
    "Only for providers that verify addresses: whoever gets an address there gets the account.",
  "signInProvider.newIssuer":
    "People are recognized by this issuer’s ID for them. At another issuer, they count as new people unless accounts are linked by email.",
  "signInProvider.works": "It works. People sign in at {host}.",
  "signInProvider.turnOff": "Turn off",
  "signInProvider.turnOffTitle": "Turn off the sign-in provider",
  "signInProvider.turnOffStay": "People who are signed in stay signed in until their sessions end.",
  "signInProvider.turnOffWho":
    "After that, people without a password or a passkey can’t sign in. To give someone a password, choose “Reset password” in their actions.",
  "signInProvider.turnOffYou": "You have neither yourself. Make a link for yourself first.",
  "signInProvider.turnedOff": "Sign-in provider turned off",
};
