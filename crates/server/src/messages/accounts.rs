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
    #[error("Wrong email or password.")]
    WrongLogin,
    #[error("This account is suspended. Ask an administrator.")]
    AccountSuspended,
    #[error("This server already has an administrator. Sign in.")]
    AlreadySetUp,
    #[error(
        "Open the set-up link that the server printed when it started. Others can reach this server too, so creating \
         the first account needs the token in that link."
    )]
    SetUpLinkNeeded,
    #[error("Single sign-on is not set up on this server.")]
    NoProvider,
    #[error("Session not found, or it has already ended.")]
    NoSuchSession,
    #[error("This sign-in took too long or was started elsewhere. Start again.")]
    SignInTooLong,

    // Passwords.
    #[error("A password must have {least} to {most} characters. Choose another one.")]
    BadPassword { least: u64, most: u64 },
    #[error("The current password is wrong.")]
    WrongPassword,
    #[error("The password was just changed elsewhere.")]
    PasswordChanged,
    #[error("Sign in with a browser to change the password.")]
    PasswordByBrowser,
    #[error("This link has been used or has expired. Ask an administrator for a new one.")]
    ResetLinkOver,
    #[error("This server doesn’t send reset links by email. Ask an administrator for one.")]
    NoResetByMail,

    // The second factor.
    #[error("The code is wrong, or has been used already. Wait for the next one.")]
    WrongCode,
    #[error("The code is wrong. Wait for the next one, and check that the phone's clock is right.")]
    WrongFirstCode,
    #[error("Two-step sign-in is already on. Turn it off first.")]
    CodeAskedAlready,
    #[error("Two-step sign-in is off.")]
    NoCodeAsked,
    #[error("There is nothing to confirm. Start again.")]
    NothingToConfirm,
    #[error(
        "The server has lost the key to your authenticator app's secret. Use a recovery code, or ask an administrator \
         to turn off two-step sign-in."
    )]
    SecondStepKeyLost,
    #[error("Sign in with a browser to change two-step sign-in.")]
    SecondStepByBrowser,
    #[error("The proxy in front of this server signs you in and decides what to ask for.")]
    ProxySignsIn,

    // Passkeys.
    #[error(
        "Passkeys need a host name and TLS. Open this server as localhost, or ask an administrator to set public_url \
         to its https address."
    )]
    NoPasskeysHere,
    #[error("Sign in with a browser to create a passkey.")]
    PasskeyByBrowser,
    #[error("You have no password here to confirm that it is you. Log out and in again first.")]
    SignInAfresh,
    #[error("This took too long or was started elsewhere. Start again.")]
    PasskeyTooLong,
    #[error("The browser did not create a passkey that can be used here.")]
    BadPasskey,
    #[error("You can have at most twenty passkeys. Remove one that you do not use.")]
    TooManyPasskeys,
    #[error("This passkey is already registered.")]
    PasskeyKnown,
    #[error("Passkey not found.")]
    NoSuchPasskey,
    #[error("Account not found, or it has no passkeys.")]
    NoPasskeysOfAccount,
    #[error(
        "This passkey is not registered here, or it could not be verified. Sign in with the password."
    )]
    WrongPasskey,
    #[error(
        "There seem to be two copies of this passkey, so it no longer works. Sign in another way and remove it in the \
         settings."
    )]
    PasskeyCopied,

    // Accounts.
    #[error("This is not an email address. Use one like ada@example.org.")]
    BadEmail,
    #[error("The name is empty. Type the name that others should see.")]
    EmptyName,
    #[error("A name can have at most {limit} characters, on one line.")]
    LongName { limit: u64 },
    #[error("Account not found.")]
    NoSuchAccount,
    #[error("No account has this e-mail address or id.")]
    NoAccountBy,
    #[error("No account has this email address.")]
    NobodyWithEmail,
    #[error("No account has the email address “{address}”.")]
    NobodyWithAddress { address: String },
    #[error("An account with this email address already exists.")]
    EmailTaken,
    #[error(
        "This is the last administrator who can sign in. Make another account an administrator first."
    )]
    LastAdministrator,
    #[error("You cannot suspend your own account. Another administrator can.")]
    SuspendYourself,
    #[error(
        "This is your own account. Turn off two-step sign-in in your settings, with your password."
    )]
    OwnSecondStep,
    #[error("Account not found, or its two-step sign-in is off.")]
    NoSecondStep,
    #[error("Sign in with a browser to delete the account.")]
    DeleteByBrowser,
    #[error("Only a suspended account can be deleted. Suspend it first.")]
    NotSuspended,
    #[error(
        "Administrators cannot read other people's chats on this server. `moderation` in the configuration changes \
         that."
    )]
    NoModeration,

    // Invitations.
    #[error("You need an invitation to create an account here. Ask an administrator for one.")]
    InvitationNeeded,
    #[error(
        "This invitation has been used, has expired, was revoked or is for another address. Ask for a new one."
    )]
    InvitationOver,
    #[error(
        "An invitation for one address can be used only once. Leave out the address or the number of uses."
    )]
    InvitationForOne,
    #[error(
        "An invitation for an administrator can be used only once. Leave out the number of uses."
    )]
    InvitationForOneAdmin,
    #[error("Name the address that the mail goes to.")]
    MailNeedsAddress,
    #[error("This invitation is used up. Create a new one.")]
    InvitationUsedUp,
    #[error("Invitation not found.")]
    NoSuchInvitation,

    // Groups and permissions.
    #[error("Group not found. It may have been deleted.")]
    GroupGone,
    #[error("Group not found.")]
    NoSuchGroup,
    #[error("Another group already has this name.")]
    GroupNameTaken,
    #[error("There are already {count} groups, the maximum. Delete one first.")]
    TooManyGroups { count: u64 },
    #[error("One of these people has no account here, or it was deleted.")]
    MemberGone,
    #[error("This person is not in the group.")]
    NotInGroup,
    #[error("A description can have at most {limit} characters.")]
    LongDescription { limit: u64 },
    #[error("A name at the provider can have at most {limit} bytes, on one line.")]
    LongProviderName { limit: u64 },
    #[error("`users` must have 1 to {limit} e-mail addresses or ids of accounts.")]
    BadMembers { limit: u64 },
    #[error("Unknown permission. Use one of: {names}.")]
    NoSuchRight { names: String },
    #[error("`groups` can have at most {limit} groups.")]
    TooManyGroupsOfRule { limit: u64 },
    #[error("One of these groups was not found. It may have been deleted.")]
    GroupOfRuleGone,
    #[error("There are already {count} rules, the maximum.")]
    TooManyRules { count: u64 },
    #[error("You do not have permission to use API keys here. Ask an administrator.")]
    NoRightToKeys,
    #[error("You do not have permission to share chats and documents here. Ask an administrator.")]
    NoRightToShare,
    #[error("You do not have permission to use schedules here. Ask an administrator.")]
    NoRightToSchedules,
    #[error("Your agents do not have permission to run programs here. Ask an administrator.")]
    NoRightToPrograms,

    // Keys and limits.
    #[error("A key needs a name of 1 to 100 characters.")]
    BadKeyName,
    #[error("A key needs at least one scope. Leave out `scopes` to allow all.")]
    NoScopes,
    #[error("Only an administrator's key can have the scope “admin”.")]
    NoAdminScope,
    #[error("Only an administrator may trust a front end to act for other people.")]
    NoFrontEndKey,
    #[error("`models` must name 1 to 200 models or agents, as listed by GET /v1/models.")]
    BadKeyModels,
    #[error("A key for some models can have only the scopes “chat” and “read”.")]
    ScopesOfModelKey,
    #[error("`expires_at` is in the past. It is in milliseconds since 1970.")]
    ExpiredAlready,
    #[error("`signing_key` is only for trusted front ends and must have 16 to 500 bytes.")]
    BadSigningKey,
    #[error(
        "A limit must be 0 to 1,000,000,000,000 requests or tokens, or 0 to 1,000,000,000 US dollars."
    )]
    BadLimit,
    #[error("Only an administrator can see what others use.")]
    OnlyOwnUsage,
}

impl CodedMessage for Accounts {}
