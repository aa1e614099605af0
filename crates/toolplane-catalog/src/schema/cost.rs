//! What evaluating a schema can cost, found without evaluating it.
//!
//! A schema of a hundred lines can ask for 2^40 evaluations: references multiply (`allOf` of two references to the next
//! level) and recursion multiplies per level of the instance. Both are counted here by dynamic programming over the
//! parts of the schema, so that such a schema or input is refused instead of tried.

use std::collections::{BTreeMap, HashMap};

use super::graph::{SchemaGraph, SchemaStep};

/// Longest run of parts that apply to one place of the instance: bounds the evaluator's stack.
const MAX_IN_PLACE_CHAIN: usize = 32;
/// Instance depth up to which recursion is followed; deeper instances are refused before evaluation.
const MAX_DEPTH: usize = 64;
/// Bounds the work of the analysis itself.
const MAX_CLOSURE_ENTRIES: usize = 500_000;

/// Why a schema is too expensive to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TooCostly {
    /// The part comes back to itself without consuming any input.
    Loop(usize),
    /// Too many parts in a row apply to one place.
    Chain(usize),
    /// More paths than allowed lead out of the part.
    Paths(usize, u64),
}

/// The most it can cost to evaluate a schema at one place of an instance, by the depth of that place.
///
/// The unit is one value of the schema looked at once. Two places at the same depth cost the same at most, so the cost of
/// an instance is the number of its values at each depth times the figure for that depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostProfile {
    per_depth: Vec<u64>,
}

impl CostProfile {
    /// An upper bound for an instance with `values_at_depth[d]` values at depth `d` (the root is alone at depth 0).
    pub fn of(&self, values_at_depth: &[u64]) -> u64 {
        // Shorter profiles end because nothing of the schema reaches deeper.
        let beyond = if self.per_depth.len() > MAX_DEPTH { u64::MAX } else { 0 };
        let per_value = |depth: usize| self.per_depth.get(depth).copied().unwrap_or(beyond);
        values_at_depth
            .iter()
            .enumerate()
            .fold(0u64, |sum, (depth, values)| sum.saturating_add(values.saturating_mul(per_value(depth))))
    }
}

/// The number of ways from the root to any part; a reference back into the same recursion counts once.
pub(super) fn path_count(graph: &SchemaGraph) -> Result<Vec<u64>, TooCostly> {
    let components = components(graph);
    let kept = |id: usize| {
        let edges = graph.parts[id].edges.iter();
        edges.filter(move |edge| edge.step == SchemaStep::InPlace).map(|edge| edge.to).collect::<Vec<_>>()
    };
    post_order(graph.parts.len(), kept).map_err(TooCostly::Loop)?;
    let kept = |id: usize| {
        let stays = |to: usize| components[id] == components[to];
        let edges = graph.parts[id].edges.iter();
        edges.filter(|edge| edge.step == SchemaStep::InPlace || !stays(edge.to)).map(|edge| edge.to).collect::<Vec<_>>()
    };
    let order = post_order(graph.parts.len(), kept).map_err(TooCostly::Loop)?;
    let mut paths = vec![0u64; graph.parts.len()];
    for id in order {
        let part = &graph.parts[id];
        let mut total = 1u64;
        for edge in &part.edges {
            let recursion = edge.step != SchemaStep::InPlace && components[id] == components[edge.to];
            let ways = if recursion { 1 } else { paths[edge.to] };
            total = total.saturating_add(ways.saturating_mul(factor(part.looks_again, &edge.step)));
        }
        paths[id] = total;
    }
    Ok(paths)
}

/// Checks the bounds and works out the profile.
pub(super) fn analyse(graph: &SchemaGraph, max_paths: u64) -> Result<CostProfile, TooCostly> {
    let paths = path_count(graph)?;
    if let Some((id, &count)) = paths.iter().enumerate().find(|(_, count)| **count > max_paths) {
        return Err(TooCostly::Paths(id, count));
    }
    let closures = closures(graph)?;
    let mut cost: Vec<u64> = closures.iter().map(|closure| own_cost(graph, closure)).collect();
    let mut per_depth = vec![cost[0]];
    while per_depth.len() <= MAX_DEPTH && cost.iter().any(|cost| *cost > 0) {
        cost = closures.iter().map(|closure| cost_below(graph, closure, &cost)).collect();
        per_depth.push(cost[0]);
    }
    Ok(CostProfile { per_depth })
}

/// A part and how often it applies to the same place as the part the closure belongs to.
type Closure = Vec<(usize, u64)>;

fn factor(looks_again: bool, step: &SchemaStep) -> u64 {
    // Finding out what was evaluated evaluates the in-place parts again, up to twice for nested ones.
    if looks_again && *step == SchemaStep::InPlace { 3 } else { 1 }
}

