//! What is wrong with an MCP server, as it is said to people.

use domain::{Words, refusal::Tools};
use mcp::{Fault, LeftOut, Problem};

/// The sentence that says it.
pub(super) fn words(problem: Problem) -> Words {
    Words::from(match problem {
        Problem::NotStarted { program, why } => Tools::McpNotStarted { program, why },
        Problem::BadHeader { name } => Tools::McpBadHeader { name },
        Problem::NoAnswer { seconds } => Tools::McpNoAnswer { seconds },
        Problem::EndedAtOnce => Tools::McpEndedAtOnce,
        Problem::Ended => Tools::McpEnded,
        Problem::Unusable(why) => Tools::McpUnusable { why: of_fault(why) },
        Problem::Refuses { quote } => Tools::McpRefuses { quote },
        Problem::OtherVersions => Tools::McpOtherVersions,
        Problem::NoMcpServer => Tools::McpNoServer,
        Problem::NotListed(why) => Tools::McpNotListed { why: of_fault(why) },
        Problem::NoList => Tools::McpNoList,
        Problem::Silent(why) => Tools::McpSilent { why: of_fault(why) },
        Problem::ToolLeftOut { name, why } => Tools::McpToolLeftOut {
            name,
            why: left_out(why).into(),
        },
        Problem::MoreLeftOut { count } => Tools::McpMoreLeftOut { count },
        Problem::PagesLeftOut { count } => Tools::McpPagesLeftOut { count },
        Problem::Saying { problem, quote } => Tools::McpSaying {
            problem: words(*problem),
            quote,
        },
    })
}

fn of_fault(fault: Fault) -> Words {
    Words::from(match fault {
        Fault::Quote(words) => return words.into(),
        Fault::Closed => Tools::McpClosed,
        Fault::TooLong => Tools::McpTooLong,
        Fault::SomethingElse => Tools::McpSomethingElse,
        Fault::WantsSignIn => Tools::McpWantsSignIn,
        Fault::NotAllowed => Tools::McpNotAllowed,
        Fault::Status(status) => Tools::McpStatus { status },
        Fault::Kind(kind) => Tools::McpKind { kind },
        Fault::NotMcp => Tools::McpNotMcp,
    })
}

fn left_out(why: LeftOut) -> Tools {
    match why {
        LeftOut::BadName => Tools::McpToolBadName,
        LeftOut::TooMany => Tools::McpTooManyTools,
        LeftOut::NameTaken => Tools::McpToolNameTaken,
        LeftOut::NoSchema => Tools::McpToolNoSchema,
        LeftOut::SchemaTooDeep => Tools::McpToolSchemaTooDeep,
        LeftOut::SchemaTooLarge => Tools::McpToolSchemaTooLarge,
        LeftOut::NotOffered => Tools::McpToolNotOffered,
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
