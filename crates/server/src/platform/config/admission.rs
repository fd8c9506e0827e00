//! Whom of those that another system signs in we let in, and as what.

/// Whom of those that another system signs in we let in, and as what.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// Who is in one of them is an administrator, and nobody else; nothing where that is decided here.
    pub admin_groups: Vec<String>,
    /// Only who is in one of them is let in; nothing where everybody is.
    pub allowed_groups: Vec<String>,
    /// Whether people get an account when they first come.
    pub create_accounts: bool,
    /// Whether who has an address there gets the account here that has it.
    pub link_by_email: bool,
}