fn closures(graph: &SchemaGraph) -> Result<Vec<Closure>, TooCostly> {
    let in_place = |id: usize| {
        let edges = graph.parts[id].edges.iter();
        edges.filter(|edge| edge.step == SchemaStep::InPlace).map(|edge| edge.to).collect::<Vec<_>>()
    };
    let order = post_order(graph.parts.len(), in_place).map_err(TooCostly::Loop)?;
    let mut closures: Vec<Closure> = vec![Vec::new(); graph.parts.len()];
    let mut chains = vec![1usize; graph.parts.len()];
    let mut entries = 0;
    for id in order {
        let mut closure = BTreeMap::from([(id, 1u64)]);
        for edge in graph.parts[id].edges.iter().filter(|edge| edge.step == SchemaStep::InPlace) {
            chains[id] = chains[id].max(chains[edge.to] + 1);
            let times = factor(graph.parts[id].looks_again, &edge.step);
            for (part, count) in &closures[edge.to] {
                let sum = closure.entry(*part).or_default();
                *sum = sum.saturating_add(count.saturating_mul(times));
            }
        }
        if chains[id] > MAX_IN_PLACE_CHAIN {
            return Err(TooCostly::Chain(id));
        }
        entries += closure.len();
        if entries > MAX_CLOSURE_ENTRIES {
            return Err(TooCostly::Paths(id, entries as u64));
        }
        closures[id] = closure.into_iter().collect();
    }
    Ok(closures)
}

fn own_cost(graph: &SchemaGraph, closure: &Closure) -> u64 {
    closure.iter().fold(0, |sum, (part, times)| sum.saturating_add(times.saturating_mul(graph.parts[*part].weight)))
}

/// The most one member or element can cost, given what each part costs one level further down.
fn cost_below(graph: &SchemaGraph, closure: &Closure, below: &[u64]) -> u64 {
    // A place is a member or an element, and a member has one name: of the alternatives only the dearest counts.
    let (mut unnamed, mut any_element) = (0u64, 0u64);
    let mut named: HashMap<&str, u64> = HashMap::new();
    let mut elements: HashMap<usize, u64> = HashMap::new();
    for (part, times) in closure {
        let part = &graph.parts[*part];
        let mut own_names: HashMap<&str, u64> = HashMap::new();
        let mut others = 0u64;
        for edge in &part.edges {
            let cost = below[edge.to].saturating_mul(*times);
            let sum = match &edge.step {
                SchemaStep::InPlace => continue,
                SchemaStep::Member(name) => own_names.entry(name).or_default(),
                SchemaStep::MatchedMember => &mut unnamed,
                SchemaStep::OtherMember => &mut others,
                SchemaStep::Element(index) => elements.entry(*index).or_default(),
                SchemaStep::AnyElement => &mut any_element,
            };
            *sum = sum.saturating_add(cost);
        }
        unnamed = unnamed.saturating_add(others);
        for (name, cost) in own_names {
            // What `additionalProperties` of the same part would cost does not come on top for a named member.
            let extra = cost.saturating_sub(others);
            let sum = named.entry(name).or_default();
            *sum = sum.saturating_add(extra);
        }
    }
    let dearest = |map: Option<u64>| map.unwrap_or(0);
    let member = unnamed.saturating_add(dearest(named.values().copied().max()));
    let element = any_element.saturating_add(dearest(elements.values().copied().max()));
    member.max(element)
}

/// The strongly connected component of each part.
fn components(graph: &SchemaGraph) -> Vec<usize> {
    let count = graph.parts.len();
    let forward = |id: usize| graph.parts[id].edges.iter().map(|edge| edge.to).collect::<Vec<_>>();
    let order = depth_first(count, forward).0;
    let mut backward = vec![Vec::new(); count];
    for (id, part) in graph.parts.iter().enumerate() {
        for edge in &part.edges {
            backward[edge.to].push(id);
        }
    }
    let mut component = vec![usize::MAX; count];
    for root in order.into_iter().rev() {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if component[id] == usize::MAX {
                component[id] = root;
                open.extend(&backward[id]);
            }
        }
    }
    component
}

/// Parts so that each comes after everything its edges lead to; the part a loop was found at, when there is one.
fn post_order(count: usize, edges: impl Fn(usize) -> Vec<usize>) -> Result<Vec<usize>, usize> {
    match depth_first(count, edges) {
        (_, Some(on_loop)) => Err(on_loop),
        (order, None) => Ok(order),
    }
}

fn depth_first(count: usize, edges: impl Fn(usize) -> Vec<usize>) -> (Vec<usize>, Option<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; count];
    let (mut order, mut on_loop) = (Vec::with_capacity(count), None);
    for root in 0..count {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        let mut open = vec![(root, edges(root))];
        while let Some((id, rest)) = open.last_mut() {
            match rest.pop() {
                Some(to) if marks[to] == Mark::New => {
                    marks[to] = Mark::Open;
                    open.push((to, edges(to)));
                }
                Some(to) if marks[to] == Mark::Open => on_loop = Some(to),
                Some(_) => {}
                None => {
                    marks[*id] = Mark::Done;
                    order.push(*id);
                    open.pop();
                }
            }
        }
    }
    (order, on_loop)
}
