//! Which connections are let in, and which must go when there are too many. Pure: no socket, no clock of its own.
//!
//! A connection *waits* from its first byte until a request on it shows who calls. A connection without a known caller
//! costs a place and gives nothing, so those places are few, end with a deadline, and are taken away first: from the
//! address that holds most of them, the oldest first. A newcomer therefore always finds a place. What is known to call
//! keeps its place while it works; those that have been quiet for longest make room for others. A part is kept for
//! operators and processes of the cluster, and another for health checks, whatever all others do.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

#[cfg(test)]
mod tests;

/// Fewest connections a listener can be told to take: enough for each part to be one.
pub(crate) const FEWEST: u32 = 16;
/// Most that are derived from the descriptors a process may have.
const MOST_DERIVED: u64 = 16 * 1024;
/// Connections of a listener that answers health checks and nothing else.
const PROBING: usize = 16;

/// How many connections of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// Of every kind together.
    pub(super) total: usize,
    /// That wait to be known.
    waiting: usize,
    /// Of one address among those.
    waiting_per_address: usize,
    /// Of callers that have no place kept for them.
    ordinary: usize,
    /// Of one address among those.
    ordinary_per_address: usize,
    /// That never did anything but check the health.
    probing: usize,
    /// Places that no known caller may take, so that newcomers find one.
    entrance: usize,
    /// How long a connection may wait.
    patience: Duration,
}

impl ConnectionLimits {
    /// The limits of a listener: as configured, else half of the descriptors the process may have. The other half is for
    /// its files, its peers and the programs it runs.
    pub(super) fn derive(total: Option<u32>, per_address: Option<u32>, descriptors: u64, patience: Duration) -> Self {
        let derived = (descriptors / 2).clamp(u64::from(FEWEST), MOST_DERIVED);
        let total = total.map_or(derived, u64::from).max(u64::from(FEWEST));
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let (kept, probing, waiting) = ((total / 8).max(2), (total / 16).clamp(2, 32), total / 2);
        // For newcomers, for operators and for health checks.
        let ordinary = total - 2 * kept - probing;
        let of_one = per_address.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        Self {
            total,
            waiting,
            waiting_per_address: (waiting - waiting / 4).min(of_one).max(1),
            ordinary,
            ordinary_per_address: (ordinary - ordinary / 4).min(of_one).max(1),
            probing,
            entrance: kept,
            patience,
        }
    }

    /// The limits of a listener that answers health checks and nothing else.
    pub(super) fn of_probes(patience: Duration) -> Self {
        let half = PROBING / 2;
        Self {
            total: PROBING,
            waiting: half,
            waiting_per_address: half,
            // A client that asks for anything else is to be told that there is nothing else.
            ordinary: 1,
            ordinary_per_address: 1,
            probing: half - 1,
            entrance: half,
            patience,
        }
    }
}

/// What is known of a connection. Later kinds keep their place against earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConnectionClass {
    /// Nothing yet.
    Waiting,
    /// It checks the health.
    Probing,
    /// A caller.
    Ordinary,
    /// An operator or a process of the cluster.
    Kept,
}

/// Whether calls run on a connection, and since when none do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Busy(usize),
    QuietSince(Instant),
}

/// Changed for every call, so it is looked at without the lock of the whole.
pub(super) type Usage = Arc<Mutex<Activity>>;

/// There are as many connections as are taken, and all of them work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

struct Occupant<T> {
    address: IpAddr,
    since: Instant,
    standing: ConnectionClass,
    usage: Usage,
    /// What its owner needs to close it.
    handle: T,
}

/// The connections of one listener.
pub(super) struct Admission<T> {
    limits: ConnectionLimits,
    next: u64,
    /// By number, which grows with the time of arrival.
    seats: BTreeMap<u64, Occupant<T>>,
    waiting: HashMap<IpAddr, BTreeSet<u64>>,
    ordinary: HashMap<IpAddr, usize>,
    counts: [usize; 4],
}

