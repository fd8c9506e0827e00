//! Which externally authenticated people are admitted, and with which role.

/// Which externally authenticated people are admitted, and with which role.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// Members of one of these groups, and only they, are administrators; if empty, roles are assigned on this server.
    pub admin_groups: Vec<String>,
    /// Only members of one of these groups are admitted; if empty, everyone is.
    pub allowed_groups: Vec<String>,
    /// Whether an account is created at the first sign-in.
    pub create_accounts: bool,
    /// Whether a person is linked to the existing account with the same e-mail address.
    pub link_by_email: bool,
}
