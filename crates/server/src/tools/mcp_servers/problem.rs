//! Messages for the problems of MCP servers.

use domain::LocalizedText;
use mcp::{Fault, LeftOut, Problem};

use crate::messages;

/// The message for a problem.
pub(super) fn words(problem: Problem) -> LocalizedText {
    LocalizedText::from(match problem {
        Problem::NotStarted { program, why } => messages::Tools::McpNotStarted { program, why },
        Problem::BadHeader { name } => messages::Tools::McpBadHeader { name },
        Problem::NoAnswer { seconds } => messages::Tools::McpNoAnswer { seconds },
        Problem::EndedAtOnce => messages::Tools::McpEndedAtOnce,
        Problem::Ended => messages::Tools::McpEnded,
        Problem::Unusable(why) => messages::Tools::McpUnusable { why: of_fault(why) },
        Problem::Refuses { quote } => messages::Tools::McpRefuses { quote },
        Problem::OtherVersions => messages::Tools::McpOtherVersions,
        Problem::NoMcpServer => messages::Tools::McpNoServer,
        Problem::NotListed(why) => messages::Tools::McpNotListed { why: of_fault(why) },
        Problem::NoList => messages::Tools::McpNoList,
        Problem::Silent(why) => messages::Tools::McpSilent { why: of_fault(why) },
        Problem::ToolLeftOut { name, why } => messages::Tools::McpToolLeftOut {
            name,
            why: left_out(why).into(),
        },
        Problem::MoreLeftOut { count } => messages::Tools::McpMoreLeftOut { count },
        Problem::PagesLeftOut { count } => messages::Tools::McpPagesLeftOut { count },
        Problem::Saying { problem, quote } => messages::Tools::McpSaying {
            problem: words(*problem),
            quote,
        },
    })
}

fn of_fault(fault: Fault) -> LocalizedText {
    LocalizedText::from(match fault {
        Fault::Quote(words) => return words.into(),
        Fault::Closed => messages::Tools::McpClosed,
        Fault::TooLong => messages::Tools::McpTooLong,
        Fault::SomethingElse => messages::Tools::McpSomethingElse,
        Fault::WantsSignIn => messages::Tools::McpWantsSignIn,
        Fault::NotAllowed => messages::Tools::McpNotAllowed,
        Fault::Status(status) => messages::Tools::McpStatus { status },
        Fault::Kind(kind) => messages::Tools::McpKind { kind },
        Fault::NotMcp => messages::Tools::McpNotMcp,
    })
}

fn left_out(why: LeftOut) -> messages::Tools {
    match why {
        LeftOut::BadName => messages::Tools::McpToolBadName,
        LeftOut::TooMany => messages::Tools::McpTooManyTools,
        LeftOut::NameTaken => messages::Tools::McpToolNameTaken,
        LeftOut::NoSchema => messages::Tools::McpToolNoSchema,
        LeftOut::SchemaTooDeep => messages::Tools::McpToolSchemaTooDeep,
        LeftOut::SchemaTooLarge => messages::Tools::McpToolSchemaTooLarge,
        LeftOut::NotOffered => messages::Tools::McpToolNotOffered,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_part_has_its_code_beside_what_it_says() {
        let problem = Problem::Unusable(Fault::WantsSignIn);
        let problem = Problem::Saying {
            problem: Box::new(problem),
            quote: "Who?".to_owned(),
        };
        let expected = problem.to_string();
        let words = serde_json::to_value(words(problem)).unwrap();
        assert_eq!(words["message"], expected);
        let unusable = &words["sentence"]["params"]["problem"]["sentence"];
        assert_eq!(unusable["code"], "mcp_unusable");
        assert_eq!(
            unusable["params"]["why"]["sentence"],
            json!({"code": "mcp_wants_sign_in"})
        );
    }

    #[test]
    fn they_say_the_same_as_the_log() {
        for problem in [
            Problem::NotStarted {
                program: "p".to_owned(),
                why: "no".to_owned(),
            },
            Problem::BadHeader {
                name: "X".to_owned(),
            },
            Problem::NoAnswer { seconds: 60 },
            Problem::EndedAtOnce,
            Problem::Ended,
            Problem::Refuses {
                quote: "no".to_owned(),
            },
            Problem::OtherVersions,
            Problem::NoMcpServer,
            Problem::NotListed(Fault::Quote("no".to_owned())),
            Problem::NoList,
            Problem::Silent(Fault::Status(500)),
            Problem::Silent(Fault::Kind("text/html".to_owned())),
            Problem::ToolLeftOut {
                name: "t".to_owned(),
                why: LeftOut::SchemaTooDeep,
            },
            Problem::MoreLeftOut { count: 2 },
            Problem::PagesLeftOut { count: 50 },
        ] {
            let said = problem.to_string();
            assert_eq!(words(problem).message, said);
        }
    }
}
