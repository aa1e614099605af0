use super::*;

/// A listener in numbers: connections are told apart by what they were called when they came.
struct Hall {
    admission: Admission<u32>,
    usages: HashMap<u32, (u64, Usage)>,
    now: Instant,
}

const PATIENCE: Duration = Duration::from_secs(10);

fn address(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

impl Hall {
    /// For a process of so many descriptors.
    fn of(descriptors: u64) -> Self {
        let limits = ConnectionLimits::derive(None, None, descriptors, PATIENCE);
        Self { admission: Admission::new(limits), usages: HashMap::new(), now: Instant::now() }
    }

    /// Comes from an address, a millisecond after whatever was before; says whether it got in, and who had to go.
    fn arrive(&mut self, name: u32, from: IpAddr) -> (bool, Option<u32>) {
        self.now += Duration::from_millis(1);
        let usage = Arc::new(Mutex::new(Activity::QuietSince(self.now)));
        let (id, closed) = self.admission.arrive(from, Arc::clone(&usage), name, self.now);
        if let Some(id) = id {
            self.usages.insert(name, (id, usage));
        }
        (id.is_some(), closed)
    }

    fn settle(&mut self, name: u32, standing: ConnectionClass) -> Result<Option<u32>, Full> {
        self.admission.settle(self.usages[&name].0, standing)
    }

    fn works(&self, name: u32) {
        *self.usages[&name].1.lock() = Activity::Busy(1);
    }

    fn len(&self) -> usize {
        self.admission.seats.len()
    }
}

#[test]
fn limits_leave_room_for_each_kind() {
    for descriptors in [0, 64, 256, 1024, 20_000, 1 << 40] {
        let limits = ConnectionLimits::derive(None, None, descriptors, PATIENCE);
        assert!((16..=16 * 1024).contains(&limits.total), "{limits:?}");
        assert!(limits.total as u64 <= (descriptors / 2).max(16), "{limits:?}");
        assert!(limits.ordinary + limits.probing + 2 * limits.entrance == limits.total, "{limits:?}");
        assert!(limits.ordinary_per_address < limits.ordinary && limits.waiting_per_address < limits.waiting);
    }
    let own = ConnectionLimits::derive(Some(100), Some(7), 64, PATIENCE);
    assert_eq!(
        (own.total, own.ordinary_per_address, own.waiting_per_address),
        (100, 7, 7),
        "what is configured counts"
    );
}

#[test]
fn a_hundred_that_say_nothing_leave_room_for_whoever_says_something() {
    let mut hall = Hall::of(64);
    for name in 0..100 {
        assert!(hall.arrive(name, address(1)).0, "{name}");
        assert!(hall.len() <= 32);
    }
    // From the same address and from another one; the second does not even cost the others a place of their own kind.
    for (name, from) in [(1000, address(1)), (1001, address(2))] {
        let (came, closed) = hall.arrive(name, from);
        assert!(came && closed.is_none_or(|closed| closed < 100), "{closed:?}");
        assert_eq!(hall.settle(name, ConnectionClass::Ordinary), Ok(None));
    }
    let before = hall.len();
    assert_eq!(hall.admission.overdue(hall.now + PATIENCE).len(), before - 2, "those that said something stay");
    assert_eq!((hall.len(), hall.admission.next_overdue()), (2, None));
}

#[test]
fn the_oldest_of_the_address_with_most_of_them_goes_first() {
    let mut hall = Hall::of(64);
    assert_eq!(hall.arrive(0, address(9)), (true, None));
    for name in 1..=12 {
        assert_eq!(hall.arrive(name, address(1)), (true, None));
    }
    // Its share of those that wait is full: one of its own makes room.
    assert_eq!(hall.arrive(13, address(1)), (true, Some(1)));
    for (name, last) in (14..17).zip(2..) {
        assert_eq!(hall.arrive(name, address(last)), (true, None));
    }
    // All of those that wait are as many as may; the address that holds most of them loses one, not the one who came
    // first.
    assert_eq!(hall.arrive(17, address(5)), (true, Some(2)));
    assert_eq!(hall.admission.next_overdue(), hall.admission.seats.get(&0).map(|seat| seat.since + PATIENCE));
}

#[test]
fn ordinary_callers_cannot_take_what_is_kept() {
    let mut hall = Hall::of(64);
    let limits = hall.admission.limits;
    let mut settled = Vec::new();
    for name in 0..60_u32 {
        let from = address(u8::try_from(name % 7).expect("small"));
        assert!(hall.arrive(name, from).0, "there is always a place to say who one is");
        match hall.settle(name, ConnectionClass::Ordinary) {
            Ok(closed) => {
                assert_eq!(closed, None);
                hall.works(name);
                settled.push(name);
            }
            Err(Full) => assert!(settled.len() >= limits.ordinary, "{}", settled.len()),
        }
    }
    assert_eq!(settled.len(), limits.ordinary, "all of them work, so none had to go");
    for name in 100..100 + u32::try_from(limits.entrance).expect("small") {
        assert!(hall.arrive(name, address(1)).0);
        assert_eq!(hall.settle(name, ConnectionClass::Kept), Ok(None), "an operator's place is kept");
    }
    for name in 200..220 {
        assert!(hall.arrive(name, address(1)).0);
        assert!(hall.settle(name, ConnectionClass::Probing).is_ok(), "and the health can be asked for");
    }
    assert!(hall.len() <= limits.total);
    // One falls quiet, and the next caller takes its place.
    *hall.usages[&settled[3]].1.lock() = Activity::QuietSince(hall.now);
    assert!(hall.arrive(300, address(8)).0);
    assert_eq!(hall.settle(300, ConnectionClass::Ordinary), Ok(Some(settled[3])));
}

#[test]
fn one_address_leaves_room_for_others() {
    let mut hall = Hall::of(64);
    let limits = hall.admission.limits;
    for name in 0..40 {
        assert!(hall.arrive(name, address(1)).0);
        let settled = hall.settle(name, ConnectionClass::Ordinary);
        hall.works(name);
        assert_eq!(settled.is_ok(), (name as usize) < limits.ordinary_per_address, "{name}");
    }
    assert!(hall.arrive(100, address(2)).0);
    assert_eq!(hall.settle(100, ConnectionClass::Ordinary), Ok(None));
    // Not even an operator is bound by what others at its address do.
    assert!(hall.arrive(101, address(1)).0);
    assert_eq!(hall.settle(101, ConnectionClass::Kept), Ok(None));
    // With IPv6 a client can have as many addresses as it likes.
    let of = |text: &str| place_of(text.parse().expect("address"));
    assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
    assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
    assert_eq!(of("::ffff:10.0.0.1"), address(1));
}

#[test]
fn without_descriptors_whoever_is_missed_least_goes() {
    let mut hall = Hall::of(64);
    for name in 0..3 {
        hall.arrive(name, address(1));
    }
    hall.settle(0, ConnectionClass::Ordinary).expect("room");
    hall.settle(1, ConnectionClass::Kept).expect("room");
    assert_eq!(hall.admission.relieve(), Some(2), "it says nothing");
    assert_eq!(hall.admission.relieve(), Some(0), "it is quiet");
    assert_eq!(hall.admission.relieve(), None, "what is kept stays");
    assert_eq!(hall.len(), 1);
}