impl<T> Admission<T> {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        let (waiting, ordinary) = (HashMap::new(), HashMap::new());
        Self { limits, next: 0, seats: BTreeMap::new(), waiting, ordinary, counts: [0; 4] }
    }

    /// A new connection: its number, and what must be closed for it. `None` refuses it: all others are at work.
    pub(super) fn arrive(
        &mut self,
        address: IpAddr,
        usage: Usage,
        handle: T,
        now: Instant,
    ) -> (Option<u64>, Option<T>) {
        let address = place_of(address);
        let waiting = self.waiting.get(&address).map_or(0, BTreeSet::len);
        let victim = if waiting >= self.limits.waiting_per_address {
            self.waiting.get(&address).and_then(BTreeSet::first).copied()
        } else if self.count(ConnectionClass::Waiting) >= self.limits.waiting || self.seats.len() >= self.limits.total {
            self.least_of_all()
        } else {
            None
        };
        let closed = victim.and_then(|id| self.leave(id));
        if self.seats.len() >= self.limits.total {
            return (None, closed);
        }
        let id = self.next;
        self.next += 1;
        let seat = Occupant { address, since: now, standing: ConnectionClass::Waiting, usage, handle };
        self.count_in(id, &seat);
        self.seats.insert(id, seat);
        (Some(id), closed)
    }

    /// Takes note of who is at the other end of connection `id`, and says what must be closed for it. Nothing changes for a
    /// connection that is known as this or as more.
    pub(super) fn settle(&mut self, id: u64, standing: ConnectionClass) -> Result<Option<T>, Full> {
        let Some(seat) = self.seats.get(&id).filter(|seat| seat.standing < standing) else { return Ok(None) };
        let address = seat.address;
        let known = self.seats.len() - self.count(ConnectionClass::Waiting);
        let is_known = usize::from(seat.standing > ConnectionClass::Waiting);
        let crowded = known - is_known + self.limits.entrance >= self.limits.total;
        let victim = match standing {
            ConnectionClass::Waiting => None,
            ConnectionClass::Probing if self.count(ConnectionClass::Probing) >= self.limits.probing => {
                Some(self.first(ConnectionClass::Probing).ok_or(Full)?)
            }
            ConnectionClass::Ordinary
                if self.ordinary.get(&address).is_some_and(|many| *many >= self.limits.ordinary_per_address) =>
            {
                Some(self.quietest(Some(address)).ok_or(Full)?)
            }
            ConnectionClass::Ordinary if self.count(ConnectionClass::Ordinary) >= self.limits.ordinary => {
                Some(self.quietest(None).ok_or(Full)?)
            }
            ConnectionClass::Kept if crowded => Some(self.quietest(None).ok_or(Full)?),
            _ => None,
        };
        let closed = victim.and_then(|victim| self.leave(victim));
        if let Some(mut seat) = self.seats.remove(&id) {
            self.count_out(id, &seat);
            seat.standing = standing;
            self.count_in(id, &seat);
            self.seats.insert(id, seat);
        }
        Ok(closed)
    }

    /// A connection that is no more.
    pub(super) fn leave(&mut self, id: u64) -> Option<T> {
        let seat = self.seats.remove(&id)?;
        self.count_out(id, &seat);
        Some(seat.handle)
    }

    /// Takes out those that have waited too long.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<T> {
        let late = |seat: &Occupant<T>| now.saturating_duration_since(seat.since) >= self.limits.patience;
        let waiting = self.waiting.values().flatten().copied();
        let late: Vec<u64> = waiting.filter(|id| self.seats.get(id).is_some_and(late)).collect();
        late.into_iter().filter_map(|id| self.leave(id)).collect()
    }

    /// When the next one will have waited too long.
    pub(super) fn next_overdue(&self) -> Option<Instant> {
        let oldest = self.waiting.values().filter_map(BTreeSet::first).min()?;
        self.seats.get(oldest).map(|seat| seat.since + self.limits.patience)
    }

    /// Takes out the one that is missed least, when the process has no descriptors left.
    pub(super) fn relieve(&mut self) -> Option<T> {
        self.least_of_all().and_then(|id| self.leave(id))
    }

    fn count(&self, standing: ConnectionClass) -> usize {
        self.counts[standing as usize]
    }

    /// The oldest of those that wait, of the address that has most of them; else the one that was quiet for longest.
    fn least_of_all(&self) -> Option<u64> {
        let busiest = self.waiting.values().max_by_key(|ids| (ids.len(), std::cmp::Reverse(ids.first().copied())));
        busiest.and_then(BTreeSet::first).copied().or_else(|| self.quietest(None))
    }

    fn first(&self, standing: ConnectionClass) -> Option<u64> {
        self.seats.iter().find(|(_, seat)| seat.standing == standing).map(|(id, _)| *id)
    }

    /// The ordinary caller, of this address or any, that has been quiet for longest.
    fn quietest(&self, address: Option<IpAddr>) -> Option<u64> {
        let quiet = self.seats.iter().filter_map(|(id, seat)| {
            let fits =
                seat.standing == ConnectionClass::Ordinary && address.is_none_or(|address| address == seat.address);
            match *seat.usage.lock() {
                Activity::QuietSince(since) if fits => Some((since, *id)),
                _ => None,
            }
        });
        quiet.min().map(|(_, id)| id)
    }

    fn count_in(&mut self, id: u64, seat: &Occupant<T>) {
        self.counts[seat.standing as usize] += 1;
        match seat.standing {
            ConnectionClass::Waiting => drop(self.waiting.entry(seat.address).or_default().insert(id)),
            ConnectionClass::Ordinary => *self.ordinary.entry(seat.address).or_default() += 1,
            ConnectionClass::Probing | ConnectionClass::Kept => {}
        }
    }

    fn count_out(&mut self, id: u64, seat: &Occupant<T>) {
        self.counts[seat.standing as usize] -= 1;
        if seat.standing == ConnectionClass::Waiting
            && let Some(ids) = self.waiting.get_mut(&seat.address)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.waiting.remove(&seat.address);
            }
        }
        if seat.standing == ConnectionClass::Ordinary
            && let Some(many) = self.ordinary.get_mut(&seat.address)
        {
            *many -= 1;
            if *many == 0 {
                self.ordinary.remove(&seat.address);
            }
        }
    }
}

/// What counts as one address: of IPv6 the network of one site, in which a client can have as many addresses as it
/// likes.
fn place_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}
