//! One connection to the bus, until it breaks: what is received, sent and subscribed at the same time.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use futures_util::StreamExt;
use redis::{
    AsyncConnectionConfig, Client,
    aio::{MultiplexedConnection, PubSubSink, PubSubStream},
};
use tokio::time::{sleep, timeout};

use crate::{BusError, Delivery, Inner};

/// How long connecting, and each command, may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How often idle connections are checked.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// Channels subscribed to with one command.
const CHANNELS_AT_ONCE: usize = 512;

/// Runs a session; returns why it ended.
pub(crate) async fn run(bus: &Inner) -> BusError {
    match connect(&bus.client).await {
        Ok(connections) => talk(bus, connections).await,
        Err(error) => error,
    }
}

/// Connects, and closes the connections again.
pub(crate) async fn check(client: &Client) -> Result<(), BusError> {
    let (mut connection, _) = connect(client).await?;
    let ping = redis::cmd("PING").query_async(&mut connection).await;
    ping.map_err(BusError::from)
}

type Connections = (MultiplexedConnection, (PubSubSink, PubSubStream));

async fn connect(client: &Client) -> Result<Connections, BusError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(TIMEOUT))
        .set_response_timeout(Some(TIMEOUT));
    let connecting = async {
        let commands = client.get_multiplexed_async_connection_with_config(&config);
        let commands = commands.await?;
        Ok::<_, BusError>((commands, client.get_async_pubsub().await?.split()))
    };
    timeout(2 * TIMEOUT, connecting)
        .await
        .map_err(|_| silent())?
}

fn silent() -> BusError {
    BusError::Unavailable("it is silent".to_owned())
}

async fn talk(bus: &Inner, (commands, (sink, stream)): Connections) -> BusError {
    bus.go_up();
    tokio::select! {
        error = receive(bus, stream) => error,
        error = subscribe(bus, sink, commands.clone()) => error,
        error = send(bus, commands) => error,
    }
}

async fn receive(bus: &Inner, mut stream: PubSubStream) -> BusError {
    while let Some(message) = stream.next().await {
        bus.receive(message.get_channel_name(), message.get_payload_bytes());
    }
    BusError::Unavailable("it closed the connection".to_owned())
}

/// Keeps the subscriptions as they are wanted, and checks that both connections are alive.
async fn subscribe(
    bus: &Inner,
    mut sink: PubSubSink,
    mut commands: MultiplexedConnection,
) -> BusError {
    let mut subscribed = HashSet::new();
    loop {
        let update = update_subscriptions(bus, &mut sink, &mut subscribed);
        if let Err(error) = within_time(update).await {
            return error;
        }
        tokio::select! {
            () = bus.subscriptions_changed.notified() => {}
            () = sleep(HEARTBEAT) => {
                let ping = async {
                    sink.ping::<redis::Value>().await?;
                    redis::cmd("PING").query_async::<()>(&mut commands).await
                };
                if let Err(error) = within_time(async { Ok(ping.await?) }).await {
                    return error;
                }
            }
        }
    }
}

async fn within_time(work: impl Future<Output = Result<(), BusError>>) -> Result<(), BusError> {
    timeout(TIMEOUT, work)
        .await
        .unwrap_or_else(|_| Err(silent()))
}

async fn update_subscriptions(
    bus: &Inner,
    sink: &mut PubSubSink,
    subscribed: &mut HashSet<Arc<str>>,
) -> Result<(), BusError> {
    let wanted: HashSet<Arc<str>> = bus.subscribers().keys().cloned().collect();
    let full = |names: &[Arc<str>]| -> Vec<String> {
        let name = |name: &Arc<str>| format!("{}:{name}", bus.prefix);
        names.iter().map(name).collect()
    };
    let new: Vec<_> = wanted.difference(subscribed).cloned().collect();
    for names in new.chunks(CHANNELS_AT_ONCE) {
        sink.subscribe(full(names)).await?;
        for name in names {
            subscribed.insert(Arc::clone(name));
            bus.deliver(name, Delivery::Subscribed);
        }
    }
    let old: Vec<_> = subscribed.difference(&wanted).cloned().collect();
    for names in old.chunks(CHANNELS_AT_ONCE) {
        sink.unsubscribe(full(names)).await?;
        for name in names {
            subscribed.remove(name);
        }
    }
    Ok(())
}

/// Sends what is in the outbox, many messages with one round trip.
async fn send(bus: &Inner, mut commands: MultiplexedConnection) -> BusError {
    loop {
        let messages = bus.outbox.take().await;
        let mut pipeline = redis::pipe();
        for message in &messages {
            let sealed = bus.sealer.seal(&message.channel, &message.content);
            let channel = format!("{}:{}", bus.prefix, message.channel);
            pipeline.cmd("PUBLISH").arg(channel).arg(sealed);
        }
        let listeners: Vec<u64> = match pipeline.query_async(&mut commands).await {
            Ok(listeners) => listeners,
            Err(error) => return error.into(),
        };
        bus.counts
            .sent
            .fetch_add(messages.len().try_into().unwrap_or(u64::MAX), Relaxed);
        for (message, listeners) in messages.into_iter().zip(listeners) {
            if let (0, Some((audience, expected))) = (listeners, message.audience) {
                audience.note_absence(expected);
            }
        }
    }
}
