//! One connection to a server, from the handshake on: requests with a time limit, and the list of tools.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    Peer, RoleClient, ServiceExt,
    model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, PingRequest, ServerResult},
    service::{ClientInitializeError, PeerRequestOptions, RunningService, ServiceError},
    transport::streamable_http_client::{
        StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    },
};
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::{
    bearer::Sender,
    definition::{Definition, Endpoint, Transport},
    faults,
    handler::Handler,
    offer::{MAX_PAGES, Offer, OfferedTool},
    problem::{Fault, Problem},
    process::{self, LastOutput},
    words::line,
};

/// Maximum size of a server's message.
pub(crate) const MESSAGE_LIMIT_BYTES: usize = 8_000_000;
/// Timeout for the handshake. A program may have to be downloaded by its launcher.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout for a page of a list, and for a ping.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum length of a cursor, bytes.
const CURSOR_LIMIT_BYTES: usize = 4_000;

/// An established connection.
pub(crate) struct Connection {
    pub(crate) service: RunningService<RoleClient, Handler>,
    pub(crate) last_output: LastOutput,
}

/// The part of a connection that runs use. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) handler: Handler,
}

/// Connects and performs the handshake.
///
/// # Errors
/// The problem, for the administrator.
pub(crate) async fn connect(
    definition: &Definition,
    tasks: &TaskTracker,
) -> Result<Connection, Problem> {
    let handler = Handler::new(&definition.name);
    let mut last_output = LastOutput::default();
    let service = match &definition.way {
        Transport::Stdio(program) => {
            let started = process::start(program, &definition.name, tasks);
            let (transport, words) = started.map_err(|error| Problem::NotStarted {
                program: program.command.clone(),
                why: error.to_string(),
            })?;
            last_output = words;
            shake_hands(handler.serve(transport)).await
        }
        Transport::Http(site) => {
            let config = http_config(site)?;
            let sender = Sender {
                client: site.client.clone(),
                bearer: site.bearer.clone(),
            };
            let transport = StreamableHttpClientTransport::with_client(sender, config);
            shake_hands(handler.serve(transport)).await
        }
    };
    let service = service.map_err(|problem| with_last_output(problem, &last_output))?;
    Ok(Connection {
        service,
        last_output,
    })
}

/// `problem`, with the program's last line of output.
pub(crate) fn with_last_output(problem: Problem, last_output: &LastOutput) -> Problem {
    let words = last_output.get();
    if words.is_empty() {
        return problem;
    }
    Problem::Saying {
        problem: Box::new(problem),
        quote: line(&words, 300),
    }
}

type Handshake = Result<RunningService<RoleClient, Handler>, ClientInitializeError>;

async fn shake_hands(
    handshake: impl Future<Output = Handshake>,
) -> Result<RunningService<RoleClient, Handler>, Problem> {
    match tokio::time::timeout(CONNECT_TIMEOUT, handshake).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => Err(faults::of_handshake(&error)),
        Err(_) => Err(Problem::NoAnswer {
            seconds: CONNECT_TIMEOUT.as_secs(),
        }),
    }
}

fn http_config(site: &Endpoint) -> Result<StreamableHttpClientTransportConfig, Problem> {
    let mut headers = HashMap::new();
    for (name, value) in &site.headers {
        let name_ = HeaderName::try_from(name.as_str());
        let value = HeaderValue::try_from(value.as_str());
        let (Ok(name_), Ok(mut value)) = (name_, value) else {
            return Err(Problem::BadHeader { name: name.clone() });
        };
        value.set_sensitive(true);
        headers.insert(name_, value);
    }
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(site.url.clone()).custom_headers(headers);
    config.max_sse_event_size = MESSAGE_LIMIT_BYTES;
    config.max_json_response_size = MESSAGE_LIMIT_BYTES;
    Ok(config)
}

impl Connection {
    pub(crate) fn link(&self) -> Link {
        Link {
            peer: self.service.peer().clone(),
            handler: self.service.service().clone(),
        }
    }
}

impl Link {
    /// All current tools of the server, and the problems of its list.
    ///
    /// # Errors
    /// The problem, for the administrator.
    pub(crate) async fn tools(
        &self,
        only: &[String],
    ) -> Result<(Arc<[OfferedTool]>, Vec<Problem>), Problem> {
        let mut offer = Offer::default();
        let mut cursor = None::<String>;
        let mut seen = HashSet::new();
        let mut last = Vec::new();
        for page in 0.. {
            if page == MAX_PAGES {
                offer.cut_pages();
                break;
            }
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ListToolsRequest {
                params: Some(params),
                ..ListToolsRequest::default()
            };
            let list = self.ask(ClientRequest::ListToolsRequest(request)).await;
            let mut list = list.map_err(Problem::NotListed)?;
            let tools = match list.get_mut("tools").map(Value::take) {
                Some(Value::Array(tools)) => tools,
                // Go marshals a nil slice as null.
                Some(Value::Null) => Vec::new(),
                _ => return Err(Problem::NoList),
            };
            // Servers without pagination may return the whole list for every cursor.
            if !tools.is_empty() && tools == last {
                break;
            }
            offer.push_page(&tools, only);
            last = tools;
            let next = list
                .get("nextCursor")
                .and_then(Value::as_str)
                .unwrap_or_default();
            // Some send an empty cursor at the end, or return to an earlier page.
            if next.is_empty() || next.len() > CURSOR_LIMIT_BYTES || !seen.insert(next.to_owned()) {
                break;
            }
            cursor = Some(next.to_owned());
        }
        Ok(offer.finish(only))
    }

    /// Pings the server. An error response counts as alive, as some servers do not support pings.
    ///
    /// # Errors
    /// The problem, for the administrator.
    pub(crate) async fn ping(&self) -> Result<(), Problem> {
        match self
            .send(ClientRequest::PingRequest(PingRequest::default()))
            .await
        {
            Ok(_) | Err(ServiceError::McpError(_)) => Ok(()),
            Err(error) => Err(Problem::Silent(faults::of_request(&error))),
        }
    }

    async fn ask(&self, request: ClientRequest) -> Result<Value, Fault> {
        self.send(request)
            .await
            .map(plain)
            .map_err(|error| faults::of_request(&error))
    }

    async fn send(&self, request: ClientRequest) -> Result<ServerResult, ServiceError> {
        let options = PeerRequestOptions::with_timeout(RESPONSE_TIMEOUT);
        self.peer
            .send_request_with_option(request, options)
            .await?
            .await_response()
            .await
    }
}

/// The result as the server wrote it, even if the protocol does not define it.
pub(crate) fn plain(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(result) => result.0,
        result => serde_json::to_value(result).unwrap_or_default(),
    }
}
