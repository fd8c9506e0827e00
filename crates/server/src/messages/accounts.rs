//! Messages: accounts, signing in, groups and keys.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Accounts, signing in, groups and keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Accounts {
    // Signing in.
    #[error("The email or the password is wrong.")]
    WrongLogin,
    #[error("This account is suspended. Ask an administrator.")]
    AccountSuspended,
    #[error("This server has its administrator already. Sign in.")]
    AlreadySetUp,
    #[error(
        "Open the set-up link that the server printed when it started: others can reach this server too, so the first \
         account needs its token."
    )]
    SetUpLinkNeeded,
    #[error("No provider signs people in here.")]
    NoProvider,
    #[error("There is no such session, or it has ended.")]
    NoSuchSession,
    #[error("This sign-in took too long or was begun elsewhere. Begin again.")]
    SignInTooLong,

    // Passwords.
    #[error("A password has {least} to {most} characters. Choose another.")]
    BadPassword { least: u64, most: u64 },
    #[error("The current password is wrong.")]
    WrongPassword,
    #[error("The password was changed elsewhere just now.")]
    PasswordChanged,
    #[error("Sign in with a browser to change the password.")]
    PasswordByBrowser,
    #[error("This link has been used or is too old. Ask an administrator for another.")]
    ResetLinkOver,

    // The second factor.
    #[error("The code is wrong, or has been used already. Wait for the next one.")]
    WrongCode,
    #[error(
        "The code is wrong. Wait for the next one, and look whether the phone's clock is right."
    )]
    WrongFirstCode,
    #[error("A code is asked for already. Turn that off first.")]
    CodeAskedAlready,
    #[error("No code is asked for.")]
    NoCodeAsked,
    #[error("There is nothing to confirm. Begin again.")]
    NothingToConfirm,
    #[error(
        "The server has lost the key to your app's secret. Use a recovery code, or ask an administrator to turn the second \
         step off."
    )]
    SecondStepKeyLost,
    #[error("Sign in with a browser to change what the sign-in asks for.")]
    SecondStepByBrowser,
    #[error("The proxy in front signs you in, and asks for what it wants.")]
    ProxySignsIn,

    // Passkeys.
    #[error(
        "Passkeys belong to a name and want TLS: open this server at localhost, or have an administrator set public_url to \
         its https address."
    )]
    NoPasskeysHere,
    #[error("Sign in with a browser to make a passkey.")]
    PasskeyByBrowser,
    #[error("You have no password here to show that it is you. Log out and in again first.")]
    SignInAfresh,
    #[error("This took too long or was begun elsewhere. Begin again.")]
    PasskeyTooLong,
    #[error("What the browser has made is no passkey that can be used here.")]
    BadPasskey,
    #[error("Twenty passkeys are the most. Remove one that you do not use.")]
    TooManyPasskeys,
    #[error("This passkey is known already.")]
    PasskeyKnown,
    #[error("There is no such passkey.")]
    NoSuchPasskey,
    #[error("There is no such account, or it has no passkeys.")]
    NoPasskeysOfAccount,
    #[error("This passkey is not known here, or was not used rightly. Sign in with the password.")]
    WrongPasskey,
    #[error(
        "There seem to be two of this passkey, so it is good for nothing any more. Sign in otherwise, and remove it in the \
         settings."
    )]
    PasskeyCopied,

    // Accounts.
    #[error("This is not an email address. Use one like ada@example.org.")]
    BadEmail,
    #[error("The name is empty. Type the name that others should see.")]
    EmptyName,
    #[error("A name has at most {limit} characters, on one line.")]
    LongName { limit: u64 },
    #[error("There is no such account.")]
    NoSuchAccount,
    #[error("There is no account with this e-mail address or id.")]
    NoAccountBy,
    #[error("Nobody has an account with this email address here.")]
    NobodyWithEmail,
    #[error("Nobody has an account with the address “{address}” here.")]
    NobodyWithAddress { address: String },
    #[error("Somebody has an account with this address.")]
    EmailTaken,
    #[error(
        "Nobody would be left who can sign in as an administrator. Make somebody else one first."
    )]
    LastAdministrator,
    #[error("This is your own account. Another administrator can suspend it.")]
    SuspendYourself,
    #[error("This is your own account. Turn it off in your settings, with your password.")]
    OwnSecondStep,
    #[error("There is no such account, or it is asked for its password only.")]
    NoSecondStep,
    #[error("Sign in with a browser to delete the account.")]
    DeleteByBrowser,
    #[error("Only a suspended account can be deleted. Suspend it first.")]
    NotSuspended,
    #[error(
        "Administrators do not read other people's chats here. `moderation` in the configuration changes that."
    )]
    NoModeration,

    // Invitations.
    #[error("Nobody can make an account here without an invitation. Ask an administrator for one.")]
    InvitationNeeded,
    #[error(
        "This invitation has been used, is too old, was taken back or is for another address. Ask for another."
    )]
    InvitationOver,
    #[error("An invitation for one address can be used once. Leave out the address, or the uses.")]
    InvitationForOne,
    #[error("There is no such invitation.")]
    NoSuchInvitation,

    // Groups and permissions.
    #[error("There is no such group. It may have been deleted.")]
    GroupGone,
    #[error("There is no such group.")]
    NoSuchGroup,
    #[error("Another group has this name.")]
    GroupNameTaken,
    #[error("There are {count} groups, which is the most. Delete one first.")]
    TooManyGroups { count: u64 },
    #[error("One of these people has no account here (any more).")]
    MemberGone,
    #[error("This person is not in the group.")]
    NotInGroup,
    #[error("A description has at most {limit} characters.")]
    LongDescription { limit: u64 },
    #[error("A name at the provider has at most {limit} bytes, on one line.")]
    LongProviderName { limit: u64 },
    #[error("`users` has 1 to {limit} e-mail addresses or ids of accounts.")]
    BadMembers { limit: u64 },
    #[error("There is no such right. There are: {names}.")]
    NoSuchRight { names: String },
    #[error("`groups` has at most {limit}.")]
    TooManyGroupsOfRule { limit: u64 },
    #[error("One of these groups is not there (any more).")]
    GroupOfRuleGone,
    #[error("There are {count} rules, which is the most.")]
    TooManyRules { count: u64 },
    #[error("You may not use API keys here. An administrator decides who may.")]
    NoRightToKeys,
    #[error("You may not share chats and documents here. An administrator decides who may.")]
    NoRightToShare,
    #[error("You may not use schedules here. An administrator decides who may.")]
    NoRightToSchedules,
    #[error("Your agents may not run programs here. An administrator decides who may.")]
    NoRightToPrograms,

    // Keys and limits.
    #[error("A key needs a name of 1 to 100 characters, to know it by later.")]
    BadKeyName,
    #[error("A key with no scope is good for nothing. Leave `scopes` out for all.")]
    NoScopes,
    #[error("Only an administrator's key can have the scope “admin”.")]
    NoAdminScope,
    #[error("Only an administrator may trust a front end to speak for people.")]
    NoFrontEndKey,
    #[error("`models` names 1 to 200 models or agents, as GET /v1/models lists them.")]
    BadKeyModels,
    #[error("A key for some models only can have the scopes “chat” and “read”, and no others.")]
    ScopesOfModelKey,
    #[error("`expires_at` is over already. It is in milliseconds since 1970.")]
    ExpiredAlready,
    #[error("`signing_key` is for trusted front ends, and has 16 to 500 bytes.")]
    BadSigningKey,
    #[error(
        "A limit is 0 to 1,000,000,000,000 requests or tokens, or 0 to 1,000,000,000 US dollars."
    )]
    BadLimit,
    #[error("Only an administrator sees what others use.")]
    OnlyOwnUsage,
}

impl CodedMessage for Accounts {}
